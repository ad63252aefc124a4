"""Web servers of two machines without a common disk, which share a database, a Redis and one for limits: each search
counts once, also where one machine is killed while it serves, and limits hold for both together."""

from __future__ import annotations

import http.client
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from urllib.parse import quote

import pytest
from flask import current_app
from sqlalchemy import select

from app.adapters.redis.connection import RestingRedis
from app.adapters.redis.stream_spool import StreamSpool
from app.domain.search_statistics.models import SearchWordDay
from app.extensions import db
from app.factory import erasure_lists, picture_storages
from app.jobs.search_statistics import drain, has_pending
from app.ports import STORES, stores_of
from tests.faults.browser import HOST
from tests.faults.shops import Shop
from tests.faults.web_process import WebProcess
from tests.processes import free_port
from tests.redis_servers import redis_without_disk
from tests.waiting import until

ATTEMPTS = 8
A_MINUTE = 60  # Searches of one network that count in a minute.


class Machine:
    """A machine with a folder of its own, on which a web server runs."""

    def __init__(self, shop: Shop, name: str, **settings: str) -> None:
        self._shop, self._settings = shop, settings | {"COUNTING_DIR": str(shop.folder / name)}
        self._process: subprocess.Popen[bytes] | None = None
        self.port = 0

    def start(self) -> None:
        running = WebProcess(free_port())
        self.port = running.port
        environment = self._shop.environment(PORT=str(self.port), **self._settings)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "app.web.server"], cwd=self._shop.folder, env=environment
        )
        until(running.answers, 60)

    def search(self, word: str, network: str) -> bool:
        """Search as a new shopper of a network; return whether the answer came."""
        headers = {
            "Host": HOST,
            "User-Agent": "Mozilla/5.0 (X11; Linux x86_64) Firefox/145.0",
            "X-Forwarded-For": network,
        }
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request("GET", f"/search?q={quote(word)}", headers=headers)
            answer = connection.getresponse()
            answer.read()
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()
        assert answer.status == 200
        return True

    def kill(self) -> None:
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def stop(self) -> None:
        assert self._process is not None
        self._process.terminate()
        assert self._process.wait(10) == 0


@pytest.fixture
def machines(shop: Shop, redis: object, tmp_path: Path) -> Iterator[tuple[Machine, Machine]]:
    with redis_without_disk(tmp_path / "limits") as limits:
        settings = {"COUNTING": "redis", "LIMITS_REDIS_URL": limits.url, "TRUSTED_PROXIES": "1"}
        both = Machine(shop, "one", **settings), Machine(shop, "two", **settings)
        for machine in both:
            machine.start()
        yield both
        for machine in both:
            machine.stop()


def counted(shop: Shop) -> dict[str, int]:
    """Count all that waits, on a third machine; return how often each word was searched."""
    assert shop.redis_url is not None
    redis = RestingRedis(shop.redis_url, "counting", 10, pause=0.1)
    spool = partial(StreamSpool, redis, shop.config.queue_prefix)
    with shop.opened():
        current_app.extensions[STORES] = stores_of(
            shop.config, lambda _error: False, picture_storages(shop.config), erasure_lists(shop.config), spool
        )
        until(lambda: drain() or not has_pending())
        db.session.rollback()
        return {word: number for word, number in db.session.execute(select(SearchWordDay.word, SearchWordDay.searches))}


def test_each_search_counts_once_though_a_machine_is_killed_while_it_serves(
    shop: Shop, machines: tuple[Machine, Machine]
) -> None:
    one, two = machines

    def search(number: int) -> bool:
        if number == 60:
            one.kill()
        return (one, two)[number % 2].search(f"name {number}", f"203.0.113.{number}")

    with ThreadPoolExecutor(4) as shoppers:
        answered = {f"name {number}" for number, came in enumerate(shoppers.map(search, range(120))) if came}
    assert 60 <= len(answered) < 120
    one.start()
    assert one.search("the first after it", "198.51.100.1")  # With it goes what the killed process had not sent.
    answered.add("the first after it")
    seen: dict[str, int] = {}
    until(lambda: seen.update(counted(shop)) or answered <= set(seen))
    seen = counted(shop)
    assert set(seen.values()) == {1}
    assert answered <= set(seen) <= {f"name {number}" for number in range(120)} | {"the first after it"}


def test_machines_limit_a_network_together(shop: Shop, machines: tuple[Machine, Machine]) -> None:
    """A machine that is too busy for an answer in time limits alone for some seconds, so it may take several networks
    to see it; machines that share nothing would let each of them search 80 times."""
    found: list[int] = []
    for attempt in range(ATTEMPTS):
        word, last = f"tent {attempt}", f"stove {attempt}"
        for number in range(A_MINUTE + 20):
            assert machines[number % 2].search(word, f"203.0.113.{attempt}")
        for machine in machines:
            assert machine.search(last, f"198.51.100.{attempt}")
        seen: dict[str, int] = {}
        until(lambda seen=seen, last=last: seen.update(counted(shop)) or seen.get(last) == 2)
        found.append(seen[word])
        if found[-1] == A_MINUTE:
            break
    assert found[-1] == A_MINUTE and min(found) >= A_MINUTE, found
