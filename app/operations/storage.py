"""The checks of the database, and its errors and those of files: which are transient, and which mean that the disk is
full or fails. The latter do not pass by waiting: the owner must know."""

from __future__ import annotations

import errno
import sqlite3

from sqlalchemy import Connection, delete, func, insert, text
from sqlalchemy.exc import DBAPIError, OperationalError, SQLAlchemyError
from sqlalchemy.orm.exc import ObjectDeletedError, StaleDataError

from app.domain.alerts.alerts import note_alert
from app.domain.alerts.causes import Cause
from app.domain.catalogue.picture_storage import PicturesUnavailable
from app.domain.search.models import JobSlot
from app.extensions import db
from app.ports import clock, machine_id

PROBE = "a probe"  # In the place of a job's name.
CHECK_SECONDS = 3.0

# Drivers raise OperationalError for lasting errors, too, such as a missing table.
SQLITE_WAITS = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_CANTOPEN)
# PostgreSQL, appendix A: connections, too many of them, a stopping or starting server, locks, conflicts, deadlocks.
POSTGRESQL_WAITS = ("08", "53300", "57P", "55P03", "40001", "40P01")
# Errors of a session whose record another one removed since it was read: when it saves it, and when it reads it again.
REMOVED_MEANWHILE = (StaleDataError, ObjectDeletedError)
# SHMSIZE: the first process to open the database makes its shared-memory file, for which a full disk has no room.
SQLITE_FULL = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_SHMSIZE)
SQLITE_FAILS = (
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_CORRUPT,
    sqlite3.SQLITE_NOTADB,
)
# PostgreSQL, appendix A: an error of its files, a server that only reads, damaged data.
POSTGRESQL_FULL, POSTGRESQL_FAILS = "53100", ("58030", "25006", "XX001", "XX002")
FULL, FAILS = (errno.ENOSPC, errno.EDQUOT), (errno.EIO, errno.EROFS)


def check_database() -> None:
    """Check the database. Raises SQLAlchemyError when it does not answer; one that goes silent has CHECK_SECONDS."""
    try:
        db.session.execute(text("SELECT 1"), execution_options={"answers_within": CHECK_SECONDS})
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


def note_storage_fault(error: BaseException) -> bool:
    """Note an alert and return True where the error is a fault of the storage; False for any other, which the caller
    handles."""
    cause = cause_of(error)
    if cause is None:
        return False
    note_alert(clock(), cause, describe_fault(error), machine=machine_id())
    return True


def note_pictures_unavailable(error: PicturesUnavailable) -> None:
    """Note an alert that the storage of pictures, which is another machine, cannot be used."""
    note_alert(clock(), Cause.PICTURES_GONE, error.sentence, machine=machine_id())


def cause_of(error: BaseException) -> Cause | None:
    """Return the cause of a storage fault; None for an error that is no fault of the storage."""
    if isinstance(error, DBAPIError):
        return _cause_in_database(error.orig)
    number = error.errno if isinstance(error, OSError) else None
    if number in FULL:
        return Cause.DISK_FULL
    return Cause.DISK_IO_ERROR if number in FAILS else None


def describe_fault(error: BaseException) -> str:
    """Return the message of the database or the system in one line; for these faults it names no record."""
    if isinstance(error, DBAPIError):
        first_line = str(error.orig).partition("\n")[0]
        return f"The database says: {first_line}."
    return f"A file was refused: {error.strerror if isinstance(error, OSError) else error}."


def _cause_in_database(cause: BaseException | None) -> Cause | None:
    if isinstance(cause, sqlite3.Error):
        code = getattr(cause, "sqlite_errorcode", 0)
        if code in SQLITE_FULL:
            return Cause.DISK_FULL
        return Cause.DATABASE_IO_ERROR if code & 0xFF in SQLITE_FAILS else None
    state = getattr(cause, "sqlstate", None)
    if state == POSTGRESQL_FULL:
        return Cause.DISK_FULL
    return Cause.DATABASE_IO_ERROR if state in POSTGRESQL_FAILS else None
