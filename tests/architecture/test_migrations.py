"""The migrations, applied to an empty database, make exactly what the models say."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from flask import Flask
from flask_migrate import downgrade, upgrade
from sqlalchemy import inspect

from app import create_app
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


@pytest.mark.usefixtures("empty_app")
def test_upgrade_from_nothing_equals_the_models() -> None:
    upgrade(MIGRATIONS)
    with db.engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, db.metadata) == []
    assert tables() == set(db.metadata.tables)


@pytest.mark.usefixtures("empty_app")
def test_downgrade_leaves_nothing() -> None:
    upgrade(MIGRATIONS)
    downgrade(MIGRATIONS, revision="base")
    assert tables() == set()
