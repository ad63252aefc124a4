"""Adapters for tests, where the real one would be slow or not repeatable."""
