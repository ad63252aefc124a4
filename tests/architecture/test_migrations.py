"""The migrations, applied to an empty database, make exactly what the models say."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from flask import Flask
from flask_migrate import downgrade, upgrade
from sqlalchemy import CheckConstraint, inspect, text

from app import create_app
from app.domain.catalogue.models import WORDS_INDEX
from app.domain.system.release import OF_THE_RELEASE_BEFORE
from app.extensions import db
from tests.ready_app import config_for
from tests.surroundings import ROOT

MIGRATIONS = str(ROOT / "migrations")


@pytest.fixture
def empty_app(own_database_url: str, tmp_path: Path) -> Iterator[Flask]:
    app = create_app(config_for(own_database_url, tmp_path))
    with app.app_context():
        db.drop_all()
        yield app
        db.session.remove()
        db.engine.dispose()


def tables() -> set[str]:
    return set(inspect(db.engine).get_table_names()) - {"alembic_version"}


def checks_of_models() -> set[tuple[str, ...]]:
    return {
        shown(table.name, str(check.name), str(check.sqltext.compile(db.engine)))
        for table in db.metadata.tables.values()
        for check in table.constraints
        if isinstance(check, CheckConstraint)
    }


def checks_in_database() -> set[tuple[str, ...]]:
    inspector = inspect(db.engine)
    return {
        shown(table, str(check["name"]), check["sqltext"])
        for table in tables()
        for check in inspector.get_check_constraints(table)
    }


def shown(table: str, name: str, condition: str) -> tuple[str, ...]:
    """Return what can be compared of a check: PostgreSQL tells its condition in words of its own."""
    return (table, name, " ".join(condition.split())) if db.engine.name == "sqlite" else (table, name)


def tables_that_number_anew() -> set[str]:
    """The tables on SQLite that give the id of a deleted row again, though their model says never. Alembic loses that
    word where it makes a table anew to change a constraint."""
    if db.engine.name != "sqlite":
        return set()
    made = text("SELECT name FROM sqlite_master WHERE sql LIKE '%AUTOINCREMENT%'")
    never = {table.name for table in db.metadata.tables.values() if table.dialect_options["sqlite"]["autoincrement"]}
    return never - set(db.session.scalars(made))


def is_of_this_release(item: Any, name: str | None, kind: str, reflected: bool, _compare_to: object) -> bool:
    """The index of words is made by a statement, where PostgreSQL has what it takes; no model names it."""
    if kind == "index":
        return name != WORDS_INDEX
    return not (kind == "column" and reflected and (item.table.name, name) in OF_THE_RELEASE_BEFORE)


@pytest.mark.usefixtures("empty_app")
def test_columns_of_the_release_before_are_there_and_take_rows_without_a_value() -> None:
    """Those that were dropped since are listed no more."""
    upgrade(MIGRATIONS)
    columns = {
        (table, column["name"]): column
        for table in tables()
        for column in inspect(db.engine).get_columns(table)
        if (table, column["name"]) in OF_THE_RELEASE_BEFORE
    }
    assert columns.keys() == OF_THE_RELEASE_BEFORE
    assert all(column["nullable"] or column["default"] is not None for column in columns.values())


@pytest.mark.usefixtures("empty_app")
def test_upgrade_from_nothing_equals_the_models() -> None:
    upgrade(MIGRATIONS)
    with db.engine.connect() as connection:
        context = MigrationContext.configure(
            connection, opts={"compare_type": True, "include_object": is_of_this_release}
        )
        assert compare_metadata(context, db.metadata) == []
    assert tables() == set(db.metadata.tables)
    assert checks_in_database() == checks_of_models()
    assert tables_that_number_anew() == set()


@pytest.mark.parametrize("database_kind", ["postgresql"], indirect=True)
@pytest.mark.usefixtures("empty_app")
def test_an_extension_that_is_out_of_reach_keeps_no_shop_from_its_upgrade() -> None:
    with db.engine.begin() as connection:
        connection.execute(text("DROP EXTENSION IF EXISTS pg_trgm"))
        connection.execute(text("CREATE SCHEMA elsewhere"))
        connection.execute(text("CREATE EXTENSION pg_trgm SCHEMA elsewhere"))
    upgrade(MIGRATIONS)
    assert tables() == set(db.metadata.tables)
    assert WORDS_INDEX not in {index["name"] for index in inspect(db.engine).get_indexes("products")}


@pytest.mark.usefixtures("empty_app")
def test_downgrade_leaves_nothing() -> None:
    upgrade(MIGRATIONS)
    downgrade(MIGRATIONS, revision="base")
    assert tables() == set()
