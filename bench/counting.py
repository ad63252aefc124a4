"""What counting costs a search, and how fast what was noted gets into the database; the same, and rate limits, where
machines share them through Redis."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from flask import Flask

from app import create_app, ports
from app.adapters.clock import SystemClock
from app.adapters.null_engine import NullEngine
from app.adapters.queue import NoQueue
from app.adapters.redis.connection import RestingRedis
from app.adapters.redis.memory import RedisMemory
from app.adapters.redis.stream_spool import StreamSpool
from app.blueprints.storefront import attribution
from app.config import Config
from app.domain.search.listings.listing import ListingRequest
from app.domain.search_statistics.counting.events import Event, EventKind
from app.domain.search_statistics.counting.file_spool import search_spool
from app.domain.search_statistics.counting.spool import SEARCHES
from app.domain.shared.memory import MachineMemory
from app.domain.shared.rate_limit import Rate
from app.domain.sites.sites import create_site
from app.extensions import db
from app.jobs.search_statistics import drain
from app.operations.supervisor import embedded_redis
from app.ports import Ports
from app.transaction import transaction
from bench.measuring import (
    Yardstick,
    at_most,
    heading,
    median,
    milliseconds,
    percentile,
    run,
    seconds,
    sized,
    workspace,
)
from bench.yardsticks import bare_commit, bare_page

REQUESTS = 3_000
EVENTS = sized(50_000)
NOTE, SLOW_NOTE, IN_REQUEST, DRAINED, ALONE = 3, 8, 0.1, 0.3, 130
SHARED_NOTE, SHARED_LIMIT = 4, 4
WORDS = 5_000
HITS = [f"p{number}" for number in range(100_000, 100_024)]
AGENT = {"User-Agent": "Mozilla/5.0 (X11; Linux x86_64) Firefox/145.0"}


def main() -> None:
    with workspace() as directory:
        heading(f"Counting searches, {REQUESTS:,} requests, {EVENTS:,} events of {WORDS:,} words")
        _notes(directory)
        with _shop(directory) as app:
            _requests(app)
            _draining(app)
        with _redis(directory / "redis") as url:
            _sharing(directory, url)


def _notes(directory: Path) -> None:
    spool = search_spool(directory / "alone")

    def append(_: int) -> None:
        with (directory / "plain").open("ab") as file:
            file.write(b"x" * 200)

    times = milliseconds(lambda number: spool.note([_event(1, number)]), range(REQUESTS))
    plain = Yardstick("a line appended to a file", 1000 * median(milliseconds(append, range(REQUESTS))), "µs")
    at_most("one event noted, p50", 1000 * median(times), NOTE * plain)
    at_most("one event noted, p95", 1000 * percentile(times, 0.95), SLOW_NOTE * plain)


def _sharing(directory: Path, url: str) -> None:
    redis = RestingRedis(url, "a benchmark", 5)
    spool = StreamSpool(redis, "bench", SEARCHES, directory / "shared")
    memory = RedisMemory(redis, "bench", b"a secret", MachineMemory())
    now = datetime.now(UTC).timestamp()

    def append(_: int) -> None:
        with (directory / "plain").open("ab") as file:
            file.write(b"x" * 200)

    plain = Yardstick("a line appended to a file", 1000 * median(milliseconds(append, range(REQUESTS))), "µs")
    times = milliseconds(lambda number: spool.note([_event(1, number)]), range(REQUESTS))
    at_most("one event noted for all machines, p50", 1000 * median(times), SHARED_NOTE * plain)
    spool.close()
    pings = milliseconds(lambda _number: redis.run(lambda client: client.ping()), range(REQUESTS))
    ping = Yardstick("a ping of Redis", 1000 * median(pings), "µs")
    limits = milliseconds(lambda number: memory.take(f"network {number % 50}", Rate(60), now), range(REQUESTS))
    at_most("one rate limit checked for all machines, p50", 1000 * median(limits), SHARED_LIMIT * ping)


@contextmanager
def _redis(folder: Path) -> Iterator[str]:
    """A server without a disk, as rate limits need it."""
    folder.mkdir()
    server = embedded_redis.prepare(folder)
    server.part.command = [*server.part.command, "--appendonly", "no"]
    server.part.start()
    server.wait_until_it_answers()
    yield server.url
    server.stop(5)


def _requests(app: Flask) -> None:
    """The whole of it, as a view does it: the cookie read and checked, the rule, the cookie written, the note."""
    client_cookie = _search(app, "the first search", "")
    request = [f"word {number % 40}" for number in range(REQUESTS)]
    times = milliseconds(lambda words: _search(app, words, client_cookie), request)
    bare = milliseconds(lambda _words: _bare(app), request)
    at_most(
        "a search noted in a request, p50",
        1000 * (median(times) - median(bare)),
        IN_REQUEST * _microseconds(bare_page()),
    )


def _search(app: Flask, words: str, cookie: str) -> str:
    headers = AGENT | ({"Cookie": f"trail={cookie}"} if cookie else {})
    with app.test_request_context("/search", base_url="http://localhost", headers=headers):
        attribution.note_search(ListingRequest("/search", words=words), HITS, 24, ruled=False)
        answer = app.process_response(app.response_class())
    return answer.headers.get("Set-Cookie", "").partition("trail=")[2].partition(";")[0]


def _bare(app: Flask) -> None:
    with app.test_request_context("/search", base_url="http://localhost", headers=AGENT):
        attribution.current_shop()
        app.process_response(app.response_class())


def _draining(app: Flask) -> None:
    site_id = 1
    ports.counting().note([_event(site_id, number) for number in range(EVENTS)])
    took = seconds(drain)
    commit = bare_commit()
    at_most("events into the counts, each", 1_000_000 * took / EVENTS, DRAINED * _microseconds(commit))
    ports.counting().note([_event(site_id, 3)])
    at_most("one event into full counts", 1000 * seconds(drain), ALONE * commit)


def _microseconds(yardstick: Yardstick) -> Yardstick:
    return replace(yardstick, value=1000 * yardstick.value, unit="µs")


def _event(site_id: int, number: int) -> Event:
    return Event(EventKind.SEARCHED, site_id, f"word {number % WORDS}", datetime.now(UTC).date(), 24, True)


@contextmanager
def _shop(directory: Path) -> Iterator[Flask]:
    config = Config(
        secret_key="a key for benchmarks that is long enough",
        database_url=f"sqlite:///{directory / 'shop.db'}",
        index_dir=directory / "index",
        log_level="ERROR",
    )
    app = create_app(config, Ports(NullEngine(), SystemClock(), NoQueue()))
    with app.app_context():
        db.create_all()
        with transaction():
            create_site(SystemClock(), "localhost", "Bench")
        yield app
        db.session.remove()
        db.engine.dispose()


if __name__ == "__main__":
    run(main)
