"""The outcomes of a release's preparation: the exit statuses of its process."""

READY = 0
FAILED = 1
READY_WITH_DEMO = 10
NEEDS_A_STOP = 11
