"""Backups of a whole installation: made while it runs, verified, and restored."""
