"""While an upgrade is going on, processes of the release before work on the new database. What a migration takes from
them it may only take in a release after the one that no longer uses it, and says so: `NEEDS_A_STOP = True`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from alembic.script import Script, ScriptDirectory
from flask import Flask
from flask_migrate import upgrade
from sqlalchemy import inspect

from app import create_app
from app.domain.system.release import MIGRATIONS
from app.extensions import db
from tests.ready_app import config_for

# Migrations before this one are of releases that were upgraded by a stop.
FIRST_UPGRADED_WHILE_RUNNING = "a6edd80e284b"
Columns = Mapping[tuple[str, str], Mapping[str, Any]]
Uniques = set[tuple[str, tuple[str, ...]]]


def new_migrations() -> list[Script]:
    scripts = ScriptDirectory(str(MIGRATIONS)).iterate_revisions("head", FIRST_UPGRADED_WHILE_RUNNING)
    return list(scripts)[::-1]


@pytest.fixture
def empty_app(own_database_url: str, tmp_path: Path) -> Iterator[Flask]:
    app = create_app(config_for(own_database_url, tmp_path))
    with app.app_context():
        db.drop_all()
        yield app
        db.session.remove()
        db.engine.dispose()


def columns() -> Columns:
    inspector = inspect(db.engine)
    return {
        (table, column["name"]): column
        for table in inspector.get_table_names()
        for column in inspector.get_columns(table)
    }


def uniques() -> Uniques:
    inspector = inspect(db.engine)
    found = set()
    for table in inspector.get_table_names():
        kept = [*inspector.get_unique_constraints(table), *filter(_is_unique, inspector.get_indexes(table))]
        found |= {(table, tuple(map(str, each["column_names"]))) for each in kept}
    return found


def _is_unique(index: Mapping[str, Any]) -> bool:
    return bool(index["unique"])


def uniques_stricter_than(before: Uniques, after: Uniques) -> Uniques:
    """Those that forbid what none before forbade: one of more columns than another forbids less."""
    return {
        (table, names)
        for table, names in after
        if not any(table == was and {*less} <= {*names} for was, less in before)
    }


def taken(before: Columns, after: Columns) -> list[str]:
    """What the release before may miss or trip over: it reads every column that it knows, and writes no other."""
    tables = {table for table, _ in before}
    gone = [f"{table}.{name} is gone" for table, name in before.keys() - after.keys()]
    demanded = [
        f"{table}.{name} must be given"
        for (table, name), column in after.items()
        if table in tables and not column["nullable"] and column["default"] is None and is_news(before, (table, name))
    ]
    return sorted(gone + demanded)


def is_news(before: Columns, key: tuple[str, str]) -> bool:
    return key not in before or bool(before[key]["nullable"]) or before[key]["default"] is not None


@pytest.mark.usefixtures("empty_app")
def test_migrations_take_nothing_from_the_release_before() -> None:
    upgrade(str(MIGRATIONS), FIRST_UPGRADED_WHILE_RUNNING)
    for migration in new_migrations():
        before, unique_before = columns(), uniques()
        upgrade(str(MIGRATIONS), migration.revision)
        known = {table for table, _ in before}
        stricter = uniques_stricter_than(unique_before, uniques())
        forbidden = [f"{table} {names} is unique" for table, names in stricter if table in known]
        problems = taken(before, columns()) + sorted(forbidden)
        declared = getattr(migration.module, "NEEDS_A_STOP", False)
        assert declared or not problems, f"{migration.path}: {problems}; expand first, contract a release later"


def test_a_unique_of_more_columns_is_no_stricter() -> None:
    before: Uniques = {("alerts", ("cause", "subject"))}
    after: Uniques = {("alerts", ("machine", "cause", "subject")), ("alerts", ("subject",)), ("sites", ("cause",))}
    assert uniques_stricter_than(before, after) == {("alerts", ("subject",)), ("sites", ("cause",))}


def test_what_the_release_before_would_trip_over_is_found() -> None:
    old: Columns = {("sites", "name"): {"nullable": False, "default": None}, ("sites", "note"): {"nullable": True}}
    optional, required = {"nullable": True, "default": None}, {"nullable": False, "default": None}
    defaulted = {"nullable": False, "default": "''"}
    assert taken(old, {**old, ("sites", "more"): optional, ("new", "id"): required, ("sites", "x"): defaulted}) == []
    assert taken(old, {**old, ("sites", "more"): required}) == ["sites.more must be given"]
    assert taken(old, {("sites", "name"): required}) == ["sites.note is gone"]
    assert taken(old, {**old, ("sites", "note"): required}) == ["sites.note must be given"]
