"""The state of the shop's own machinery: jobs, queue, workers, indexes, database, disks."""
