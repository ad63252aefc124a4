"""Searches that wait are counted exactly once, whoever dies meanwhile and whether the queue is there or not."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from sqlalchemy import select

from app.domain.search_statistics.counting.events import Event, EventKind
from app.domain.search_statistics.counting.spool import MOST_TRIES
from app.domain.search_statistics.models import SearchDay
from app.extensions import db
from app.jobs.scheduler import Scheduler
from app.jobs.search_statistics import drain
from app.ports import counting
from app.transaction import transaction
from tests.counted_searches import count_batch
from tests.factories import make_site
from tests.fakes.clock import StoppedClock
from tests.fakes.queue import RecordingQueue

pytestmark = pytest.mark.usefixtures("context")
NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


@pytest.fixture
def site_id() -> int:
    with transaction():
        return make_site().id


@pytest.fixture
def scheduler() -> Scheduler:
    return Scheduler(lambda _name, _work: True)


def search(site_id: int, times: int = 1) -> None:
    counting().note([Event(EventKind.SEARCHED, site_id, "tent", NOW.date(), 3, True)] * times)


def counted() -> int:
    db.session.rollback()
    return sum(db.session.scalars(select(SearchDay.searches)))


def test_what_waits_is_counted_once(site_id: int) -> None:
    search(site_id)
    search(site_id, 2)
    drain()
    drain()
    assert counted() == 3 and not counting().has_pending()


def test_a_worker_that_dies_after_the_commit_counts_nothing_twice(site_id: int, clock: StoppedClock) -> None:
    search(site_id)
    with counting().batches() as waiting, transaction():
        count_batch(clock, next(waiting))
    assert counting().has_pending()
    search(site_id)
    drain()
    assert counted() == 2 and not counting().has_pending()


def test_a_worker_that_dies_before_the_commit_loses_nothing(site_id: int, clock: StoppedClock) -> None:
    search(site_id)
    with pytest.raises(KeyboardInterrupt), counting().batches() as waiting, transaction():
        count_batch(clock, next(waiting))
        raise KeyboardInterrupt
    drain()
    assert counted() == 1


def test_a_batch_that_cannot_be_counted_holds_up_nobody_for_long(site_id: int) -> None:
    counting().note([Event(EventKind.SEARCHED, site_id, "tent", NOW.date(), 2**70, True)])
    for _ in range(MOST_TRIES):
        drain()
        search(site_id)
    drain()
    assert counted() == MOST_TRIES and not counting().has_pending()


def test_the_queue_is_asked_to_count_what_waits(site_id: int, scheduler: Scheduler, queue: RecordingQueue) -> None:
    scheduler.look()
    assert ("search_statistics:drain", ()) not in queue.jobs
    search(site_id)
    scheduler.look()
    assert queue.jobs.count(("search_statistics:drain", ())) == 1 and counted() == 0


def test_what_no_worker_takes_up_the_scheduler_counts(
    site_id: int, scheduler: Scheduler, queue: RecordingQueue
) -> None:
    search(site_id)
    for _ in range(3):
        scheduler.look()
    assert queue.jobs.count(("search_statistics:drain", ())) == 1 and counted() == 1


def test_without_a_queue_the_scheduler_counts_at_once(
    site_id: int, scheduler: Scheduler, queue: RecordingQueue
) -> None:
    queue.down = True
    search(site_id)
    scheduler.look()
    assert counted() == 1


def test_a_shop_that_is_gone_holds_up_nobody(site_id: int) -> None:
    search(site_id + 1000)
    search(site_id)
    drain()
    assert counted() == 1 and not counting().has_pending()
