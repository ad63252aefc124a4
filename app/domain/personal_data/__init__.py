"""Personal data: found, exported and erased."""
