"""Tests of what happens at the same moment."""

from __future__ import annotations

import time

from sqlalchemy import text

from app.extensions import db

LONGEST = 10  # Seconds.


def wait_until_somebody_waits() -> None:
    """For a lock of this transaction. SQLite lets one write at a time and tells nobody who waits."""
    if db.engine.dialect.name == "sqlite":
        return
    own_database = "database = (select oid from pg_database where datname = current_database())"
    here = f"pid in (select pid from pg_locks where {own_database})"
    waiting = text(f"select count(*) from pg_locks where not granted and {here}")
    deadline = time.monotonic() + LONGEST
    while not db.session.scalar(waiting):
        assert time.monotonic() < deadline, "nobody waits"
