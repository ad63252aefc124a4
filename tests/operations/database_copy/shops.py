"""Shops that are copied, and what their databases hold."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, MetaData, NullPool, create_engine, event, make_url, select, text

from app.config import Config
from app.domain.system.release import MIGRATIONS
from app.extensions import db
from app.operations.database_copy.copying import Copied, NoteTable, copy_database
from tests.operations.backups.installation import NOW, Installation
from tests.operations.database_copy.every_table import fill

CHANGED = ("machines", "audit_entries")  # By every copy: no machine runs, and each copy stands in the activity log.


def new_shop(folder: Path, database_url: str | None = None) -> Config:
    """A shop without anything in it."""
    config = config_of(folder, database_url)
    make_tables(config, config.database_url)
    return config


def config_of(folder: Path, database_url: str | None = None) -> Config:
    """The settings of a shop in a folder of its own."""
    return replace(Installation(folder, database_url).config, instance_dir=folder)


def make_tables(_config: Config, url: str) -> None:
    """As the migrations do, in a tenth of the time."""
    engine = create_engine(url, poolclass=NullPool)
    with engine.begin() as connection:
        db.metadata.create_all(connection)
        MigrationContext.configure(connection).stamp(ScriptDirectory(str(MIGRATIONS)), "head")


def full_shop(folder: Path, database_url: str | None = None) -> Config:
    """A shop that has rows in every table."""
    config = new_shop(folder, database_url)
    with written(config.database_url) as connection:
        fill(connection)
    return config


def moved(config: Config, url: str, folder: Path) -> Config:
    """Copy a shop's database, and return the settings of a machine that uses the copy."""
    copy(config, url)
    return config_of(folder, url)


def copy(config: Config, url: str, is_rehearsal: bool = False, note: NoteTable = lambda _name, _rows: None) -> Copied:
    return copy_database(config, make_url(url), NOW, is_rehearsal, note, make_tables)


@contextmanager
def written(url: str) -> Iterator[Connection]:
    engine = create_engine(url, poolclass=NullPool)
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", lambda connection, _: connection.execute("PRAGMA foreign_keys=ON"))
    with engine.begin() as connection:
        yield connection


def contents(url: str) -> Mapping[str, list[Any]]:
    """Every row of every table as the shop reads it."""
    with written(url) as connection:
        tables = db.metadata.tables.values()
        return {table.name: sorted(map(_written, connection.execute(select(table)))) for table in tables}


def _written(row: Sequence[Any]) -> str:
    """PostgreSQL sorts the keys of JSON."""
    return repr([json.dumps(value, sort_keys=True) if isinstance(value, dict | list) else value for value in row])


def rows_of(url: str) -> int:
    return sum(map(len, contents(url).values()))


def unchanged(held: Mapping[str, list[Any]]) -> Mapping[str, list[Any]]:
    return {name: rows for name, rows in held.items() if name not in CHANGED}


def schema_of(url: str) -> set[str]:
    """The tables that are there, whatever the models say."""
    found = MetaData()
    with written(url) as connection:
        found.reflect(connection)
    return set(found.tables)


def empty_database(url: str) -> str:
    """Drop what is in a database of the tests, and end their connections to it. Return its address."""
    with written(url) as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(text("DROP SCHEMA public CASCADE"))
            connection.execute(text("CREATE SCHEMA public"))
            end_connections(connection)
    return url


def end_connections(connection: Connection) -> None:
    others = "datname = current_database() AND pid <> pg_backend_pid()"
    connection.execute(text(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {others}"))
