"""How Alembic meets this application's database; the same on SQLite and PostgreSQL."""

from __future__ import annotations

from typing import Any, Literal

from alembic import context
from alembic.autogenerate.api import AutogenContext
from flask import current_app
from sqlalchemy import JSON, Connection

from app.domain.shared.records import UtcDateTime
from app.domain.system.release import OF_THE_RELEASE_BEFORE

JSON_IMPORT = "from sqlalchemy.dialects import postgresql"
JSON_TYPE = 'sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")'

database = current_app.extensions["migrate"].db


def is_ours(item: Any, name: str | None, kind: str, reflected: bool, _compare_to: object) -> bool:
    """Tables that other programs keep in the same database are left alone, and columns that the release before uses."""
    if kind == "column" and reflected:
        return (item.table.name, name) not in OF_THE_RELEASE_BEFORE
    return not (kind == "table" and reflected and name not in database.metadata.tables)


def written(kind: str, item: Any, autogenerate: AutogenContext) -> str | Literal[False]:
    """Migrations name plain database types: the application's may change, what a migration did may not."""
    if kind == "type" and isinstance(item, UtcDateTime):
        return "sa.DateTime(timezone=True)"
    if kind == "type" and isinstance(item, JSON):
        autogenerate.imports.add(JSON_IMPORT)
        return JSON_TYPE
    return False


def run(connection: Connection) -> None:
    context.configure(
        connection=connection,
        target_metadata=database.metadata,
        include_object=is_ours,
        render_item=written,
        compare_type=True,
        render_as_batch=True,
        transactional_ddl=True,
    )
    with context.begin_transaction():
        context.run_migrations()


with database.engine.connect().execution_options(writing=True) as connection:
    if connection.dialect.name == "sqlite":
        # Batch operations copy and drop parent tables, which foreign keys would forbid. The switch works
        # only outside a transaction, hence on the driver's own connection.
        connection.connection.dbapi_connection.execute("PRAGMA foreign_keys=OFF")
    run(connection)
    connection.commit()
    if connection.dialect.name == "sqlite":
        connection.connection.dbapi_connection.execute("PRAGMA foreign_keys=ON")
