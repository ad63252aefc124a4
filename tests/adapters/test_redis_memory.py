"""Machines count together in a Redis without a disk, in which nobody can read who did what, and each counts alone while
it is away."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

import pytest
from redis import Redis
from structlog.typing import EventDict

from app.adapters.redis.connection import PAUSE, RestingRedis
from app.adapters.redis.memory import TIMEOUT, RedisMemory
from app.domain.shared.memory import MachineMemory, RunningCount, Span
from app.domain.shared.rate_limit import Rate
from app.operations.supervisor.embedded_redis import EmbeddedRedis
from tests.fakes.clock import StoppedClock
from tests.faults.proxy import proxied
from tests.redis_servers import redis_without_disk, running_redis

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
NOW = NOON.timestamp()
TODAY = Span(NOON.date())
SECRET = b"a secret of the shop"

shops = count()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[EmbeddedRedis]:
    with redis_without_disk(tmp_path / "redis") as server:
        yield server


@pytest.fixture
def stored(server: EmbeddedRedis) -> Redis:
    """What lies in the server."""
    return Redis.from_url(server.url)


class Machine:
    """A machine of a shop, with its own memory. Its timeout is long unless a test is about it."""

    def __init__(self, url: str, secret: bytes = SECRET, shop: str = "shop", timeout: float = 10) -> None:
        self.clock = StoppedClock()
        redis = RestingRedis(url, "rate limits", timeout, monotonic=self.clock.monotonic)
        self.memory = RedisMemory(redis, shop, secret, MachineMemory())

    def admitted(self, tries: int, rate: Rate, now: float = NOW) -> int:
        return sum(self.memory.take("searches:address:203.0.113.7", rate, now) == 0 for _ in range(tries))


def all_that_is_stored(stored: Redis) -> bytes:
    keys = sorted(stored.keys("*"))
    return b"".join(key + b"".join(b"%b%b" % pair for pair in sorted(stored.hgetall(key).items())) for key in keys)


def test_machines_share_a_limit_and_a_count(server: EmbeddedRedis) -> None:
    first, second = Machine(server.url), Machine(server.url)
    assert (first.admitted(2, Rate(3)), second.admitted(2, Rate(3))) == (2, 1)
    assert second.memory.take("searches:address:203.0.113.7", Rate(3), NOW + 20) == 40
    assert first.memory.add(TODAY, "tent", NOON, 100) == RunningCount(1, 100)
    assert second.memory.add(TODAY, "tent", NOON, 163) == RunningCount(2, 263)
    assert first.memory.check() is None


def test_machines_that_count_at_the_same_moment_admit_no_more_than_the_limit(server: EmbeddedRedis) -> None:
    """All begin without the key of the day."""
    with ThreadPoolExecutor(8) as threads:
        admitted = threads.map(lambda _: Machine(server.url).admitted(25, Rate(80)), range(8))
        assert sum(admitted) == 80


def test_shops_that_share_a_server_share_nothing_else(server: EmbeddedRedis) -> None:
    assert Machine(server.url, shop="one").admitted(1, Rate(1)) == 1
    assert Machine(server.url, shop="other").admitted(1, Rate(1)) == 1


def test_nothing_that_names_anybody_is_in_redis(server: EmbeddedRedis, stored: Redis) -> None:
    machine = Machine(server.url)
    machine.admitted(1, Rate(1))
    machine.memory.add(TODAY, "203.0.113.7 kettle", NOON)
    found = all_that_is_stored(stored)
    assert b"shop" in found and not any(part in found for part in (b"203.0.113", b"kettle", b"searches"))


def test_the_same_is_hashed_otherwise_with_another_secret_and_on_another_day(
    server: EmbeddedRedis, stored: Redis
) -> None:
    """So who reads Redis and not the shop's secret cannot try addresses, nor who has the secret and not the key."""

    def names_after(memory: RedisMemory, moment: datetime) -> set[bytes]:
        before = set(stored.keys("*"))
        memory.add(Span(moment.date()), "203.0.113.7 kettle", moment)
        return {name for name in set(stored.keys("*")) - before if b":key:" not in name}

    first, other_secret = Machine(server.url).memory, Machine(server.url, secret=b"another").memory
    assert len(names_after(first, NOON)) == 1 and names_after(first, NOON) == set()
    assert len(names_after(other_secret, NOON)) == 1
    assert len(names_after(first, NOON + timedelta(days=1))) == 1


def test_the_first_request_after_a_day_removes_its_key(server: EmbeddedRedis, stored: Redis) -> None:
    machine = Machine(server.url)
    machine.memory.add(TODAY, "203.0.113.7 kettle", NOON)
    key = stored.hget("shop-memory:key:2026-11-20:1", "key")
    assert key is not None and len(key) == 32
    machine.admitted(1, Rate(1), (NOON + timedelta(days=2)).timestamp())
    assert stored.exists("shop-memory:key:2026-11-20:1") == 0 and key not in all_that_is_stored(stored)


def test_everything_in_redis_ends_by_itself(server: EmbeddedRedis, stored: Redis) -> None:
    """Even where no request comes after its time."""
    machine = Machine(server.url)
    machine.admitted(3, Rate(2))
    machine.memory.add(TODAY, "tent", NOON)
    lasts = {name: stored.pttl(name) / 1000 for name in stored.keys("*")}
    assert len(lasts) == 3 and max(lasts.values()) <= 36 * 3600, "to midnight of the day after, UTC"
    assert sorted(lasts.values())[0] <= 60 and min(lasts.values()) > 0


def test_a_redis_that_was_emptied_is_shared_again_with_what_machines_knew(server: EmbeddedRedis, stored: Redis) -> None:
    first, second = Machine(server.url), Machine(server.url)
    assert (first.admitted(2, Rate(2)), second.admitted(1, Rate(2))) == (2, 0)
    stored.flushall()
    assert (second.admitted(1, Rate(2)), first.admitted(2, Rate(2)), second.admitted(1, Rate(2))) == (1, 1, 0)


def test_while_redis_is_away_each_machine_limits_alone_and_afterwards_all_together(
    server: EmbeddedRedis, log_lines: list[EventDict]
) -> None:
    first, second = Machine(server.url), Machine(server.url)
    assert (first.admitted(1, Rate(2)), second.admitted(1, Rate(2))) == (1, 1)
    process = server.part.process
    assert process is not None
    process.kill()
    process.wait()
    assert (first.admitted(5, Rate(2)), second.admitted(5, Rate(2))) == (2, 2), "neither refused nor unlimited"
    assert first.memory.add(TODAY, "tent", NOON) == RunningCount(1)
    with pytest.raises(OSError):
        first.memory.check()
    server.part.start()
    server.wait_until_it_answers()
    for machine in (first, second):
        machine.clock.move(seconds=PAUSE)
    assert (first.admitted(1, Rate(2)), second.admitted(2, Rate(2))) == (1, 1)
    assert [(line["event"], line["purpose"]) for line in log_lines] == [("redis_does_not_serve", "rate limits")] * 2


def test_a_redis_that_hangs_costs_a_request_one_short_wait(server: EmbeddedRedis) -> None:
    with proxied(server.socket) as proxy:
        machine = Machine(f"redis://127.0.0.1:{proxy.port}", timeout=TIMEOUT)
        proxy.fault = "silent"
        began = time.monotonic()
        assert machine.admitted(200, Rate(3)) == 3
        assert time.monotonic() - began < 100 * TIMEOUT, "one timeout, not two hundred"


@pytest.mark.parametrize("options", [("--appendonly", "yes"), ("--appendonly", "no", "--save", "3600 1")])
def test_a_redis_that_writes_to_a_disk_is_refused_before_anything_is_in_it(
    tmp_path: Path, options: tuple[str, ...]
) -> None:
    with running_redis(tmp_path / "redis", *options) as server:
        machine = Machine(server.url)
        assert machine.admitted(3, Rate(2)) == 2, "in the memory of the machine"
        assert machine.memory.add(TODAY, "tent", NOON) == RunningCount(1)
        with pytest.raises(OSError, match="LIMITS_REDIS_URL with --save '' --appendonly no"):
            machine.memory.check()
        assert Redis.from_url(server.url).keys("*") == []
