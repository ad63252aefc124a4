"""F34: a clock that jumps removes nothing, ends no work and holds no job back; once it is right again, all goes on."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

import pytest
from sqlalchemy import event, func, select

from app.domain.alerts import job_failures
from app.domain.alerts.alerts import open_alerts
from app.domain.alerts.causes import Cause
from app.domain.orders.models import OPEN, Order
from app.domain.search.engine import SearchContext
from app.domain.search.index import runs
from app.domain.search.index.runs import REBUILD
from app.domain.search.models import RebuildRun, ReconcileReport
from app.domain.search_statistics.models import CountedBatch, SearchDay, SearchWordDay
from app.domain.shared.author import Author
from app.domain.shared.problems import Unauthenticated
from app.domain.sites import activity, api_sessions, sign_in_sessions, stored_events, throttle
from app.domain.sites.accounts import Role
from app.domain.sites.api_sessions import Audience, Device
from app.domain.sites.models import ApiSession, SignInFailure, SignInSession, Site, User
from app.domain.taxonomy import tasks
from app.domain.taxonomy.models import TaxonomyTask
from app.domain.taxonomy.tasks.queue import TASK
from app.domain.work import leases
from app.domain.work.leases import Claim
from app.extensions import Base, db
from app.jobs import purging
from app.jobs.leased import LEASED_JOBS, LeasedWatch
from app.jobs.scheduler import ClockWatch
from app.transaction import transaction
from tests.factories import make_order, make_run, make_site, make_user
from tests.fakes.clock import StoppedClock
from tests.fakes.queue import RecordingQueue
from tests.jobs.machine import Machine

pytestmark = pytest.mark.usefixtures("context")

PURGED: tuple[type[Base], ...] = (
    SignInSession,
    ApiSession,
    SignInFailure,
    SearchWordDay,
    SearchDay,
    CountedBatch,
    RebuildRun,
    ReconcileReport,
)
JUMPS = [timedelta(days=400), timedelta(days=-400), timedelta(days=1), timedelta(days=-1)]
JUMPS += [timedelta(hours=1), timedelta(hours=-1)]
every_jump = pytest.mark.parametrize("jump", JUMPS, ids=str)
far_jump = pytest.mark.parametrize("jump", JUMPS[:2], ids=str)


def the_site() -> Site:
    return db.session.scalars(select(Site)).one()


def the_user() -> User:
    return db.session.scalars(select(User)).one()


@pytest.fixture
def site_id(context: None) -> int:
    with transaction():
        site = make_site()
        make_user(site, Role.ADMIN)
        return site.id


@pytest.fixture
def machine(site_id: int, clock: StoppedClock) -> Machine:
    """It has run through a night."""
    made = Machine(clock)
    made.run(days=1)
    assert "purge" in made.begun
    made.begun.clear()
    return made


@pytest.fixture
def records(machine: Machine, clock: StoppedClock) -> None:
    """Of each kind that is kept only for a time, more than may go at once."""
    now, today = clock.now(), clock.now().date()
    with transaction():
        site, user = the_site(), the_user()
        for number in range(30):
            sign_in_sessions.open_session(clock, user, "localhost", site.id)
            api_sessions.open_session(clock, user, site.id, Audience.API, Device())
            make_order(site, status="COLLECTED", submitted_at=now, settled_at=now)
            make_order(site, status=OPEN, updated_at=now, contact_name="", submitted_at=None)
            make_run(site, created_at=now, finished_at=now)
            day = {"site_id": site.id, "day": today - timedelta(days=number), "searches": 1}
            db.session.add(SearchWordDay(**day, word="mug"))
            db.session.add_all((SearchDay(**day), CountedBatch(id=str(number), at=now)))
            db.session.add_all((SignInFailure(key="x", at=now), ReconcileReport(site_id=site.id, at=now)))


def count_records() -> Mapping[str, int]:
    counts = {model.__name__: db.session.scalar(select(func.count()).select_from(model)) or 0 for model in PURGED}
    baskets = select(func.count()).where(Order.status == OPEN)
    contacts = select(func.count()).where(Order.contact_name != "")
    return counts | {"baskets": db.session.scalar(baskets) or 0, "contacts": db.session.scalar(contacts) or 0}


def removed_since(before: Mapping[str, int]) -> Mapping[str, int]:
    """Return how many of each are gone. More may have come: the shop goes on requesting an index that it lacks."""
    return {kind: before[kind] - count for kind, count in count_records().items() if count < before[kind]}


def alerts() -> list[str]:
    return [alert.cause for alert in open_alerts(None) if alert.cause in (Cause.CLOCK_MOVED.key, "purge_blocked")]


# Purges


@every_jump
@pytest.mark.usefixtures("records")
def test_a_look_after_a_jump_removes_nothing(machine: Machine, jump: timedelta) -> None:
    before = count_records()
    machine.set_clock(jump)
    assert removed_since(before) == {}
    assert alerts() == (["clock_moved"] if abs(jump) > timedelta(days=1) else [])


@far_jump
@pytest.mark.usefixtures("records")
def test_nor_does_a_scheduler_that_starts_after_the_jump_in_several_nights(machine: Machine, jump: timedelta) -> None:
    """The one that ran before was killed, so that nothing but the database knows when that was."""
    before = count_records()
    machine.clock.jump(seconds=jump.total_seconds())
    machine.restart()
    for _ in range(3):
        machine.run(days=1)
        machine.restart()
    assert removed_since(before) == {}
    assert alerts() == ["clock_moved"]


@every_jump
@pytest.mark.usefixtures("records")
def test_after_the_clock_is_right_again_the_jobs_run_in_the_same_night(machine: Machine, jump: timedelta) -> None:
    machine.set_clock(jump)
    machine.run(hours=2)
    machine.set_clock(-jump)
    assert alerts() == []
    machine.begun.clear()
    machine.run(days=1)
    assert {"purge", "reconcile", "suggest"} <= set(machine.begun)
    machine.run(days=2)
    assert count_records()["SignInFailure"] < 30, "and the purge removes what is old"


@pytest.mark.usefixtures("records")
def test_a_clock_that_is_believed_though_it_is_wrong_takes_a_part_with_it(machine: Machine) -> None:
    """Nobody saw the alert for a week."""
    before = count_records()
    machine.set_clock(timedelta(days=400))
    for _ in range(7):
        machine.run(days=1)
    after = count_records()
    assert 0 < after["contacts"] <= before["contacts"] - 20
    assert "purge_blocked" in alerts()


@pytest.mark.usefixtures("records")
def test_a_shop_that_was_off_for_weeks_purges_again_after_a_week(machine: Machine) -> None:
    """Nobody does anything."""
    machine.clock.jump(days=40)
    machine.restart()
    assert alerts() == ["clock_moved"]
    before = count_records()
    for _ in range(6):
        machine.run(days=1)
    assert removed_since(before) == {}
    for _ in range(4):
        machine.run(days=1)
    assert alerts() == []
    gone = ("SignInSession", "ApiSession", "SignInFailure", "baskets", "CountedBatch")
    assert removed_since(before) == {kind: before[kind] for kind in gone}


def look_twice_a_day(clock: StoppedClock, days: float, *watches: ClockWatch) -> None:
    for _ in range(int(days * 2)):
        clock.move(hours=12)
        for watch in watches:
            watch.look()


@pytest.mark.usefixtures("site_id")
def test_a_doubt_lasts_as_long_with_two_schedulers_as_with_one(clock: StoppedClock) -> None:
    first, second = ClockWatch(), ClockWatch()
    look_twice_a_day(clock, 0.5, first, second)
    clock.jump(days=400)
    look_twice_a_day(clock, 6.5, first, second)
    assert alerts() == ["clock_moved"]
    look_twice_a_day(clock, 1, first, second)
    assert alerts() == []


@pytest.mark.usefixtures("site_id")
def test_a_second_scheduler_counts_on_where_the_first_ended(clock: StoppedClock) -> None:
    first, second = ClockWatch(), ClockWatch()
    look_twice_a_day(clock, 0.5, first, second)
    clock.jump(days=400)
    look_twice_a_day(clock, 3, first, second)
    look_twice_a_day(clock, 3.5, second)
    assert alerts() == ["clock_moved"]
    look_twice_a_day(clock, 1, second)
    assert alerts() == []


@pytest.mark.usefixtures("site_id")
def test_another_jump_begins_the_week_anew_with_two_schedulers(clock: StoppedClock) -> None:
    first, second = ClockWatch(), ClockWatch()
    for _ in range(2):
        look_twice_a_day(clock, 6, first, second)
        clock.jump(days=400)
    look_twice_a_day(clock, 6, first, second)
    assert alerts() == ["clock_moved"]


def test_the_very_first_reading_is_compared_with_the_newest_record(site_id: int, clock: StoppedClock) -> None:
    """As after the update to the version that watches the clock."""
    with transaction():
        activity.record(Author(site_id, "Mia Moss", clock), "product.save", ("product", "1"), "Saved Mug")
    clock.move(days=400)
    Machine(clock)
    assert alerts() == ["clock_moved"]


def test_a_clock_that_is_set_right_while_a_scheduler_begins_is_believed_at_its_next_look(
    machine: Machine, clock: StoppedClock
) -> None:
    machine.set_clock(timedelta(days=400))

    @event.listens_for(db.session, "before_commit", once=True)
    def set_right(_: object) -> None:
        clock.jump(days=-400)

    machine.restart()
    machine.look()
    assert alerts() == []


def test_the_alert_about_a_job_that_is_not_requested_again_ends_but_not_by_a_jump(
    machine: Machine, clock: StoppedClock, site_id: int
) -> None:
    """The machine has no worker, so what its schedule requests raises alerts of its own."""
    for _ in range(2):
        with transaction():
            job_failures.note_failure(clock, "replay", "odd", site_id)
    machine.set_clock(timedelta(days=400))
    machine.run(days=1)
    assert "replay" in [alert.subject for alert in open_alerts(site_id)]
    machine.set_clock(timedelta(days=-400))
    machine.run(days=7)
    assert "replay" not in [alert.subject for alert in open_alerts(site_id)]


# Work


@pytest.fixture
def run_id(site_id: int, machine: Machine, indexing: SearchContext) -> str:
    with transaction():
        requested, _ = runs.request_rebuild(
            Author(site_id, "Mia Moss", machine.clock), indexing.engine, indexing.locks, "ALL"
        )
        return requested.id


def claimed(run_id: str, clock: StoppedClock) -> Claim[RebuildRun]:
    with transaction():
        claim = leases.claim(REBUILD, clock, RebuildRun.id == run_id)
    assert claim is not None
    return claim


def state(run_id: str) -> tuple[str, str | None]:
    db.session.rollback()
    run = db.session.get_one(RebuildRun, run_id)
    return run.state, run.error


@every_jump
def test_a_rebuild_that_runs_goes_on(machine: Machine, run_id: str, jump: timedelta) -> None:
    claim = claimed(run_id, machine.clock)
    machine.set_clock(jump)
    assert state(run_id) == ("running", None)
    for _ in range(2):
        machine.run(seconds=15)
        with transaction():
            leases.renew(machine.clock, claim, done=1)
    assert state(run_id) == ("running", None)
    with transaction():
        leases.finish(machine.clock, claim)
    assert state(run_id) == ("done", None)


@every_jump
def test_a_rebuild_whose_worker_died_is_given_up_as_soon_as_ever(
    machine: Machine, run_id: str, jump: timedelta
) -> None:
    claimed(run_id, machine.clock)
    machine.set_clock(jump)
    machine.run(seconds=30)
    assert state(run_id) == ("failed", REBUILD.abandoned)


@every_jump
def test_what_waits_for_a_worker_has_not_waited_too_long(machine: Machine, run_id: str, jump: timedelta) -> None:
    machine.set_clock(jump)
    machine.run(minutes=20)
    assert state(run_id) == ("waiting", None)
    machine.run(minutes=11)
    assert state(run_id) == ("failed", REBUILD.overdue)


@every_jump
def test_a_worker_is_not_stopped_by_a_jump_that_nobody_noticed_yet(
    machine: Machine, run_id: str, jump: timedelta
) -> None:
    claim = claimed(run_id, machine.clock)
    machine.clock.jump(seconds=jump.total_seconds())
    with transaction():
        leases.renew(machine.clock, claim, done=7)
    machine.look()
    assert state(run_id) == ("running", None)


@every_jump
@pytest.mark.parametrize("is_renewed", [False, True], ids=["quiet", "renewed since"])
def test_nor_is_its_work_given_up_by_a_look_that_had_begun_before_the_jump(
    machine: Machine, run_id: str, jump: timedelta, is_renewed: bool
) -> None:
    claim, watch = claimed(run_id, machine.clock), ClockWatch()
    watch.look()
    machine.clock.jump(seconds=jump.total_seconds())
    if is_renewed:
        with transaction():
            leases.renew(machine.clock, claim)
    LeasedWatch(LEASED_JOBS["rebuild"], watch).look(machine._run)
    assert state(run_id) == ("running", None)


def test_a_lease_of_a_clock_far_ahead_does_not_outlast_it(machine: Machine, site_id: int) -> None:
    """Its worker and the scheduler were killed, and the clock was set right before they started again."""
    with transaction():
        task_id = tasks.request(Author(site_id, "Mia Moss", machine.clock), tasks.Kind.RECOMPUTE, {}).id
    machine.clock.jump(days=400)
    with transaction():
        assert leases.claim(TASK, machine.clock, TaxonomyTask.id == task_id)
    machine.clock.jump(days=-400)
    assert leases.free_keys(TASK, machine.clock) == [task_id]


def test_what_the_queue_lost_is_requested_again_though_the_clock_went_back(
    machine: Machine, run_id: str, queue: RecordingQueue
) -> None:
    machine.set_clock(timedelta(days=-400))
    queue.jobs.clear()
    machine.run(seconds=12)
    assert ("search:rebuild", (run_id,)) in queue.jobs


# What people notice


@pytest.mark.parametrize("jump", [timedelta(hours=1), timedelta(hours=-1)], ids=str)
def test_nobody_is_signed_out_by_an_hour(machine: Machine, jump: timedelta) -> None:
    with transaction():
        token = sign_in_sessions.open_session(machine.clock, the_user(), "localhost", the_site().id)
    machine.set_clock(jump)
    assert sign_in_sessions.find_session(machine.clock, token, "localhost") is not None


def test_a_session_holds_again_after_the_clock_is_right_again(machine: Machine) -> None:
    with transaction():
        token = sign_in_sessions.open_session(machine.clock, the_user(), "localhost", the_site().id)
    machine.set_clock(timedelta(days=400))
    assert sign_in_sessions.find_session(machine.clock, token, "localhost") is None
    machine.set_clock(timedelta(days=-400))
    assert sign_in_sessions.find_session(machine.clock, token, "localhost") is not None


def test_a_session_that_was_opened_by_a_clock_far_ahead_does_not_hold_until_then(machine: Machine) -> None:
    machine.set_clock(timedelta(days=400))
    with transaction():
        token = sign_in_sessions.open_session(machine.clock, the_user(), "localhost", the_site().id)
        granted = api_sessions.open_session(machine.clock, the_user(), the_site().id, Audience.API, Device())
    machine.set_clock(timedelta(days=-400))
    assert sign_in_sessions.find_session(machine.clock, token, "localhost") is None
    with pytest.raises(Unauthenticated):
        api_sessions.find_caller(machine.clock, granted.caller.session_id, granted.caller.user_id, "localhost", ())


def test_failed_attempts_that_a_clock_far_ahead_dated_lock_nobody_out(machine: Machine) -> None:
    machine.set_clock(timedelta(days=400))
    for _ in range(throttle.FREE_FAILURES):
        with transaction():
            throttle.note_attempt(machine.clock, "mia@shop.test", "203.0.113.1")
    machine.set_clock(timedelta(days=-400))
    with transaction():
        throttle.note_attempt(machine.clock, "mia@shop.test", "203.0.113.1")


def test_an_event_that_a_clock_far_ahead_dated_is_delivered(machine: Machine, site_id: int) -> None:
    machine.clock.jump(days=400)
    with transaction():
        stored_events.store(machine.clock, site_id, "TaxonomyIndexEvent", {})
    machine.clock.jump(days=-400)
    [event_id] = stored_events.waiting(machine.clock)
    with transaction():
        assert stored_events.take(machine.clock, event_id) is not None


def test_all_work_that_is_kept_for_a_time_is_purged() -> None:
    purged = {retention.model for retention in purging.RETENTIONS}
    assert {leased.kind.model for leased in LEASED_JOBS.values() if leased.kind.kept} <= purged
