"""How the shop's own machinery stands: jobs, queue, workers, indexes, database, disks."""
