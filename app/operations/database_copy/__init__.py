"""A copy of the whole database in another one, of either kind: how a shop moves to PostgreSQL, and back to SQLite."""
