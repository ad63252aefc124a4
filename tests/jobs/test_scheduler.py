"""Nothing waits for ever, whatever the queue and its workers do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from sqlalchemy import select

from app.domain.search.engine import SearchContext
from app.domain.search.index.rebuild import rebuild
from app.domain.search.models import JobSlot
from app.extensions import db
from app.jobs.scheduled import SCHEDULED
from app.jobs.scheduler import Scheduler
from app.transaction import transaction
from tests.fakes.clock import StoppedClock
from tests.searching import add_product, add_site, found, request

NIGHTLY = ("purge", "reconcile", "suggest", "learn", "pos-reconcile")
HOURLY = (
    "check-backup",
    "check-certificate",
    "count-sales",
    "end-comparisons",
    "measure",
    "pos-sessions",
    "submit-baskets",
)  # Or more often, which once an hour is made up for.

pytestmark = pytest.mark.usefixtures("context")


class Inline:
    """Runs background work at once and remembers its names."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.busy = False

    def __call__(self, name: str, work: Callable[[], object]) -> bool:
        if self.busy:
            return False
        self.names.append(name)
        work()
        return True


@pytest.fixture
def background() -> Inline:
    return Inline()


@pytest.fixture
def scheduler(background: Inline) -> Scheduler:
    return Scheduler(background)


@pytest.fixture
def site_id(indexing: SearchContext) -> int:
    with transaction():
        site_id = add_site().id
        add_product(site_id, "tent")
    rebuild(indexing, request(indexing, site_id))
    return site_id


def test_a_change_that_no_worker_applies_is_applied_after_a_few_looks(
    scheduler: Scheduler, indexing: SearchContext, site_id: int
) -> None:
    with transaction():
        add_product(site_id, "stove")
    scheduler.look()
    assert found(indexing, site_id) == {"tent"}
    scheduler.look()
    scheduler.look()
    assert found(indexing, site_id) == {"tent", "stove"}


def test_a_new_shop_makes_up_for_no_slot_it_never_missed(scheduler: Scheduler, background: Inline) -> None:
    scheduler.look()
    assert background.names == []


def test_a_job_runs_once_in_each_slot_with_two_schedulers(background: Inline, clock: StoppedClock) -> None:
    first, second = Scheduler(background), Scheduler(background)
    for _ in range(2):
        for _ in range(24):
            clock.move(hours=1)
            first.look()
            second.look()
    often = dict.fromkeys((*HOURLY, "pos-check"), 2 * 24 - 1) | {"sitemaps": 2 * 8 - 1}
    assert Counter(background.names) == dict.fromkeys(NIGHTLY, 2) | often


def test_of_the_slots_that_were_missed_the_last_is_made_up_for(
    scheduler: Scheduler, background: Inline, clock: StoppedClock
) -> None:
    scheduler.look()
    clock.move(days=5)
    Scheduler(background).look()
    assert sorted(background.names) == sorted(SCHEDULED)


def test_a_clock_that_goes_back_repeats_nothing(background: Inline, clock: StoppedClock) -> None:
    Scheduler(background).look()
    clock.move(days=1)
    Scheduler(background).look()
    clock.move(days=-1)
    Scheduler(background).look()
    assert len(background.names) == len(SCHEDULED)


def test_slots_are_noted_in_utc(scheduler: Scheduler) -> None:
    scheduler.look()
    slots = dict(db.session.execute(select(JobSlot.job, JobSlot.slot)).all())
    assert slots["reconcile"] == datetime(2026, 11, 20, 3, 15, tzinfo=UTC)


def test_background_work_that_found_no_place_runs_at_a_later_look(
    scheduler: Scheduler, background: Inline, clock: StoppedClock
) -> None:
    scheduler.look()
    clock.move(days=1)
    background.busy = True
    scheduler.look()
    assert background.names == []
    background.busy = False
    scheduler.look()
    assert sorted(background.names) == sorted(SCHEDULED)


def test_a_step_with_an_error_that_nobody_foresaw_is_tried_again_and_ends_no_scheduler(
    background: Inline, clock: StoppedClock
) -> None:
    def begin(name: str, work: Callable[[], object]) -> bool:
        if broken:
            raise RuntimeError("can't start new thread")
        return background(name, work)

    broken, scheduler = True, Scheduler(begin)
    scheduler.look()
    clock.move(days=1)
    scheduler.look()
    broken = False
    scheduler.look()
    assert sorted(background.names) == sorted(SCHEDULED)
