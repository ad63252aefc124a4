"""What the shop keeps about a person: found, exported and erased."""
