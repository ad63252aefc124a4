"""Nothing waits for ever, whatever the queue and its workers do."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from sqlalchemy import select

from app.domain.search.index import builders
from app.domain.search.index.indexing import Indexing
from app.domain.search.index.rebuild import rebuild
from app.domain.search.models import JobSlot, RebuildRun
from app.domain.taxonomy import tasks
from app.extensions import db
from app.jobs.scheduler import Scheduler
from app.transaction import transaction
from tests.fakes.clock import StoppedClock
from tests.fakes.queue import RecordingQueue
from tests.searching import add_product, add_site, found, request

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
def site_id(indexing: Indexing) -> int:
    with transaction():
        site_id = add_site().id
        add_product(site_id, "tent")
    rebuild(indexing, request(indexing, site_id))
    return site_id


def run_of(run_id: str) -> RebuildRun:
    db.session.rollback()
    return db.session.get_one(RebuildRun, run_id)


def test_a_wish_that_no_worker_takes_up_is_applied_after_a_few_looks(
    scheduler: Scheduler, indexing: Indexing, site_id: int
) -> None:
    with transaction():
        add_product(site_id, "stove")
    scheduler.look()
    assert found(indexing, site_id) == {"tent"}
    scheduler.look()
    scheduler.look()
    assert found(indexing, site_id) == {"tent", "stove"}


def test_a_run_that_the_queue_lost_is_asked_for_again(
    scheduler: Scheduler, indexing: Indexing, site_id: int, clock: StoppedClock, queue: RecordingQueue
) -> None:
    run_id = request(indexing, site_id)
    queue.jobs.clear()
    scheduler.look()
    assert queue.jobs == []
    clock.move(seconds=10)
    scheduler.look()
    assert queue.jobs == [("indexing:rebuild", (run_id,))]
    assert run_of(run_id).state == "waiting"


def test_without_a_queue_the_scheduler_builds(
    scheduler: Scheduler,
    background: Inline,
    indexing: Indexing,
    site_id: int,
    clock: StoppedClock,
    queue: RecordingQueue,
) -> None:
    queue.down = True
    run_id = request(indexing, site_id)
    scheduler.look()
    clock.move(seconds=10)
    scheduler.look()
    assert background.names == [f"rebuild {run_id}"]
    assert run_of(run_id).state == "done"


def test_a_run_whose_builder_died_is_failed_soon_after_its_lease(
    scheduler: Scheduler, indexing: Indexing, site_id: int, clock: StoppedClock
) -> None:
    run_id = request(indexing, site_id)
    with transaction():
        assert builders.take_up(clock, run_id)
    scheduler.look()
    assert run_of(run_id).state == "running"
    clock.move(seconds=builders.LEASE.total_seconds())
    scheduler.look()
    run = run_of(run_id)
    assert (run.state, run.error) == ("failed", "The process that built the index stopped before it was done.")


def test_a_run_that_nobody_takes_up_for_half_an_hour_is_failed(
    scheduler: Scheduler, indexing: Indexing, site_id: int, clock: StoppedClock
) -> None:
    run_id = request(indexing, site_id)
    clock.move(minutes=30)
    scheduler.look()
    assert run_of(run_id).state == "failed"


def test_a_new_shop_makes_up_for_no_slot_it_never_missed(scheduler: Scheduler, background: Inline) -> None:
    scheduler.look()
    assert background.names == []


def test_a_job_runs_once_in_each_slot_with_two_schedulers(background: Inline, clock: StoppedClock) -> None:
    first, second = Scheduler(background), Scheduler(background)
    for _ in range(3):
        for _ in range(24 * 2):
            clock.move(minutes=30)
            first.look()
            second.look()
    assert sorted(background.names) == ["purge"] * 3 + ["reconcile"] * 3 + ["suggest"] * 3


def test_of_the_slots_that_were_missed_the_last_is_made_up_for(
    scheduler: Scheduler, background: Inline, clock: StoppedClock
) -> None:
    scheduler.look()
    clock.move(days=5)
    Scheduler(background).look()
    assert sorted(background.names) == ["purge", "reconcile", "suggest"]


def test_a_clock_that_goes_back_repeats_nothing(background: Inline, clock: StoppedClock) -> None:
    Scheduler(background).look()
    clock.move(days=1)
    Scheduler(background).look()
    clock.move(days=-1)
    Scheduler(background).look()
    assert len(background.names) == 3


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
    assert sorted(background.names) == ["purge", "reconcile", "suggest"]


def test_tasks_that_the_queue_lost_are_asked_for_again_and_done_without_a_queue(
    scheduler: Scheduler, background: Inline, site_id: int, clock: StoppedClock, queue: RecordingQueue
) -> None:
    with transaction():
        task_id = tasks.request(clock, site_id, tasks.Kind.RECOMPUTE, {}, "tests").id
    queue.jobs.clear()
    scheduler.look()
    clock.move(seconds=10)
    scheduler.look()
    assert queue.jobs == [("taxonomy:work_off_slice", (site_id,))]
    queue.down = True
    clock.move(seconds=10)
    scheduler.look()
    assert background.names == [f"tasks of site {site_id}"]
    db.session.rollback()
    assert tasks.task_of(site_id, task_id).state == "done"
