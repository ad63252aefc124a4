"""What every spool promises: that of one machine, which is a file, and the streams in Redis, where one machine notes
and another counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.adapters.redis.connection import RestingRedis
from app.adapters.redis.stream_spool import StreamSpool
from app.domain.search_statistics.counting.events import Event, EventKind
from app.domain.search_statistics.counting.file_spool import FileSpool
from app.domain.search_statistics.counting.spool import (
    LARGEST_OF_LATER,
    MOST_TRIES,
    SEARCHES,
    EventFormat,
    Spool,
)
from tests.waiting import until

DAY = date(2026, 11, 20)
EVERYTHING = Event(EventKind.ORDERED, 3, "ten\u2028t “für” 👪", date(2026, 11, 19), 4, True, True, 12_345)

shops = count()


def searched(word: str) -> Event:
    return Event(EventKind.SEARCHED, 1, word, DAY, 3, True)


def rephrased(word: str) -> Event:
    return Event(EventKind.REPHRASED, 1, word, DAY, next_word="tent")


def _is_unknown(value: object) -> bool:
    return SEARCHES.is_of_unknown_version(value) or (isinstance(value, list) and value[:1] == [EventKind.REPHRASED])


def _read(value: object) -> Event | None:
    return None if _is_unknown(value) else SEARCHES.read(value)


OLDER: EventFormat[Event] = replace(SEARCHES, read=_read, is_of_unknown_version=_is_unknown)
"""That of a release that knows no searches that were rephrased."""


@dataclass
class Machines:
    """The machines of a shop, or the one. `spool_at` makes the spool of a process at a machine of some number."""

    spool_at: Callable[[int, EventFormat[Event]], Spool[Event]]
    made: list[Spool[Event]] = field(default_factory=list)
    closers: list[Callable[[], None]] = field(default_factory=list)

    def spool(self, machine: int, format: EventFormat[Event] = SEARCHES) -> Spool[Event]:
        spool = self.spool_at(machine, format)
        if isinstance(spool, StreamSpool):
            self.closers.append(spool.close)
        return spool

    def close(self) -> None:
        for close in self.closers:
            close()


def one_machine(folder: Path, _redis_url: str) -> Machines:
    return Machines(lambda _machine, format: FileSpool(format, folder / "counting"))


def machines_with_redis(folder: Path, redis_url: str) -> Machines:
    prefix = f"shop-{next(shops)}"
    redis = RestingRedis(redis_url, "counting", 10, pause=0.1)
    return Machines(lambda machine, format: StreamSpool(redis, prefix, format, folder / str(machine)))


MAKERS = {"file": one_machine, "streams": machines_with_redis}
NOTING, COUNTING, THIRD = 1, 2, 3


@pytest.fixture(params=list(MAKERS))
def maker(request: pytest.FixtureRequest) -> Callable[[Path, str], Machines]:
    return MAKERS[request.param]


@pytest.fixture
def machines(maker: Callable[[Path, str], Machines], tmp_path: Path, redis_url: str) -> Iterator[Machines]:
    made = maker(tmp_path, redis_url)
    yield made
    made.close()


@pytest.fixture
def noting(machines: Machines) -> Spool[Event]:
    return machines.spool(NOTING)


@pytest.fixture
def counting(machines: Machines) -> Spool[Event]:
    return machines.spool(COUNTING)


def note(noting: Spool[Event], events: Sequence[Event], folder: Path) -> None:
    """Note events and wait until every machine can count them."""
    noting.note(events)
    if isinstance(noting, StreamSpool):
        sent = FileSpool(SEARCHES, folder / str(NOTING))
        until(lambda: not sent.has_pending())


def drained(spool: Spool[Event]) -> list[Event]:
    found: list[Event] = []
    with spool.batches() as batches:
        for batch in batches:
            found += batch.events
            spool.done(batch.id)
    return found


def test_what_was_noted_comes_out_once_and_in_order(
    noting: Spool[Event], counting: Spool[Event], tmp_path: Path
) -> None:
    events = [EVERYTHING, searched("tent"), searched("stove")]
    assert not counting.has_pending()
    note(noting, events[:2], tmp_path)
    note(noting, events[2:], tmp_path)
    note(noting, [], tmp_path)
    assert counting.has_pending()
    assert drained(counting) == events
    assert not counting.has_pending() and drained(counting) == []


def test_a_batch_that_was_not_done_comes_again_under_its_name_before_newer_ones(
    machines: Machines, noting: Spool[Event], counting: Spool[Event], tmp_path: Path
) -> None:
    note(noting, [searched("tent")], tmp_path)
    with counting.batches() as batches:
        first = next(batches)
    note(noting, [searched("stove")], tmp_path)
    other = machines.spool(THIRD)
    with other.batches() as batches:
        again = next(batches)
        other.done(again.id)
        newer = next(batches)
        other.done(newer.id)
    assert again == first and newer.events == (searched("stove"),)
    assert not counting.has_pending()


def test_only_one_goes_through_it_at_a_time_and_others_can_note_meanwhile(
    machines: Machines, noting: Spool[Event], counting: Spool[Event], tmp_path: Path
) -> None:
    note(noting, [searched("tent")], tmp_path)
    other = machines.spool(THIRD)
    with counting.batches() as batches:
        assert drained(other) == []
        machines.spool(NOTING).note([searched("stove")])
        assert next(batches).events == (searched("tent"),)
    found: list[str] = []

    def are_both_there() -> bool:
        found.extend(event.word for event in drained(other))
        return len(found) == 2

    until(are_both_there)
    assert sorted(found) == ["stove", "tent"]


def test_a_batch_that_fails_again_and_again_is_set_aside_and_the_others_go_on(
    machines: Machines, noting: Spool[Event], counting: Spool[Event], tmp_path: Path
) -> None:
    note(noting, [searched("bad")], tmp_path)
    deliveries, found = 0, []
    for _ in range(MOST_TRIES + 1):
        with counting.batches() as batches:
            for batch in batches:
                if [event.word for event in batch.events] == ["bad"]:
                    deliveries += 1
                    counting.failed(batch.id)
                else:
                    found += batch.events
                    counting.done(batch.id)
        note(noting, [searched("tent")], tmp_path)
        counting = machines.spool(COUNTING)
    found += drained(counting)
    assert deliveries == MOST_TRIES and found == [searched("tent")] * (MOST_TRIES + 1)
    assert not counting.has_pending()


def test_what_an_older_release_does_not_understand_is_left_to_a_newer_one(
    machines: Machines, noting: Spool[Event], tmp_path: Path
) -> None:
    older = machines.spool(COUNTING, OLDER)
    for number in range(5):
        note(noting, [searched(f"tent {number}"), rephrased(f"yurt {number}")], tmp_path)
    assert [event.word for event in drained(older)] == [f"tent {number}" for number in range(5)]
    assert not older.has_pending() and drained(older) == []
    newer = machines.spool(THIRD)
    assert sorted(event.word for event in drained(newer)) == [f"yurt {number}" for number in range(5)]
    assert drained(machines.spool(THIRD)) == [] and not newer.has_pending()


def test_what_is_left_to_newer_releases_is_bounded(machines: Machines, noting: Spool[Event], tmp_path: Path) -> None:
    many = [rephrased(f"{'yurt' * 20} {number}") for number in range(5_000)]
    line = len(str(SEARCHES.write(many[0])))
    for _ in range(9):
        note(noting, many, tmp_path)
        drained(machines.spool(COUNTING, OLDER))
    kept = line * len(drained(machines.spool(COUNTING)))
    assert LARGEST_OF_LATER / 2 < kept < 1.1 * LARGEST_OF_LATER < line * len(many) * 9


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("note"), st.integers(1, 3), st.integers(1, 4)),
        st.tuples(
            st.just("drain"), st.integers(1, 3), st.sampled_from(["all", "dies before", "dies after", "fails once"])
        ),
    ),
    max_size=12,
)


@given(steps=STEPS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whoever_notes_and_whoever_dies_each_event_counts_once(
    maker: Callable[[Path, str], Machines],
    steps: list[tuple[str, int, int | str]],
    redis_url: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    machines = maker(tmp_path_factory.mktemp("machines"), redis_url)
    database = _Database()
    numbers = count()
    for _step, machine, detail in steps:
        if isinstance(detail, int):
            machines.spool(machine).note([searched(f"tent {next(numbers)}") for _ in range(detail)])
        else:
            database.drain(machines.spool(machine), detail)
    spools = [machines.spool(machine) for machine in (1, 2, 3)]
    for spool in spools:
        spool.note([searched("the last")])

    def are_empty() -> bool:
        for spool in spools:
            database.drain(spool, "all")
        return not any(spool.has_pending() for spool in spools)

    until(are_empty)
    machines.close()
    words = Counter(f"tent {number}" for number in range(next(numbers)))
    assert database.counted == words + Counter({"the last": 3})


class _Database:
    """Counts a batch in one transaction with its id, as the real one does."""

    def __init__(self) -> None:
        self.batches: set[str] = set()
        self.failed: set[str] = set()
        self.counted: Counter[str] = Counter()

    def drain(self, spool: Spool[Event], how: str) -> None:
        with spool.batches() as batches:
            for batch in batches:
                if how == "dies before":
                    return
                if how == "fails once" and batch.id not in self.failed:
                    self.failed.add(batch.id)
                    spool.failed(batch.id)
                    continue
                if batch.id not in self.batches:
                    self.batches.add(batch.id)
                    self.counted.update(event.word for event in batch.events)
                if how == "dies after":
                    return
                spool.done(batch.id)
