"""What every memory promises that the processes of a shop share: that of one machine, that in Redis, and the latter
while Redis is away."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.adapters.redis.connection import RestingRedis
from app.adapters.redis.memory import RedisMemory
from app.domain.shared.memory import WEEK, MachineMemory, RunningCount, SharedMemory, Span, week_of
from app.domain.shared.rate_limit import Rate, Window, admit
from tests.redis_servers import redis_without_disk

NOW = 1_800_000_000.0
NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
TODAY = Span(NOON.date())
SECRET = b"a secret of the shop"
MakeMemory = Callable[[], SharedMemory]

shops = count()


@pytest.fixture(scope="module")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with redis_without_disk(tmp_path_factory.mktemp("memory")) as server:
        yield server.url


def memory_in(url: str) -> RedisMemory:
    """That of a shop of its own, with much time for an answer: a busy machine is no fault."""
    return RedisMemory(RestingRedis(url, "rate limits", 10), f"shop-{next(shops)}", SECRET, MachineMemory())


@pytest.fixture(params=["machine", "redis", "redis away"])
def make_memory(request: pytest.FixtureRequest, redis_url: str, tmp_path: Path) -> MakeMemory:
    makers: dict[str, MakeMemory] = {
        "machine": MachineMemory,
        "redis": lambda: memory_in(redis_url),
        "redis away": lambda: memory_in(f"unix://{tmp_path}/nobody"),
    }
    return makers[request.param]


@pytest.fixture
def memory(make_memory: MakeMemory) -> SharedMemory:
    return make_memory()


def admitted(memory: SharedMemory, key: str, tries: int, rate: Rate) -> int:
    return sum(memory.take(key, rate, NOW) == 0 for _ in range(tries))


def test_each_key_has_a_window_of_its_own(memory: SharedMemory) -> None:
    assert admitted(memory, "pos_create:user:1:1", 5, Rate(3)) == 3
    assert admitted(memory, "pos_create:user:1:2", 5, Rate(3)) == 3
    assert admitted(memory, "pos_read:user:1:1", 5, Rate(4)) == 4
    assert memory.take("pos_create:user:1:1", Rate(3), NOW + 20) == 40
    assert memory.take("pos_create:user:1:1", Rate(3), NOW + 60) == 0


def test_who_only_looks_takes_nothing(memory: SharedMemory) -> None:
    assert [memory.take("key", Rate(1), NOW, counted) for counted in (0, 0, 1, 0, 1)] == [0, 0, 0, 60, 60]


def test_threads_count_together(memory: SharedMemory) -> None:
    with ThreadPoolExecutor(4) as threads:
        assert sum(threads.map(lambda tries: admitted(memory, "key", tries, Rate(80)), [25] * 4)) == 80


def test_counts_and_weights_of_a_span_add_up_and_spans_are_apart(memory: SharedMemory) -> None:
    assert memory.add(TODAY, "tent", NOON, 100) == RunningCount(1, 100)
    assert memory.add(TODAY, "tent", NOON, 163) == RunningCount(2, 263)
    assert memory.add(TODAY, "stove", NOON) == RunningCount(1)
    assert memory.add(Span(NOON.date() - timedelta(days=1)), "tent", NOON) == RunningCount(1)
    assert memory.add(Span(week_of(NOON.date()), WEEK), "tent", NOON) == RunningCount(1)


def test_a_rate_limit_and_a_count_of_the_same_name_are_apart(memory: SharedMemory) -> None:
    assert memory.add(TODAY, "tent", NOON) == RunningCount(1)
    assert memory.take("tent", Rate(1), NOON.timestamp()) == 0
    assert memory.add(TODAY, "tent", NOON) == RunningCount(2)


def test_a_day_is_remembered_as_long_as_it_lasts_anywhere_on_earth(memory: SharedMemory) -> None:
    day = Span(date(2026, 11, 20))
    in_kiribati = datetime(2026, 11, 19, 10, 30, tzinfo=UTC)
    on_baker_island = datetime(2026, 11, 21, 11, 30, tzinfo=UTC)
    assert memory.add(day, "network", in_kiribati) == RunningCount(1)
    assert memory.add(day, "network", on_baker_island) == RunningCount(2)
    assert memory.add(day, "network", datetime(2026, 11, 22, tzinfo=UTC)) is None


def test_once_a_day_is_over_nobody_can_ask_for_it_not_even_with_the_clock_set_back(memory: SharedMemory) -> None:
    memory.add(TODAY, "network 203.0.113.7 searched kettle", NOON)
    memory.add(Span(NOON.date() + timedelta(days=2)), "anything", NOON + timedelta(days=2))
    assert memory.add(TODAY, "network 203.0.113.7 searched kettle", NOON) == RunningCount(1), "its key is gone"


def test_a_name_that_no_text_should_have_is_counted(memory: SharedMemory) -> None:
    assert memory.add(TODAY, "\ud800 \0 “für”", NOON) == RunningCount(1)
    assert memory.add(TODAY, "\ud800 \0 “für”", NOON) == RunningCount(2)


@given(
    moments=st.lists(st.floats(-90, 90, allow_nan=False), max_size=15),
    most=st.integers(1, 4),
    seconds=st.sampled_from([1, 20, 60]),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_window_opens_admits_and_closes_by_the_one_rule(
    make_memory: MakeMemory, moments: list[float], most: int, seconds: int
) -> None:
    memory, rate, window = make_memory(), Rate(most, seconds), Window()
    for moment in moments:
        window, expected = admit(window, rate, NOON.timestamp() + moment)
        assert memory.take("key", rate, NOON.timestamp() + moment) == expected


@given(steps=st.lists(st.tuples(st.integers(0, 400), st.integers(-3, 3), st.booleans()), max_size=20))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_the_clock_says_a_span_counts_up_or_is_not_remembered(
    make_memory: MakeMemory, steps: list[tuple[int, int, bool]]
) -> None:
    memory = make_memory()
    for ahead, off, is_week in steps:
        now = NOON + timedelta(days=ahead)
        day = now.date() + timedelta(days=off)
        span = Span(week_of(day), WEEK) if is_week else Span(day)
        counted = memory.add(span, "key", now)
        assert (counted is None) == (not span.is_remembered(now.date()))
        if counted is not None:
            assert memory.add(span, "key", now) == RunningCount(counted.count + 1)
