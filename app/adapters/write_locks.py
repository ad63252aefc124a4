"""Locks that every process sees which uses the same database: the database's own where it is PostgreSQL, whose server
frees one with the session of a process that died; else flock on files of this machine, where the kernel does."""

from __future__ import annotations

import fcntl
import hashlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from sqlalchemy import create_engine, func, select, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool

from app.adapters.postgresql import connection_limits
from app.config import Config
from app.domain.search.engine import SearchUnavailable

LONGEST_WAIT = "60s"
Locks = Callable[[str], AbstractContextManager[None]]


def write_lock_for(config: Config) -> Locks:
    """Return locks by name. They are waited for as long as it takes; on PostgreSQL LONGEST_WAIT, then they raise
    SearchUnavailable."""
    if config.database_url.startswith("sqlite"):
        return file_locks(config.lock_folder)
    return database_locks(config.database_url)


def file_locks(folder: Path) -> Locks:
    """Return locks by name for the processes of this machine."""

    @contextmanager
    def lock(name: str) -> Iterator[None]:
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / f"{name}.lock").open("ab") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    return lock


def database_locks(url: str) -> Locks:
    """Return locks by name for all clients of a database of PostgreSQL. One behind a pooler that gives each transaction
    another session is none."""
    limits = connection_limits(url)
    engine = create_engine(url, poolclass=NullPool, isolation_level="AUTOCOMMIT", connect_args=limits)

    @contextmanager
    def lock(name: str) -> Iterator[None]:
        key = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big", signed=True)
        try:
            connection = engine.connect()
        except DBAPIError as error:
            raise SearchUnavailable("The database does not answer, so the index is not written.", fault=None) from error
        with connection:
            try:
                connection.execute(text(f"SET lock_timeout = '{LONGEST_WAIT}'"))
                connection.execute(select(func.pg_advisory_lock(key)))
            except DBAPIError as error:
                raise SearchUnavailable("Another process writes the index for too long.", fault=None) from error
            yield  # The connection is closed behind it, and the lock with it.

    return lock
