"""Events of several machines wait in Redis, or at the machine while Redis is away, full or slow; none is lost, and none
counts twice."""

from __future__ import annotations

import multiprocessing
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime
from itertools import count
from pathlib import Path

import pytest
from redis import Redis

from app.adapters.redis.connection import RestingRedis
from app.adapters.redis.event_stream import Entry, EventStream
from app.adapters.redis.stream_spool import StreamSpool
from app.domain.search_statistics.counting.events import Event, EventKind
from app.domain.search_statistics.counting.file_spool import FileSpool
from app.domain.search_statistics.counting.spool import MOST_TRIES, SEARCHES
from app.operations.supervisor.embedded_redis import EmbeddedRedis
from tests.faults.proxy import proxied
from tests.redis_servers import running_redis
from tests.surroundings import ROOT
from tests.waiting import until

DAY = date(2026, 11, 20)
NOON = datetime(2026, 11, 20, 12, tzinfo=UTC).timestamp()
KEPT_DAYS = 7

shops = count()


def searched(word: str) -> Event:
    return Event(EventKind.SEARCHED, 1, word, DAY, 3, True)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[EmbeddedRedis]:
    with running_redis(tmp_path / "redis") as server:
        yield server


@pytest.fixture
def prefix() -> str:
    return f"streams-{next(shops)}"


def spool_at(url: str, folder: Path, prefix: str = "shop", timeout: float = 10) -> StreamSpool[Event]:
    return StreamSpool(RestingRedis(url, "counting", timeout, pause=0.1), prefix, SEARCHES, folder)


def stream_at(url: str, prefix: str, largest: int = 10_000, most: int = 10, now: float = NOON) -> EventStream:
    """A stream that keeps so many entries, and so many that are set aside."""
    return EventStream(RestingRedis(url, "counting", 10, pause=0.1), prefix, largest, most, most, lambda: now)


def drain(spool: StreamSpool[Event], counted: dict[str, list[str]]) -> None:
    """Count as the database does, which knows the ids of batches."""
    with spool.batches() as batches:
        for batch in batches:
            counted.setdefault(batch.id, [event.word for event in batch.events])
            spool.done(batch.id)


def words_of(counted: dict[str, list[str]]) -> Counter[str]:
    return Counter(word for words in list(counted.values()) for word in words)


def nothing_understood(_line: bytes) -> bool:
    return False


def entries_of(stream: EventStream) -> list[Entry]:
    with stream.entries(nothing_understood) as entries:
        return list(entries)


def test_a_redis_that_dies_and_comes_back_costs_no_event(server: EmbeddedRedis, tmp_path: Path) -> None:
    noting, counting = spool_at(server.url, tmp_path / "web"), spool_at(server.url, tmp_path / "worker")
    counted: dict[str, list[str]] = {}
    for number in range(300):
        if number == 100:
            drain(counting, counted)
            server.stop(5)
            assert not counting.has_pending()
        if number == 200:
            server.part.start()
            server.wait_until_it_answers()
        noting.note([searched(f"tent {number}")])
    everything = Counter(f"tent {number}" for number in range(300))

    def is_everything_counted() -> bool:
        drain(counting, counted)
        return words_of(counted) == everything

    until(is_everything_counted)
    noting.close()
    drain(counting, counted)
    assert words_of(counted) == everything


def test_while_redis_is_away_a_worker_of_the_same_machine_counts_from_its_file(tmp_path: Path) -> None:
    spool, counted = spool_at(f"unix://{tmp_path}/nobody", tmp_path / "web"), {}
    spool.note([searched("tent")])
    until(lambda: drain(spool, counted) or counted)
    assert words_of(counted) == Counter(["tent"]) and not spool.has_pending()
    spool.close()


def test_a_search_waits_for_no_redis_that_hangs(server: EmbeddedRedis, tmp_path: Path) -> None:
    with proxied(server.socket) as proxy:
        proxy.fault = "silent"
        spool = spool_at(f"redis://127.0.0.1:{proxy.port}", tmp_path / "web", timeout=2)
        began = time.monotonic()
        for number in range(100):
            spool.note([searched(f"tent {number}")])
        assert time.monotonic() - began < 2, "not even one timeout"
        spool.close()
    assert FileSpool(SEARCHES, tmp_path / "web").has_pending()


def test_what_a_killed_process_noted_is_sent_by_the_next(server: EmbeddedRedis, tmp_path: Path) -> None:
    """Its thread ended before it sent anything."""
    FileSpool(SEARCHES, tmp_path / "web").note([searched("tent")])
    next_process, counted = spool_at(server.url, tmp_path / "web"), {}
    next_process.note([searched("stove")])
    next_process.close()
    drain(spool_at(server.url, tmp_path / "worker"), counted)
    assert words_of(counted) == Counter(["tent", "stove"])


NOTE_AND_END = """
import sys
from pathlib import Path
from tests.adapters.test_redis_streams import searched, spool_at

spool_at(sys.argv[1], Path(sys.argv[2])).note([searched("tent")])
"""


def test_a_process_that_ends_sends_what_it_noted(server: EmbeddedRedis, tmp_path: Path) -> None:
    command = [sys.executable, "-c", NOTE_AND_END, server.url, str(tmp_path / "web")]
    subprocess.run(command, cwd=ROOT, check=True)
    assert not FileSpool(SEARCHES, tmp_path / "web").has_pending()
    assert spool_at(server.url, tmp_path / "worker").has_pending()


def test_a_search_at_one_machine_comes_before_its_click_at_another(server: EmbeddedRedis, tmp_path: Path) -> None:
    """Which is not sent yet; without its search it would count for nothing."""
    noting = spool_at(server.url, tmp_path / "one")
    noting.note([searched("tent")])
    noting.close()
    FileSpool(SEARCHES, tmp_path / "two").note([Event(EventKind.CLICKED, 1, "tent", DAY)])
    counting = spool_at(server.url, tmp_path / "two")
    with counting.batches() as batches:
        assert [event.kind for batch in batches for event in batch.events] == [EventKind.SEARCHED, EventKind.CLICKED]


def test_a_process_that_closed_its_spool_and_notes_again_sends_that_too(server: EmbeddedRedis, tmp_path: Path) -> None:
    spool, counted = spool_at(server.url, tmp_path / "web"), {}
    for word in ("tent", "stove"):
        spool.note([searched(word)])
        spool.close()
    drain(spool_at(server.url, tmp_path / "worker"), counted)
    assert words_of(counted) == Counter(["tent", "stove"])


def test_a_batch_whose_answer_was_lost_is_sent_again_and_appended_once(redis_url: str, prefix: str) -> None:
    stream = stream_at(redis_url, prefix)
    assert [stream.append("a", b"[1]\n"), stream.append("a", b"[1]\n"), stream.append("b", b"[2]\n")] == [True] * 3
    assert [entry.batch_id for entry in entries_of(stream)] == ["a", "b"]


def test_a_full_stream_takes_nothing_until_something_is_counted(redis_url: str, prefix: str) -> None:
    stream = stream_at(redis_url, prefix, largest=100)
    line = b"x" * 40 + b"\n"
    assert [stream.append(name, line) for name in "abc"] == [True, True, False]
    first, second = entries_of(stream)
    stream.remove(first, b"")
    assert stream.append("c", line) and not stream.append("d", line)
    for entry in entries_of(stream):
        stream.remove(entry, b"")
    stream.remove(second, b"")
    assert stream.append("larger than all that may wait, alone", line * 9)


def test_the_number_of_entries_is_bounded_too(redis_url: str, prefix: str) -> None:
    stream = stream_at(redis_url, prefix, most=2)
    assert [stream.append(name, b"[]\n") for name in "abc"] == [True, True, False]


def test_redis_does_not_learn_when_in_the_day_an_event_was(redis_url: str, prefix: str) -> None:
    stream = stream_at(redis_url, prefix)
    for name in "abc":
        stream.append(name, b"[]\n")
    assert [entry.id for entry in entries_of(stream)] == ["0-1", "0-2", "0-3"]


def test_a_worker_that_hangs_longer_than_its_lease_stops_and_takes_nothing_from_the_next(
    redis_url: str, prefix: str
) -> None:
    stream = stream_at(redis_url, prefix)
    for name in "abc":
        stream.append(name, b"[]\n")
    with stream.entries(nothing_understood) as late:
        first = next(late)
        Redis.from_url(redis_url).delete(f"{prefix}:lease")  # Its time is over.
        with stream.entries(nothing_understood) as entries:
            found = [next(entries), next(entries)]
            stream.remove(found[0], b"")
            assert list(late) == []
            stream.remove(first, b"[7]\n")
            assert [entry.batch_id for entry in (*found, *entries)] == ["a", "b", "c"]
    with stream.entries(lambda _line: True) as entries:
        assert [entry.batch_id for entry in entries] == ["b", "c"], "nor does it leave lines a second time"


def test_what_cannot_be_counted_is_kept_for_a_week_and_bounded(redis_url: str, prefix: str) -> None:
    redis = Redis.from_url(redis_url)
    for day, name in enumerate("abc"):
        stream = stream_at(redis_url, prefix, most=2, now=NOON + day * 86_400)
        stream.append(name, b"[1]\n")
        [entry] = entries_of(stream)
        for _ in range(MOST_TRIES + 1):
            stream.fail(entry)
    assert redis.hgetall(f"{prefix}:bad") == {b"2026-11-21 b": b"[1]\n", b"2026-11-22 c": b"[1]\n"}
    assert not stream.has_entries() and redis.hgetall(f"{prefix}:tries") == {}
    entries_of(stream_at(redis_url, prefix, now=NOON + (1 + KEPT_DAYS + 1) * 86_400))
    assert redis.hkeys(f"{prefix}:bad") == [b"2026-11-22 c"]


def test_what_no_newer_release_came_for_in_a_month_goes(redis_url: str, prefix: str) -> None:
    stream = stream_at(redis_url, prefix)
    stream.append("a", b"[1]\n")
    [entry] = entries_of(stream)
    stream.remove(entry, b"[1]\n")
    entries_of(stream_at(redis_url, prefix, now=NOON + 30 * 86_400))
    with stream_at(redis_url, prefix, now=NOON + 31 * 86_400).entries(lambda _line: True) as entries:
        assert list(entries) == []
    assert Redis.from_url(redis_url).hgetall(f"{prefix}:later") == {}


def _note_many(url: str, folder: Path, name: str) -> None:
    spool = spool_at(url, folder)
    for number in range(300):
        spool.note([searched(f"{name} {number}")])
    spool.close()


def test_processes_of_two_machines_note_while_two_drain(server: EmbeddedRedis, tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")  # A new interpreter would import the application first.
    folders = (tmp_path / "one", tmp_path / "one", tmp_path / "two")
    writers = [
        context.Process(target=_note_many, args=(server.url, folder, name))
        for folder, name in zip(folders, "abc", strict=True)
    ]
    for writer in writers:
        writer.start()
    counted: dict[str, list[str]] = {}
    everything = Counter(f"{name} {number}" for name in "abc" for number in range(300))

    def drain_on(folder: Path) -> None:
        spool = spool_at(server.url, folder)

        def is_everything_counted() -> bool:
            drain(spool, counted)
            return words_of(counted).total() >= everything.total()

        until(is_everything_counted)

    with ThreadPoolExecutor(2) as threads:
        list(threads.map(drain_on, (tmp_path / "one", tmp_path / "three")))
    for writer in writers:
        writer.join()
    assert [writer.exitcode for writer in writers] == [0, 0, 0]
    assert words_of(counted) == everything
