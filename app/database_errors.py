"""The checks of the database, and which of its errors are transient: drivers raise OperationalError for lasting ones,
too, such as a missing table."""

from __future__ import annotations

import sqlite3

from sqlalchemy import Connection, delete, func, insert, text
from sqlalchemy.exc import OperationalError, SQLAlchemyError
from sqlalchemy.orm.exc import ObjectDeletedError, StaleDataError

from app.domain.search.models import JobSlot
from app.extensions import db

PROBE = "a probe"  # In the place of a job's name.

SQLITE_WAITS = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_CANTOPEN)
# PostgreSQL, appendix A: connections, too many of them, a stopping or starting server, locks, conflicts, deadlocks.
POSTGRESQL_WAITS = ("08", "53300", "57P", "55P03", "40001", "40P01")
# Errors of a session whose record another one removed since it was read: when it saves it, and when it reads it again.
REMOVED_MEANWHILE = (StaleDataError, ObjectDeletedError)


def check_database() -> None:
    """Check the database. Raises SQLAlchemyError when it does not answer."""
    try:
        db.session.execute(text("SELECT 1"))
    except SQLAlchemyError:
        db.session.rollback()
        raise


def write_probe(connection: Connection) -> None:
    """Write a row and remove it again, which leaves none once the transaction is committed. Raises SQLAlchemyError."""
    now = func.now()
    connection.execute(insert(JobSlot).values(job=PROBE, slot=now, claimed_at=now))
    connection.execute(delete(JobSlot).where(JobSlot.job == PROBE))


def is_busy_or_away(error: OperationalError) -> bool:
    """Whether the error is transient, since the database is locked, unreachable or stopping: the same request may
    succeed in a moment."""
    cause = error.orig
    if isinstance(cause, sqlite3.Error):
        return getattr(cause, "sqlite_errorcode", 0) & 0xFF in SQLITE_WAITS
    if error.connection_invalidated:
        return True
    state = getattr(cause, "sqlstate", "")  # PostgreSQL's; None where the server was not reached or went away.
    return state is None or state.startswith(POSTGRESQL_WAITS)
