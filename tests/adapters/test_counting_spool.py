"""Nothing that is noted is lost or told twice, and noting never fails."""

from __future__ import annotations

import multiprocessing
from collections import Counter
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from app.adapters.counting_spool import FileSpool
from app.domain.search.counting.events import Event, Kind, as_json, from_json

WHEN = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
EVERYTHING = Event(Kind.ORDERED, 3, "ten\u2028t “für” 👪", date(2026, 11, 19), WHEN, 4, True, True, 12_345)


def searched(word: str) -> Event:
    return Event(Kind.SEARCHED, 1, word, WHEN.date(), WHEN, 3, True)


@pytest.fixture
def spool(tmp_path: Path) -> FileSpool:
    return FileSpool(tmp_path / "not" / "there yet")


def drained(spool: FileSpool) -> list[Event]:
    found: list[Event] = []
    with spool.batches() as batches:
        for batch in batches:
            found += batch.events
            spool.done(batch.id)
    return found


def test_what_was_noted_comes_out_once_and_in_order(spool: FileSpool) -> None:
    events = [EVERYTHING, searched("tent"), searched("stove")]
    assert not spool.waits()
    spool.note(events[:2])
    spool.note(events[2:])
    assert spool.waits()
    assert drained(spool) == events
    assert not spool.waits() and drained(spool) == []


def test_a_batch_that_was_not_done_comes_again_under_its_name_before_newer_ones(spool: FileSpool) -> None:
    spool.note([searched("tent")])
    with spool.batches() as batches:
        first = next(batches)
    spool.note([searched("stove")])
    with spool.batches() as batches:
        again, newer = batches
    assert again == first and newer.events == (searched("stove"),)


def test_only_one_goes_through_it_at_a_time_and_others_can_note_meanwhile(spool: FileSpool, tmp_path: Path) -> None:
    spool.note([searched("tent")])
    other = FileSpool(tmp_path / "not" / "there yet")
    with spool.batches() as batches:
        assert drained(other) == []
        other.note([searched("stove")])
        assert [batch.events for batch in batches] == [(searched("tent"),)]
    assert len(drained(other)) == 2


def test_a_line_that_a_full_disk_cut_off_costs_only_itself(spool: FileSpool, tmp_path: Path) -> None:
    spool.note([searched("tent")])
    with open(tmp_path / "not" / "there yet" / "current", "ab") as file:
        file.write(b'\n["searched",1,"to')
    spool.note([searched("stove")])
    assert drained(spool) == [searched("tent"), searched("stove")]


@pytest.mark.parametrize("value", [None, [], {}, 5, [*as_json(EVERYTHING)[:8]], ["sold", *as_json(EVERYTHING)[1:]]])
def test_what_is_no_event_is_passed_over(value: object) -> None:
    assert from_json(value) is None
    assert from_json(as_json(EVERYTHING)) == EVERYTHING


def test_a_folder_that_cannot_be_written_fails_nobody(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    spool = FileSpool(tmp_path / "file" / "counting")
    spool.note([searched("tent")])
    spool.note([searched("tent")])
    assert not spool.waits()


def _note_many(folder: Path, name: str) -> None:
    spool = FileSpool(folder)
    for number in range(300):
        spool.note([searched(f"{name} {number}")])


def test_many_processes_note_while_one_drains(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=_note_many, args=(tmp_path, name)) for name in "abc"]
    for writer in writers:
        writer.start()
    spool, found = FileSpool(tmp_path), []
    while any(writer.is_alive() for writer in writers):
        found += drained(spool)
    found += drained(spool)
    assert [writer.exitcode for writer in writers] == [0, 0, 0]
    assert Counter(event.word for event in found) == Counter(f"{n} {i}" for n in "abc" for i in range(300))
