"""Nothing that is noted is lost or told twice, and noting never fails."""

from __future__ import annotations

import multiprocessing
import os
from collections import Counter
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from app.domain.search_statistics.counting.events import Event, EventKind, as_json, from_json, is_of_unknown_version
from app.domain.search_statistics.counting.file_spool import PART, FileSpool, search_spool
from app.domain.search_statistics.counting.spool import LARGEST_OF_LATER, MOST_TRIES, EventFormat, Spool

DAY = date(2026, 11, 20)
EVERYTHING = Event(EventKind.ORDERED, 3, "ten\u2028t “für” 👪", date(2026, 11, 19), 4, True, True, 12_345)


def searched(word: str) -> Event:
    return Event(EventKind.SEARCHED, 1, word, DAY, 3, True)


@pytest.fixture
def spool(tmp_path: Path) -> Spool[Event]:
    return search_spool(tmp_path / "not" / "there yet")


def drained(spool: Spool[Event]) -> list[Event]:
    found: list[Event] = []
    with spool.batches() as batches:
        for batch in batches:
            found += batch.events
            spool.done(batch.id)
    return found


def test_what_was_noted_comes_out_once_and_in_order(spool: Spool[Event]) -> None:
    events = [EVERYTHING, searched("tent"), searched("stove")]
    assert not spool.has_pending()
    spool.note(events[:2])
    spool.note(events[2:])
    assert spool.has_pending()
    assert drained(spool) == events
    assert not spool.has_pending() and drained(spool) == []


def test_a_batch_that_was_not_done_comes_again_under_its_name_before_newer_ones(spool: Spool[Event]) -> None:
    spool.note([searched("tent")])
    with spool.batches() as batches:
        first = next(batches)
    spool.note([searched("stove")])
    with spool.batches() as batches:
        again = next(batches)
        spool.done(again.id)
        newer = next(batches)
    assert again == first and newer.events == (searched("stove"),)


def test_many_events_come_in_parts_that_are_the_same_again(tmp_path: Path) -> None:
    spool, words = search_spool(tmp_path, part=150), [f"tent {number}" for number in range(20)]
    spool.note([searched(word) for word in words])
    with spool.batches() as batches:
        first = list(batches)
        spool.done(first[0].id)
    with spool.batches() as batches:
        again = list(batches)
    assert again == first and len({batch.id for batch in first}) > 4
    assert [event.word for batch in first for event in batch.events] == words
    assert max(len(batch.id) for batch in first) <= 64
    for batch in first:
        assert spool.has_pending()
        spool.done(batch.id)
    assert not spool.has_pending() and list(tmp_path.glob("*.batch")) == []


def test_nothing_more_is_set_aside_while_batches_wait(spool: Spool[Event], tmp_path: Path) -> None:
    for word in ("tent", "stove", "boots"):
        spool.note([searched(word)])
        with spool.batches() as batches:
            assert [batch.events for batch in batches] == [(searched("tent"),)]
    assert len(list((tmp_path / "not" / "there yet").glob("*.batch"))) == 1
    assert [event.word for event in drained(spool)] == ["tent", "stove", "boots"]


def test_what_waits_is_bounded_whatever_name_it_has(tmp_path: Path) -> None:
    spool = search_spool(tmp_path, largest=2_000)
    for number in range(300):
        spool.note([searched(f"tent {number}")])
        if number % 5 == 0:
            with spool.batches() as batches:
                next(batches)
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) < 2_200
    assert 10 < len(drained(spool)) < 100


def test_a_batch_that_fails_again_and_again_is_put_out_of_the_way_and_the_others_go_on(tmp_path: Path) -> None:
    spool, found = search_spool(tmp_path, part=10), []
    spool.note([searched(word) for word in ("tent", "bad", "stove")])
    for _ in range(MOST_TRIES):
        with spool.batches() as batches:
            for batch in batches:
                if [event.word for event in batch.events] == ["bad"]:
                    spool.failed(batch.id)
                else:
                    found.append(batch.id)
                    spool.done(batch.id)
        spool = search_spool(tmp_path, part=10)
    (bad,) = tmp_path.glob("*.bad")
    assert b'"bad"' in bad.read_bytes() and b"tent" not in bad.read_bytes()
    assert not spool.has_pending() and list(tmp_path.glob("*.tried")) == []
    assert len(set(found)) == 2


def test_only_one_goes_through_it_at_a_time_and_others_can_note_meanwhile(spool: Spool[Event], tmp_path: Path) -> None:
    spool.note([searched("tent")])
    other = search_spool(tmp_path / "not" / "there yet")
    with spool.batches() as batches:
        assert drained(other) == []
        other.note([searched("stove")])
        assert [batch.events for batch in batches] == [(searched("tent"),)]
    assert len(drained(other)) == 2


def test_a_line_that_a_full_disk_cut_off_costs_only_itself(spool: Spool[Event], tmp_path: Path) -> None:
    spool.note([searched("tent")])
    with open(tmp_path / "not" / "there yet" / "current", "ab") as file:
        file.write(b'\n["searched",1,"to')
    spool.note([searched("stove")])
    assert drained(spool) == [searched("tent"), searched("stove")]


@pytest.mark.parametrize("value", [None, [], {}, 5, [*as_json(EVERYTHING)[:8]], ["sold", *as_json(EVERYTHING)[1:]]])
def test_what_is_no_event_is_passed_over(value: object) -> None:
    assert from_json(value) is None
    assert from_json(as_json(EVERYTHING)) == EVERYTHING


def older_spool(folder: Path, part: int = PART) -> Spool[Event]:
    """Return the spool of a release that knows no searches that were rephrased."""

    def is_unknown(value: object) -> bool:
        return is_of_unknown_version(value) or value[:1] == [EventKind.REPHRASED]

    def read(value: object) -> Event | None:
        return None if is_unknown(value) else from_json(value)

    return FileSpool(EventFormat("searches", as_json, read, is_of_unknown_version=is_unknown), folder, part)


def rephrased(word: str) -> Event:
    return Event(EventKind.REPHRASED, 1, word, DAY, next_word="tent")


def test_what_an_older_release_does_not_understand_is_left_to_a_newer_one(tmp_path: Path) -> None:
    newer, older = search_spool(tmp_path, part=150), older_spool(tmp_path, part=150)
    for number in range(5):
        newer.note([searched(f"tent {number}"), rephrased(f"yurt {number}")])
    assert [event.word for event in drained(older)] == [f"tent {number}" for number in range(5)]
    assert not older.has_pending() and drained(older) == []
    newer = search_spool(tmp_path)
    assert sorted(event.word for event in drained(newer)) == [f"yurt {number}" for number in range(5)]
    assert drained(search_spool(tmp_path)) == [] and [path.name for path in tmp_path.iterdir()] == ["lock"]


def test_a_batch_that_comes_again_leaves_its_lines_once(tmp_path: Path) -> None:
    search_spool(tmp_path).note([rephrased("yurt")])
    lines = (tmp_path / "current").read_bytes()
    for _ in range(2):
        older = older_spool(tmp_path)
        with older.batches() as batches:
            batch = next(batches)
            older.done(batch.id)
        (tmp_path / f"{batch.id.rpartition('-')[0]}.batch").write_bytes(lines)
    assert [path.read_bytes() for path in tmp_path.glob("*.later")] == [lines.lstrip()]


def test_what_no_newer_release_came_for_in_a_month_goes(tmp_path: Path) -> None:
    search_spool(tmp_path).note([rephrased("yurt")])
    drained(older_spool(tmp_path))
    (left,) = tmp_path.glob("*.later")
    os.utime(left, (0, 0))
    drained(older_spool(tmp_path))
    assert not left.exists()


def test_what_is_left_to_newer_releases_is_bounded(tmp_path: Path) -> None:
    many = [rephrased(f"{'yurt' * 20} {number}") for number in range(2_000)]
    for _ in range(25):
        search_spool(tmp_path).note(many)
        drained(older_spool(tmp_path))
    kept = sum(path.stat().st_size for path in tmp_path.iterdir())
    assert LARGEST_OF_LATER / 2 < kept <= LARGEST_OF_LATER


def test_the_first_readers_take_a_search_of_a_new_network_for_a_search() -> None:
    search = replace(searched("tent"), of_new_network=True)
    assert len(as_json(search)) == 9 and from_json(as_json(search)) == search
    assert not is_of_unknown_version(as_json(search)) and is_of_unknown_version(["sold", *as_json(search)[1:]])
    assert not any(map(is_of_unknown_version, (None, [], {}, 5, "sold", ["sold"])))


def test_a_folder_that_cannot_be_written_fails_nobody(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    spool = search_spool(tmp_path / "file" / "counting")
    spool.note([searched("tent")])
    spool.note([searched("tent")])
    assert not spool.has_pending()


def _note_many(folder: Path, name: str) -> None:
    spool = search_spool(folder)
    for number in range(300):
        spool.note([searched(f"{name} {number}")])


def test_many_processes_note_while_one_drains(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")  # A new interpreter would import the application first.
    writers = [context.Process(target=_note_many, args=(tmp_path, name)) for name in "abc"]
    for writer in writers:
        writer.start()
    spool, found = search_spool(tmp_path), []
    while any(writer.is_alive() for writer in writers):
        found += drained(spool)
    found += drained(spool)
    assert [writer.exitcode for writer in writers] == [0, 0, 0]
    assert Counter(event.word for event in found) == Counter(f"{n} {i}" for n in "abc" for i in range(300))
