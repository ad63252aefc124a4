"""Backups of a whole installation: made while it runs, verified, and put back in place of what was there."""
