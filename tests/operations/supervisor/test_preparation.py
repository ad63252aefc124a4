"""A release that comes back reads what the later one noted about the database."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from alembic.script import ScriptDirectory
from sqlalchemy import NullPool, create_engine, text

from app.domain.system.release import MIGRATIONS, newest_revision
from app.operations.supervisor.preparation import (
    NOTE,
    lives_with,
    needs_a_stop,
    note_upgrade,
    read_note,
    read_shared_note,
)
from tests.databases import KINDS, PostgresqlDatabases

LATER = "of tomorrow"
BEFORE = ScriptDirectory(str(MIGRATIONS)).get_revision("head").down_revision


def test_a_release_lives_with_the_database_of_a_later_one_that_noted_it(tmp_path: Path) -> None:
    assert not lives_with([read_note(tmp_path)], LATER)
    (tmp_path / NOTE).write_text(json.dumps({"database": LATER, "livesWith": newest_revision()}))
    assert lives_with([read_note(tmp_path)], LATER)
    assert not lives_with([read_note(tmp_path)], "of the day after"), "another database was put in its place"
    assert not lives_with([read_note(tmp_path)], newest_revision()) and not lives_with([read_note(tmp_path)], None)


@pytest.mark.parametrize("left", ["", '{"database": "of to', "[]"])
def test_what_a_power_cut_left_of_a_note_counts_as_none(tmp_path: Path, left: str) -> None:
    (tmp_path / NOTE).write_text(left)
    assert not lives_with([read_note(tmp_path)], LATER)


def test_nothing_runs_on_an_empty_database_that_would_have_to_stop() -> None:
    assert needs_a_stop("3d1f0c8b7a52"), "the till's cash came with a stop"
    assert not needs_a_stop(None) and not needs_a_stop(newest_revision())


def test_another_machine_reads_in_the_database_what_the_one_that_upgraded_noted(tmp_path: Path) -> None:
    if "postgresql" not in KINDS:
        pytest.skip("SHOP_TEST_DATABASE names no PostgreSQL")
    server = PostgresqlDatabases(_create_version_table)
    try:
        with server.own() as url:
            engine = create_engine(url, poolclass=NullPool)
            assert read_shared_note(engine) is None
            note_upgrade(tmp_path, BEFORE, engine)
            assert read_shared_note(engine) == read_note(tmp_path)
            assert read_shared_note(engine) == {"database": newest_revision(), "livesWith": BEFORE}
            note_upgrade(tmp_path, "3d1f0c8b7a52", engine)
            assert read_shared_note(engine) is None, "that release could not live with the till's cash"
    finally:
        server.close()


def _create_version_table(url: str) -> None:
    with create_engine(url, poolclass=NullPool).begin() as connection:
        connection.execute(text("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)"))
