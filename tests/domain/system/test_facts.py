"""How things are said on the System page."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from app.domain.search.engine import IndexName
from app.domain.system import job_runs
from app.domain.system.facts import Health, JobFacts, job_state, size_text
from app.domain.system.machine import DatabaseFacts, database_facts, database_line
from app.domain.system.release import known_revisions, newest_revision, version
from app.jobs.machine import folder_size, measure_folders
from app.jobs.scheduled import look, run_scheduled
from app.ports import machine_id, search_engine
from app.transaction import transaction
from tests.fakes.clock import StoppedClock

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 bytes"),
        (999, "999 bytes"),
        (1_000, "1.0 kB"),
        (999_999, "1,000.0 kB"),
        (1_234_567, "1.2 MB"),
        (5_000_000_000_000, "5,000.0 GB"),
        (None, "unknown"),
    ],
)
def test_sizes_are_said_in_their_unit(size: int | None, text: str) -> None:
    assert size_text(size) == text


@pytest.mark.parametrize(
    ("started", "took", "failed", "word"),
    [
        (None, None, False, "Not run yet"),
        (1, None, False, "Running"),
        (180, None, False, "Interrupted"),
        (5, 1, False, "Done"),
        (5, 1, True, "Failed"),
    ],
)
def test_a_job_stands_as_its_latest_run_says(started: int | None, took: int | None, failed: bool, word: str) -> None:
    began = None if started is None else NOW - timedelta(minutes=started)
    ended = began + timedelta(minutes=took) if began and took else None
    assert job_state(NOW, began, ended, failed)[0] == word
    assert (job_state(NOW, began, ended, failed)[1] is Health.BAD) == failed


def test_the_next_run_follows_from_the_times() -> None:
    assert JobFacts("x", "15 3 * * *", "").next_at(NOW) == datetime(2026, 11, 23, 3, 15, tzinfo=UTC)


@pytest.mark.usefixtures("context")
def test_a_folder_is_measured_with_what_lies_below_and_without_what_links_lead_to(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "one").write_bytes(bytes(10))
    (tmp_path / "a" / "b" / "two").write_bytes(bytes(5))
    (tmp_path / "a" / "loop").symlink_to(tmp_path)
    assert folder_size(tmp_path / "a") == {"bytes": 15, "files": 2}


@pytest.mark.usefixtures("context")
def test_a_folder_that_cannot_be_read_in_time_has_no_size(app, tmp_path: Path) -> None:
    app.config["SHOP"].media_dir.mkdir(parents=True, exist_ok=True)
    assert set(measure_folders(seconds=-1)["pictures"].values()) == {None}
    assert measure_folders()["pictures"] == {"bytes": 0, "files": 0}


@pytest.mark.usefixtures("context")
def test_the_report_of_a_run_stays_until_the_next_has_one(clock: StoppedClock) -> None:
    with transaction():
        job_runs.note_start(clock, "measure")
        job_runs.note_end(clock, "measure", report={"a": 1})
    with transaction():
        job_runs.note_start(clock, "measure")
    run = job_runs.latest_runs()["measure"]
    assert (run.finished_at, run.report) == (None, {"a": 1})
    with transaction():
        job_runs.note_end(clock, "measure", {"": "Away."})
    run = job_runs.latest_runs()["measure"]
    assert (run.finished_at, run.errors, run.report) == (clock.now(), {"": "Away."}, {"a": 1})


@pytest.mark.usefixtures("context")
def test_the_page_has_only_jobs_run_that_look(clock: StoppedClock) -> None:
    look("purge")
    assert job_runs.latest_runs() == {}
    look("measure")
    assert list(job_runs.latest_runs(machine_id())) == ["measure"]
    assert job_runs.latest_runs("of another machine") == {}


@pytest.mark.usefixtures("context")
def test_the_database_says_what_it_is(database_kind: str) -> None:
    facts = database_facts()
    assert facts.name.lower().startswith(database_kind[:6])
    assert facts.size > 10_000
    assert facts.version[0].isdigit()
    assert facts.newest is not None
    assert version()[0].isdigit()


def test_a_database_of_a_later_release_is_not_to_be_upgraded_by_this_one() -> None:
    """Its command would not find the migration."""
    line = database_line(DatabaseFacts("SQLite", "3.40.1", 5_000_000, "of tomorrow", newest_revision()))
    assert (line.word, line.health) == ("From a later release", Health.WARN)
    assert "db upgrade" not in line.advice
    older = database_line(
        DatabaseFacts("SQLite", "3.40.1", 5_000_000, min(known_revisions() - {newest_revision()}), newest_revision())
    )
    assert (older.word, "db upgrade" in older.advice) == ("Other version", True)


@pytest.mark.usefixtures("context")
def test_an_index_that_was_never_built_has_no_size(app) -> None:
    assert search_engine().size(1, IndexName.PRODUCTS) is None


@pytest.mark.usefixtures("context")
def test_a_run_is_noted_with_how_it_ended() -> None:
    run_scheduled("pos-sessions")
    run = job_runs.latest_runs()["pos-sessions"]
    assert (run.errors, run.finished_at is not None) == ({}, True)
