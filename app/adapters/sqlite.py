"""The SQLite connections of the application: durable commits, foreign keys, and writers that queue instead of
failing."""

from __future__ import annotations

import sqlite3
from typing import Any

from sqlalchemy import Connection, Engine, ExceptionContext, event

# mmap_size: a process is killed (SIGBUS) that reads where a file it has mapped was cut short, or its disk fails.
PRAGMAS = (
    "journal_mode=WAL",
    "synchronous=FULL",
    "foreign_keys=ON",
    "busy_timeout=5000",
    "cache_size=-32000",
    "mmap_size=0",
)


def prepare(engine: Engine) -> None:
    """Register the listeners on an engine; a no-op for other databases."""
    if engine.dialect.name != "sqlite":
        return
    event.listen(engine, "connect", _configure)
    event.listen(engine, "begin", _begin)
    event.listen(engine, "handle_error", _drop_read_only)


def _configure(connection: Any, _record: object) -> None:
    connection.isolation_level = None  # BEGIN is sent by _begin: the driver would leave reads outside of it.
    for pragma in PRAGMAS:
        connection.execute(f"PRAGMA {pragma}")


def _begin(connection: Connection) -> None:
    writing = connection.get_execution_options().get("writing")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")


def _drop_read_only(context: ExceptionContext) -> None:
    """Drop the connections of the pool when one may only read: opened while the file could not be written to, it would
    refuse writes for good."""
    if getattr(context.original_exception, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_READONLY:
        context.is_disconnect = True
