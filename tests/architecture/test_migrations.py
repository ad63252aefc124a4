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
from sqlalchemy import inspect

from app import create_app
from app.extensions import db
from app.release import OF_THE_RELEASE_BEFORE
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


def is_of_this_release(item: Any, name: str | None, kind: str, reflected: bool, _compare_to: object) -> bool:
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


@pytest.mark.usefixtures("empty_app")
def test_downgrade_leaves_nothing() -> None:
    upgrade(MIGRATIONS)
    downgrade(MIGRATIONS, revision="base")
    assert tables() == set()
