"""What waits in Redis is counted exactly once, whichever machine noted it, whichever counts it, and whoever dies
meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest
from flask import Flask
from redis import Redis
from sqlalchemy import func, select

from app.adapters.redis.connection import RestingRedis
from app.adapters.redis.stream_spool import StreamSpool
from app.config import Config
from app.domain.search_statistics.counting.daily_counts import SuggestionsShown
from app.domain.search_statistics.counting.events import Event, EventKind
from app.domain.search_statistics.counting.spool import MOST_TRIES
from app.domain.search_statistics.models import CountedBatch, SearchDay, SuggestionDay
from app.domain.seo.crawlers import CrawlerVisit
from app.domain.seo.models import CrawlerHits
from app.extensions import db
from app.factory import erasure_lists, picture_storages
from app.jobs.search_statistics import drain, has_pending
from app.ports import STORES, Stores, counting, stores_of
from app.transaction import transaction
from tests.counted_searches import count_batch
from tests.factories import make_site
from tests.fakes.clock import StoppedClock
from tests.waiting import until, wait_until_one_waits

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
DAY = NOW.date()

MakeMachine = Callable[[str], Stores]


@pytest.fixture
def prefix(tmp_path: Path) -> str:
    return f"counting-{tmp_path.name}"


@pytest.fixture
def machine(app: Flask, redis_url: str, prefix: str, tmp_path: Path) -> Iterator[MakeMachine]:
    """Makes the stores of machines without a common disk."""
    config: Config = app.config["SHOP"]
    made: list[Stores] = []

    def make(name: str) -> Stores:
        own = replace(config, counting_dir=tmp_path / name)
        redis = RestingRedis(redis_url, "counting", 10, pause=0.1)
        made.append(
            stores_of(
                own,
                lambda _error: False,
                picture_storages(own),
                erasure_lists(own),
                partial(StreamSpool, redis, prefix),
            )
        )
        return made[-1]

    yield make
    for stores in made:
        for spool in (stores.counting, stores.suggestions_shown, stores.crawler_visits, stores.redirect_hits):
            assert isinstance(spool, StreamSpool)
            spool.close()


@pytest.fixture
def web(machine: MakeMachine) -> Stores:
    return machine("web")


@pytest.fixture(autouse=True)
def worker(app: Flask, machine: MakeMachine) -> Iterator[None]:
    """The application is that of a worker on another machine."""
    app.extensions[STORES] = machine("worker")
    with app.app_context():
        yield


@pytest.fixture
def site_id(worker: None) -> int:
    with transaction():
        return make_site().id


def search(site_id: int, found: int = 3) -> Event:
    return Event(EventKind.SEARCHED, site_id, "tent", DAY, found, True)


def counted() -> int:
    db.session.rollback()
    return sum(db.session.scalars(select(SearchDay.searches)))


def count_until(is_done: Callable[[], bool]) -> None:
    """Count as the scheduler has it counted, until what other machines noted has come and is done."""

    def look() -> bool:
        drain()
        return is_done() and not has_pending()

    until(look)


def test_what_one_machine_noted_another_counts_once(site_id: int, web: Stores, machine: MakeMachine) -> None:
    web.counting.note([search(site_id)] * 2)
    machine("a second one").counting.note([search(site_id)])
    web.suggestions_shown.note([SuggestionsShown(site_id, DAY)] * 4)
    web.crawler_visits.note([CrawlerVisit(site_id, DAY, "Bingbot", "page")] * 5)
    count_until(lambda: counted() == 3 and _others() == (4, 5))
    drain()
    assert counted() == 3 and _others() == (4, 5)


def _others() -> tuple[int, int]:
    shown, hits = (db.session.scalar(select(func.sum(column))) for column in (SuggestionDay.shown, CrawlerHits.hits))
    return shown or 0, hits or 0


def test_a_worker_that_dies_after_the_commit_counts_nothing_twice(
    site_id: int, web: Stores, clock: StoppedClock
) -> None:
    web.counting.note([search(site_id)])
    until(counting().has_pending)
    with counting().batches() as waiting, transaction():
        assert count_batch(clock, next(waiting))
    assert counted() == 1 and counting().has_pending(), "not acknowledged"
    web.counting.note([search(site_id)])
    count_until(lambda: counted() >= 2)
    assert counted() == 2


def test_a_worker_that_dies_before_the_commit_loses_nothing(site_id: int, web: Stores, clock: StoppedClock) -> None:
    web.counting.note([search(site_id)])
    until(counting().has_pending)
    with pytest.raises(KeyboardInterrupt), counting().batches() as waiting, transaction():
        count_batch(clock, next(waiting))
        raise KeyboardInterrupt
    count_until(lambda: counted() == 1)


def test_a_batch_that_cannot_be_counted_holds_up_nobody(site_id: int, web: Stores, prefix: str, redis_url: str) -> None:
    web.counting.note([search(site_id, found=2**70)])
    until(counting().has_pending)
    web.counting.note([search(site_id)])
    for _ in range(MOST_TRIES):
        drain()
    count_until(lambda: counted() == 1)
    assert Redis.from_url(redis_url).hlen(f"{prefix}-counting:searches:bad") == 1


@pytest.mark.concurrent
def test_two_machines_that_count_the_same_batch_at_the_same_moment_count_it_once(
    app: Flask, site_id: int, web: Stores, machine: MakeMachine, clock: StoppedClock, prefix: str, redis_url: str
) -> None:
    """The lease of the first is over while it counts, so that the second has the same batch."""
    web.counting.note([search(site_id)])
    until(counting().has_pending)
    wrote: list[bool] = []

    def count_too() -> None:
        other = machine("another worker").counting
        with app.app_context(), other.batches() as waiting:
            batch = next(waiting)
            with transaction():
                wrote.append(count_batch(clock, batch))
            other.done(batch.id)

    second = threading.Thread(target=count_too)
    with counting().batches() as waiting:
        batch = next(waiting)
        with transaction():
            assert count_batch(clock, batch)
            Redis.from_url(redis_url).delete(f"{prefix}-counting:searches:lease")
            second.start()
            wait_until_one_waits()
        second.join()
        counting().done(batch.id)
    assert wrote == [False] and counted() == 1
    assert db.session.scalar(select(func.count()).select_from(CountedBatch)) == 1
    assert not counting().has_pending()
