"""The errors of a database or of a file that mean that the disk is full or fails. They do not pass by waiting: the
owner must know."""

from __future__ import annotations

import errno
import sqlite3

from sqlalchemy.exc import DBAPIError

from app.domain.alerts.causes import Cause

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
