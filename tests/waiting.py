"""Waiting for what other processes and threads do, for so long and no longer."""

from __future__ import annotations

import time
from collections.abc import Callable

from sqlalchemy import text

from app.extensions import db

SHORTEST, LONGEST = 0.02, 0.5  # Seconds between two looks.


def until(condition: Callable[[], object], seconds: float = 60) -> None:
    """Returns once the condition holds. A busy machine is no fault, so by default a test waits for a minute."""
    deadline = time.monotonic() + seconds
    while True:
        before = time.monotonic()
        if condition():
            return
        assert before < deadline, "waited in vain"
        # What costs much is looked at less often.
        time.sleep(min(max(SHORTEST, 5 * (time.monotonic() - before)), LONGEST))


def wait_until_one_waits() -> None:
    """For a lock of this transaction. SQLite lets one write at a time and tells nobody who waits."""
    if db.engine.dialect.name == "sqlite":
        return
    own_database = "database = (select oid from pg_database where datname = current_database())"
    here = f"pid in (select pid from pg_locks where {own_database})"
    waiting = text(f"select count(*) from pg_locks where not granted and {here}")
    until(lambda: db.session.scalar(waiting), 10)
