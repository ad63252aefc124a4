"""A release that comes back reads what the later one noted about the database."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.domain.system.release import newest_revision
from app.operations.supervisor.preparation import NOTE, lives_with, needs_a_stop

LATER = "of tomorrow"


def test_a_release_lives_with_the_database_of_a_later_one_that_noted_it(tmp_path: Path) -> None:
    assert not lives_with(tmp_path, LATER)
    (tmp_path / NOTE).write_text(json.dumps({"database": LATER, "livesWith": newest_revision()}))
    assert lives_with(tmp_path, LATER)
    assert not lives_with(tmp_path, "of the day after"), "another database was put in its place"
    assert not lives_with(tmp_path, newest_revision()) and not lives_with(tmp_path, None)


@pytest.mark.parametrize("left", ["", '{"database": "of to', "[]"])
def test_what_a_power_cut_left_of_a_note_counts_as_none(tmp_path: Path, left: str) -> None:
    (tmp_path / NOTE).write_text(left)
    assert not lives_with(tmp_path, LATER)


def test_nothing_runs_on_an_empty_database_that_would_have_to_stop() -> None:
    assert needs_a_stop("3d1f0c8b7a52"), "the till's cash came with a stop"
    assert not needs_a_stop(None) and not needs_a_stop(newest_revision())
