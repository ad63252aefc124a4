"""The two kinds of databases, which are copied and replaced in different ways."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import make_url

from app.backups.postgresql_database import PostgresqlDatabase
from app.backups.sqlite_database import SqliteDatabase

Database = SqliteDatabase | PostgresqlDatabase


def database_of(url: str, instance: Path) -> Database:
    if make_url(url).get_backend_name() == "sqlite":
        return SqliteDatabase(url)
    return PostgresqlDatabase(url, instance)
