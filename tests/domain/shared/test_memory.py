"""Requests and shoppers are counted once for all processes of a machine, and nothing of it is ever on a disk. What
every memory promises is in tests/contracts/test_shared_memories.py."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from app.config import MEMORY_NAME
from app.domain.shared.memory import MachineMemory, RunningCount, Span
from app.domain.shared.rate_limit import Rate

NOW = 1_800_000_000.0
NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
TODAY = Span(NOON.date())


@pytest.fixture
def descriptor() -> Iterator[int]:
    made = os.memfd_create(MEMORY_NAME)
    yield made
    os.close(made)


def admitted(memory: MachineMemory, key: str, tries: int, rate: Rate) -> int:
    return sum(memory.take(key, rate, NOW) == 0 for _ in range(tries))


def test_processes_and_threads_count_together(descriptor: int) -> None:
    """Each process inherits the descriptor and maps the memory by itself, as those of the web server do."""
    children = []
    for _ in range(2):
        reading, writing = os.pipe()
        if (child := os.fork()) == 0:
            os.write(writing, bytes([admitted_in_threads(descriptor)]))
            os._exit(0)
        os.close(writing)
        children.append((child, reading))
    counted = [os.read(reading, 1)[0] for _, reading in children]
    for child, reading in children:
        os.waitpid(child, 0)
        os.close(reading)
    assert sum(counted) == 80


def admitted_in_threads(descriptor: int) -> int:
    memory = MachineMemory(descriptor)
    with ThreadPoolExecutor(4) as threads:
        return sum(threads.map(lambda tries: admitted(memory, "key", tries, Rate(80)), [25] * 4))


def test_a_process_that_is_started_again_goes_on_counting(descriptor: int) -> None:
    assert admitted(MachineMemory(descriptor), "key", 2, Rate(2)) == 2
    assert MachineMemory(descriptor).take("key", Rate(2), NOW + 1) == 59
    assert MachineMemory(descriptor).add(TODAY, "tent", NOON) == RunningCount(1)
    assert MachineMemory(descriptor).add(TODAY, "tent", NOON) == RunningCount(2)


def test_a_full_set_forgets_the_window_that_ends_first() -> None:
    small = MachineMemory(sets_of_rates=1)
    for number in range(8):
        assert small.take(f"key {number}", Rate(1), NOW + number) == 0
    assert small.take("another", Rate(1), NOW + 9) == 0
    assert small.take("key 7", Rate(1), NOW + 9) > 0, "still known"
    assert small.take("key 0", Rate(1), NOW + 9) == 0, "forgotten"


def test_what_is_remembered_for_days_displaces_no_rate_limit() -> None:
    memory = MachineMemory(sets_of_rates=1, sets_of_spans=1)
    assert memory.take("key", Rate(1), NOON.timestamp()) == 0
    for number in range(100):
        memory.add(TODAY, f"network {number}", NOON)
    assert memory.take("key", Rate(1), NOON.timestamp() + 1) > 0


def test_a_number_that_is_no_memory_is_not_touched(tmp_path: Path) -> None:
    """A program that a web server starts has the variable and not the descriptor, or another file by its number."""
    file = os.open(tmp_path / "file", os.O_RDWR | os.O_CREAT)
    for number in (file, 999):
        assert admitted(MachineMemory(number), "key", 3, Rate(2)) == 2
    os.close(file)
    assert (tmp_path / "file").read_bytes() == b""


def test_a_memory_that_another_release_laid_out_is_left_alone(descriptor: int) -> None:
    os.ftruncate(descriptor, 4096)
    assert admitted(MachineMemory(descriptor), "key", 3, Rate(2)) == 2
    assert os.fstat(descriptor).st_size == 4096 and not any(os.pread(descriptor, 4096, 0))


def test_once_a_day_is_over_nobody_can_ask_for_it_not_even_with_the_memory_and_the_clock_set_back(
    descriptor: int,
) -> None:
    memory = MachineMemory(descriptor)
    memory.add(TODAY, "network 203.0.113.7 searched kettle", NOON)
    memory.add(Span(NOON.date() + timedelta(days=2)), "anything", NOON + timedelta(days=2))
    assert memory.add(TODAY, "network 203.0.113.7 searched kettle", NOON) == RunningCount(1), "its key is overwritten"


def test_the_same_is_hashed_otherwise_in_each_memory_and_on_each_day(descriptor: int) -> None:
    """Without the random key of the day, which only the memory has, a hash answers no question."""
    memory, other = MachineMemory(descriptor), os.memfd_create(MEMORY_NAME)
    memory.add(TODAY, "203.0.113.7 kettle", NOON)
    MachineMemory(other).add(TODAY, "203.0.113.7 kettle", NOON)
    first, second = (os.pread(one, os.fstat(one).st_size, 0) for one in (descriptor, other))
    os.close(other)
    assert first != second and b"203.0.113" not in first and b"kettle" not in first


def test_what_a_clock_that_was_ahead_counted_gives_way() -> None:
    memory, ahead = MachineMemory(sets_of_rates=1, sets_of_spans=1), NOON + timedelta(days=400)
    for number in range(8):
        memory.add(Span(ahead.date()), f"key {number}", ahead)
        memory.take(f"key {number}", Rate(1), ahead.timestamp())
    for _ in range(3):
        for number in range(4):
            memory.add(TODAY, f"key {number}", NOON)
    assert memory.add(TODAY, "key 0", NOON) == RunningCount(4)
    assert [memory.take(key, Rate(1), NOON.timestamp()) for key in "aba"] == [0, 0, 60]


def test_the_key_of_yesterday_is_overwritten_by_any_request(descriptor: int) -> None:
    memory = MachineMemory(descriptor)
    memory.add(TODAY, "203.0.113.7 kettle", NOON)
    keys = os.pread(descriptor, 640, 0)
    memory.take("any request", Rate(1), (NOON + timedelta(days=2)).timestamp())
    assert not any(key in os.pread(descriptor, 640, 0) for key in (keys[8:40], keys[-32:]) if any(key))
