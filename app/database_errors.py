"""Whether the database answers, and which of its errors pass by themselves. Drivers call many others operational, too,
like a missing table."""

from __future__ import annotations

import sqlite3

from sqlalchemy import text
from sqlalchemy.exc import OperationalError, SQLAlchemyError

from app.extensions import db

SQLITE_WAITS = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_CANTOPEN)
# PostgreSQL, appendix A: connections, too many of them, a server that stops or starts, locks, two who wait for another.
POSTGRESQL_WAITS = ("08", "53300", "57P", "55P03", "40001", "40P01")


def check_database() -> None:
    """Check the database. Raises SQLAlchemyError when it does not answer."""
    try:
        db.session.execute(text("SELECT 1"))
    except SQLAlchemyError:
        db.session.rollback()
        raise


def is_busy_or_away(error: OperationalError) -> bool:
    """Whether the same request may go well in a moment: the database is locked, away or stopping."""
    cause = error.orig
    if error.connection_invalidated:
        return True
    if isinstance(cause, sqlite3.Error):
        return getattr(cause, "sqlite_errorcode", 0) & 0xFF in SQLITE_WAITS
    state = getattr(cause, "sqlstate", "")  # PostgreSQL's; None where the server was not reached or went away.
    return state is None or state.startswith(POSTGRESQL_WAITS)
