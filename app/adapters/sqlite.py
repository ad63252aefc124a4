"""The SQLite connections of the application: durable commits, foreign keys, and writers that queue instead of
failing."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Engine, event

PRAGMAS = ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "busy_timeout=5000", "cache_size=-32000")


def prepare(engine: Engine) -> None:
    """Register the listeners on an engine; a no-op for other databases."""
    if engine.dialect.name != "sqlite":
        return
    event.listen(engine, "connect", _configure)
    event.listen(engine, "begin", _begin)


def _configure(connection: Any, _record: object) -> None:
    connection.isolation_level = None  # BEGIN is sent by _begin: the driver would leave reads outside of it.
    for pragma in PRAGMAS:
        connection.execute(f"PRAGMA {pragma}")


def _begin(connection: Connection) -> None:
    writing = connection.get_execution_options().get("writing")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")
