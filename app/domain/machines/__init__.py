"""The machines that run the shop: who they are, whether they run, and which of them can run beside each other."""
