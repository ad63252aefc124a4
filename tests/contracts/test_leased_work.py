"""What every kind of leased work promises: one worker at a time does it, a dead one blocks nobody, a late one changes
nothing, and however it ends stands in its row. A new kind is added to the examples."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import func, select, update
from sqlalchemy.exc import OperationalError

from app.adapters.clock import SystemClock
from app.adapters.queue import JOBS
from app.domain.alerts.alerts import open_alerts
from app.domain.alerts.causes import Cause
from app.domain.search.engine import SearchContext
from app.domain.search.index.rebuild import rebuild
from app.domain.search.index.runs import REBUILD
from app.domain.shared.problems import Conflict
from app.domain.work import leases
from app.domain.work.context import WorkContext, WorkerLocks
from app.domain.work.leases import Claim, LeaseLost, perform
from app.extensions import db
from app.jobs.leased import LEASED_JOBS
from app.jobs.scheduler import Scheduler
from app.ports import STORES
from app.transaction import transaction
from tests.contracts.leased_work_examples import EXAMPLES, Example, Requested
from tests.fakes.clock import StoppedClock
from tests.fakes.queue import RecordingQueue
from tests.purging import purged
from tests.searching import add_product, add_site, request

pytestmark = pytest.mark.usefixtures("context")

every_kind = pytest.mark.parametrize("example", EXAMPLES.values(), ids=EXAMPLES.keys())
OF_SITES = {name: example for name, example in EXAMPLES.items() if not example.is_alone}
every_kind_of_sites = pytest.mark.parametrize("example", OF_SITES.values(), ids=OF_SITES.keys())


@pytest.fixture
def work(example: Example, indexing: SearchContext) -> Requested:
    with transaction():
        site_id = add_site().id
    return Requested(example, indexing, site_id)


def finishing(context: WorkContext, claim: Claim[Any]) -> Callable[[], None]:
    return lambda: context.commit(lambda: leases.finish(context.clock, claim))


def raising(error: BaseException) -> Callable[[], None]:
    def fail() -> None:
        raise error

    return fail


def test_every_kind_has_a_job_that_the_queue_knows_and_an_example_here() -> None:
    assert EXAMPLES.keys() == LEASED_JOBS.keys()
    assert {leased.job for leased in LEASED_JOBS.values()} <= JOBS.keys()


def test_every_kind_says_in_which_queue_its_job_waits() -> None:
    assert all(leased.kind.model.queue == JOBS[leased.job] for leased in LEASED_JOBS.values())


@every_kind
def test_the_second_failure_in_a_row_is_an_alert_which_a_success_ends(work: Requested, example: Example) -> None:
    clock, raised = work.context.clock, [(Cause.JOB_FAILED_TWICE.key, example.kind.name)]
    for end, expected in (("fail", []), ("fail", raised), ("finish", [])):
        claim = work.claimed()
        with transaction():
            leases.fail(clock, claim, "It is odd.") if end == "fail" else leases.finish(clock, claim)
        assert [(alert.cause, alert.subject) for alert in open_alerts(work.site_id)] == expected
        with transaction():
            db.session.query(example.kind.model).delete()
        work = Requested(example, work.context, work.site_id)


# Requests


@every_kind
def test_a_request_wakes_the_worker(work: Requested, queue: RecordingQueue) -> None:
    assert (LEASED_JOBS[work.kind.name].job, (work.job_key,)) in queue.jobs
    assert (work.row.state, work.row.requested_by, work.row.fence) == ("waiting", "Mia Moss", 0)


@pytest.mark.concurrent
@every_kind
def test_what_the_queue_lost_is_requested_again_and_done_without_a_queue(
    example: Example, indexing: SearchContext, clock: StoppedClock, queue: RecordingQueue
) -> None:
    """Its worker was killed before it claimed anything."""
    with transaction():
        site_id = add_site().id
        add_product(site_id, "mug")
    rebuild(indexing, request(indexing, site_id))
    with transaction():
        db.session.query(REBUILD.model).delete()
    clock.move(minutes=1)
    Scheduler(lambda _name, _work: True).look()  # What is due by the clock has been done.
    work = Requested(example, indexing, site_id)
    names: list[str] = []
    scheduler, leased = Scheduler(lambda name, do: names.append(name) or do() or True), LEASED_JOBS[work.kind.name]
    queue.jobs.clear()
    for seconds, requested in ((0, 0), (9, 0), (1, 1), (9, 1)):
        clock.move(seconds=seconds)
        scheduler.look()
        assert queue.jobs.count((leased.job, (work.job_key,))) == requested
    queue.down = True
    clock.move(seconds=1)
    scheduler.look()
    assert leased.title.format(work.job_key) in names
    assert work.row.state == example.end


# Claims


@every_kind
def test_of_those_who_would_do_it_one_does(work: Requested, clock: StoppedClock) -> None:
    claim = work.claimed()
    assert (work.row.state, work.row.fence, work.row.started_at) == ("running", claim.fence, clock.now())
    assert work.row.lease_until == clock.now() + work.kind.lease
    assert work.claim() is None and work.free_keys() == []


@pytest.mark.concurrent
@every_kind
def test_two_that_claim_at_once_are_not_both_given_it(work: Requested, app: Flask) -> None:
    together, claims = threading.Barrier(4), list[Claim[Any] | None]()

    def press() -> None:
        with app.app_context():
            together.wait()
            claims.append(work.claim())
            db.session.remove()

    db.session.remove()
    threads = [threading.Thread(target=press) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(claims) == 4 and sum(claim is not None for claim in claims) == 1


@every_kind
def test_a_worker_that_died_blocks_nobody_once_its_lease_is_over(work: Requested, clock: StoppedClock) -> None:
    dead = work.claimed()
    clock.move(seconds=work.kind.lease.total_seconds() - 1)
    assert work.claim() is None and not work.is_ended_by_the_scheduler()
    clock.move(seconds=1)
    if work.kind.is_resumed:
        assert work.free_keys() == [work.key] and not work.is_ended_by_the_scheduler()
        assert work.claimed().fence > dead.fence
        return
    assert work.claim() is None
    assert work.is_ended_by_the_scheduler()
    assert (work.row.state, work.row.error) == ("failed", work.kind.abandoned)


@every_kind
def test_a_worker_that_is_known_to_be_dead_blocks_nobody_although_its_lease_runs(
    app: Flask, work: Requested, clock: StoppedClock
) -> None:
    """A lock of this machine says so."""
    dead = work.claimed()
    app.extensions[STORES] = replace(app.extensions[STORES], worker_locks=LocksOfTheDead(dead.lock))
    is_ended = work.is_ended_by_the_scheduler()
    if work.kind.is_resumed:
        assert work.free_keys() == [work.key] and not is_ended
        assert work.claimed().fence > dead.fence
        assert not work.is_ended_by_the_scheduler() and work.free_keys() == []
        return
    assert is_ended and work.row.error == work.kind.abandoned


class LocksOfTheDead(WorkerLocks):
    def __init__(self, *names: str) -> None:
        self.names = names

    def is_dead(self, name: str) -> bool:
        return name in self.names


@every_kind
def test_a_worker_shows_that_it_lives_while_it_works(work: Requested) -> None:
    held: list[str] = []

    class Locks(WorkerLocks):
        @contextmanager
        def hold(self, name: str) -> Iterator[None]:
            held.append(name)
            yield
            held.remove(name)

    claim, context = work.claimed(), replace(work.context, locks=Locks())
    seen: list[str] = []
    perform(context, claim, lambda: seen.extend(held) or finishing(context, claim)())
    assert (seen, held, work.row.state) == ([claim.lock], [], "done")


@every_kind
def test_a_late_worker_changes_nothing(work: Requested, clock: StoppedClock) -> None:
    """Another has claimed the work, or it was ended."""
    late = work.claimed()
    clock.move(seconds=work.kind.lease.total_seconds())
    if work.kind.is_resumed:
        work.claimed()
    else:
        assert work.is_ended_by_the_scheduler()
    before = work.row.state, work.row.fence, work.row.lease_until, work.row.error
    for write in (
        lambda: leases.renew(clock, late, done=99),
        lambda: leases.finish(clock, late, done=99),
        lambda: leases.fail(clock, late, "It is too late."),
        lambda: leases.release(clock, late),
    ):
        with pytest.raises(LeaseLost), transaction():
            write()
    with transaction():
        assert db.session.execute(leases.renewal(clock, late)).rowcount == 0  # type: ignore[attr-defined]
    assert (work.row.state, work.row.fence, work.row.lease_until, work.row.error) == before
    assert work.row.done == 0
    assert not perform(work.context, late, finishing(work.context, late))


@every_kind
@pytest.mark.parametrize(("seconds", "is_lost"), [(4, False), (5, True)])
def test_a_lease_that_has_run_out_is_not_renewed_though_nobody_noticed(
    work: Requested, clock: StoppedClock, seconds: int, is_lost: bool
) -> None:
    claim = work.claimed(timedelta(seconds=5))
    clock.move(seconds=seconds)
    with transaction():
        beaten = db.session.execute(leases.renewal(clock, claim)).rowcount  # type: ignore[attr-defined]
    assert beaten == (0 if is_lost else 1)
    try:
        with transaction():
            leases.renew(clock, claim, done=99)
    except LeaseLost:
        assert is_lost
    assert work.row.done == (0 if is_lost else 99)


# Endings


@every_kind
def test_work_that_is_finished_is_not_done_again(work: Requested, clock: StoppedClock) -> None:
    claim = work.claimed()
    assert perform(work.context, claim, finishing(work.context, claim))
    assert (work.row.state, work.row.error, work.row.lease_until) == ("done", None, None)
    assert work.row.finished_at == clock.now()
    assert work.claim() is None and work.free_keys() == []


@every_kind
def test_an_expected_error_fails_it_with_its_own_words(work: Requested) -> None:
    assert perform(work.context, work.claimed(), raising(Conflict("There is nothing to do.")))
    assert (work.row.state, work.row.error, work.row.lease_until) == ("failed", "There is nothing to do.", None)


@every_kind
def test_an_unexpected_error_fails_it_and_is_raised(work: Requested) -> None:
    with pytest.raises(RuntimeError):
        perform(work.context, work.claimed(), raising(RuntimeError("odd")))
    assert work.row.state == "failed"
    assert work.row.error and "unexpected" in work.row.error and "odd" in work.row.error


INTERRUPTIONS = [SystemExit("stopped"), KeyboardInterrupt(), OperationalError("update", {}, Exception("away"))]


@every_kind
@pytest.mark.parametrize("error", INTERRUPTIONS, ids=lambda error: type(error).__name__)
def test_work_that_is_interrupted_is_left_to_the_next_at_once_or_fails(work: Requested, error: BaseException) -> None:
    claim = work.claimed()
    with pytest.raises(type(error)):
        perform(work.context, claim, raising(error))
    assert work.free_keys() == ([work.key] if work.kind.is_resumed else [])
    if work.kind.is_resumed:
        assert work.claimed().fence > claim.fence
    else:
        assert work.row.state == "failed" and work.row.error


class Killed(BaseException):
    """Nothing after this point happens, as after SIGKILL."""


@every_kind
@pytest.mark.parametrize(("is_committed", "state"), [(False, "running"), (True, "done")])
def test_a_worker_that_is_killed_around_its_last_commit(work: Requested, is_committed: bool, state: str) -> None:
    @contextmanager
    def killed() -> Iterator[None]:
        with transaction():
            yield
            if not is_committed:
                raise Killed
        raise Killed

    claim = work.claimed()
    context = WorkContext(work.context.clock, killed)
    with pytest.raises(Killed):
        perform(context, claim, finishing(context, claim))
    assert work.row.state == state
    assert work.claim() is None, "its lease still runs, or it is done"


@every_kind
def test_a_database_that_is_busy_is_asked_again(work: Requested) -> None:
    refusals = iter(range(3))

    @contextmanager
    def busy() -> Iterator[None]:
        with transaction():
            if next(refusals, None) is not None:
                raise OperationalError("update", {}, Exception("database is locked"))
            yield

    claim, context = work.claimed(), WorkContext(work.context.clock, busy)
    assert perform(context, claim, finishing(context, claim))
    assert work.row.state == "done"


@every_kind
def test_what_takes_too_long_or_breaks_off_too_often_fails(work: Requested, clock: StoppedClock) -> None:
    kind = work.kind
    if kind.most_attempts is not None:
        for _ in range(kind.most_attempts):
            work.claimed()
            clock.move(seconds=kind.lease.total_seconds())
        assert work.claim() is None
        assert (work.row.state, work.row.error) == ("failed", kind.exhausted)
        return
    most = kind.waits_at_most or kind.lasts_at_most
    if most is None:
        clock.move(days=365)
        assert not work.is_ended_by_the_scheduler()
        return
    clock.move(seconds=most.total_seconds() - 1)
    assert not work.is_ended_by_the_scheduler()
    clock.move(seconds=1)
    assert work.is_ended_by_the_scheduler()
    assert (work.row.state, work.row.error) == ("failed", kind.overdue)


# What pages and the nightly purge ask


@every_kind
def test_work_that_no_worker_claims_is_unanswered(work: Requested, clock: StoppedClock) -> None:
    def is_unanswered() -> bool:
        return leases.is_unanswered(work.kind, clock, work.row)

    clock.move(seconds=15)
    assert not is_unanswered()
    clock.move(seconds=1)
    assert is_unanswered()
    claim = work.claimed()
    assert not is_unanswered()
    clock.move(seconds=work.kind.lease.total_seconds() - 1)
    perform(work.context, claim, finishing(work.context, claim))
    clock.move(seconds=60)
    assert not is_unanswered()


@every_kind_of_sites
def test_a_busy_worker_answers_for_what_waits_behind_it(
    work: Requested, example: Example, indexing: SearchContext, clock: StoppedClock
) -> None:
    with transaction():
        other = add_site("other.test").id
    behind = Requested(example, indexing, other)
    work.claimed(timedelta(minutes=2))
    clock.move(minutes=2)
    assert not leases.is_unanswered(behind.kind, clock, behind.row)
    clock.move(seconds=16)
    assert leases.is_unanswered(behind.kind, clock, behind.row)


@every_kind
def test_a_worker_that_is_busy_with_another_kind_answers_for_its_queue(
    example: Example, indexing: SearchContext, clock: StoppedClock
) -> None:
    with transaction():
        site_id = add_site().id
    behind = Requested(example, indexing, site_id)
    rebuild = behind if example.kind is REBUILD else Requested(EXAMPLES[REBUILD.name], indexing, site_id)
    rebuild.claimed(timedelta(minutes=2))
    clock.move(minutes=2)
    waits_in_another_queue = JOBS[LEASED_JOBS[example.kind.name].job] != JOBS["search:rebuild"]
    assert leases.is_unanswered(behind.kind, clock, behind.row) is waits_in_another_queue


@every_kind
def test_what_ended_long_ago_goes_and_what_waits_stays(work: Requested, clock: StoppedClock) -> None:
    if work.kind.kept is None:
        pytest.skip("work of this kind is kept for good")
    clock.move(days=400)
    old = leases.retention(work.kind, "old work")
    assert purged(clock, old) == 0
    with transaction():
        ended = update(work.kind.model).values(state="done", finished_at=clock.now())
        db.session.execute(ended, execution_options={"synchronize_session": False})
    clock.move(seconds=work.kind.kept.total_seconds())
    assert purged(clock, old) == 0
    clock.move(seconds=1)
    assert purged(clock, old) == 1
    assert db.session.scalar(select(func.count()).select_from(work.kind.model)) == 0


@pytest.mark.parametrize("example", [EXAMPLES["rebuild"]], ids=["rebuild"])
def test_a_heartbeat_keeps_the_lease_of_work_that_takes_longer(example: Example, work: Requested) -> None:
    context = WorkContext(SystemClock(), transaction)
    with transaction():
        claim = leases.claim(example.kind, context.clock, lease=timedelta(seconds=0.8))
    assert claim is not None

    def outlast_the_lease() -> None:
        time.sleep(2)
        finishing(context, claim)()

    assert perform(context, claim, outlast_the_lease)
    assert work.row.state == "done"
    assert work.row.started_at is not None and work.row.finished_at is not None
    assert work.row.finished_at - work.row.started_at > claim.lease
