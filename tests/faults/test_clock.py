"""F34: the clock of the machine is set while its processes run."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import func, select

from app.domain.alerts.alerts import open_alerts
from app.domain.relevance.models import LearnedWord
from app.domain.search.models import JobSlot, RebuildRun
from app.domain.search.serving.plan import LearningMode
from app.domain.sites.models import SignInFailure, Site
from app.domain.sites.settings import change_settings
from app.extensions import db
from app.jobs.scheduled import SCHEDULED
from app.transaction import transaction
from tests.fakes.clock import SetClock
from tests.faults.shops import Shop, check
from tests.injected_faults import injected
from tests.surroundings import missing
from tests.waiting import until

pytestmark = pytest.mark.fault("F34")

ATTEMPTS = 50


@pytest.fixture
def set_clock(shop: Shop) -> Callable[..., None]:
    """Sets the clock of every process of the shop."""
    shop.clock_file = shop.folder / "clock"

    def set_by(**ahead: float) -> None:
        assert shop.clock_file is not None
        SetClock.set(shop.clock_file, timedelta(**ahead))
        if any(ahead.values()):
            injected()

    set_by(days=0)
    return set_by


def add_attempts(shop: Shop) -> None:
    """Which the next purge but one would remove."""
    with shop.opened() as indexing, transaction():
        db.session.add_all(SignInFailure(key=str(number), at=indexing.clock.now()) for number in range(ATTEMPTS))


def attempts(shop: Shop) -> int:
    with shop.opened():
        return db.session.scalar(select(func.count()).select_from(SignInFailure)) or 0


def alerts(shop: Shop) -> list[str]:
    with shop.opened():
        return [alert.cause for alert in open_alerts(None) if alert.cause.startswith(("clock", "purge"))]


def slots_to_come(shop: Shop) -> int:
    with shop.opened() as indexing:
        later = JobSlot.slot > indexing.clock.now() + timedelta(hours=1)
        return db.session.scalar(select(func.count()).where(later)) or 0


@pytest.mark.parametrize("days", [400, -400])
def test_a_running_scheduler_purges_nothing_when_the_clock_is_set_and_goes_on_when_it_is_right(
    shop: Shop, set_clock: Callable[..., None], days: int
) -> None:
    add_attempts(shop)
    assert shop.do("job", "purge").finish() == 0
    scheduler = shop.do("eager_scheduler")
    until(lambda: slots_of_all_jobs(shop))
    set_clock(days=days)
    until(lambda: alerts(shop) == ["clock_moved"])
    assert shop.do("job", "purge").finish() == 0
    scheduler.signal("KILL")
    scheduler.finish()
    shop.do("eager_scheduler")
    assert shop.do("job", "purge").finish() == 0
    assert attempts(shop) == ATTEMPTS
    set_clock(days=0)
    until(lambda: alerts(shop) == [])


def learned_searches(shop: Shop) -> int:
    with shop.opened():
        return db.session.scalar(select(func.count()).select_from(LearnedWord)) or 0


@pytest.mark.parametrize("days", [400, -400])
def test_a_process_that_learns_while_the_clock_is_wrong_leaves_what_was_learned(
    shop: Shop, set_clock: Callable[..., None], days: int
) -> None:
    """No scheduler has seen yet that it was set. The search was learned from counts that are gone."""
    assert shop.do("job", "purge").finish() == 0
    with shop.opened() as indexing, transaction():
        site_id = db.session.scalars(select(Site.id)).first()
        learned = {"learned": {}, "opens": 9, "learned_at": indexing.clock.now()}
        db.session.add(LearnedWord(site_id=site_id, word="tent", **learned))
        change_settings(site_id, {"search-learning": LearningMode.ON.value})
    set_clock(days=days)
    assert shop.do("job", "learn").finish() == 0
    assert learned_searches(shop) == 1
    set_clock(days=0)
    assert shop.do("job", "learn").finish() == 0
    assert learned_searches(shop) == 0, "by a clock that is believed, nothing teaches it any more"


def slots_of_all_jobs(shop: Shop) -> bool:
    with shop.opened():
        return len(db.session.scalars(select(JobSlot.job).distinct()).all()) == len(SCHEDULED)


def test_a_slot_that_was_claimed_far_ahead_holds_no_job_back(shop: Shop, set_clock: Callable[..., None]) -> None:
    """The nightly jobs are due as soon as the clock is right: their last slots are a week old."""
    with shop.opened() as indexing, transaction():
        week_ago = indexing.clock.now() - timedelta(days=7)
        for job in ("purge", "reconcile", "suggest"):
            for at in (week_ago, week_ago + timedelta(days=400)):
                db.session.add(JobSlot(job=job, slot=at, claimed_at=at))
    injected(3)
    shop.do("eager_scheduler")
    until(lambda: not slots_to_come(shop))
    with shop.opened() as indexing:
        yesterday = JobSlot.slot > indexing.clock.now() - timedelta(days=1)
        assert {"purge", "reconcile", "suggest"} <= set(db.session.scalars(select(JobSlot.job).where(yesterday)))


@pytest.mark.parametrize("ahead", [{"hours": 1}, {"hours": -1}, {"days": 400}, {"days": -400}], ids=str)
def test_a_build_goes_on_though_the_clock_is_set_while_it_stands_still(
    shop: Shop, set_clock: Callable[..., None], ahead: dict[str, float]
) -> None:
    """It is halted, so that nothing renews its lease when the scheduler looks."""
    scheduler = shop.do("eager_scheduler")
    until(lambda: slots_of_all_jobs(shop))
    builder = shop.do("rebuild", fault="sealed:STOP")
    builder.until_stopped()
    before = started_at(shop)
    set_clock(**ahead)
    until(lambda: abs(started_at(shop) - before - timedelta(**ahead)) < timedelta(seconds=5))
    builder.signal("CONT")
    assert builder.finish() == 0
    assert shop.run() == ("done", None)
    set_clock(days=0)
    scheduler.signal("KILL")
    scheduler.finish()
    check(shop)


def started_at(shop: Shop) -> datetime:
    with shop.opened():
        return db.session.scalars(select(RebuildRun.started_at).where(RebuildRun.state == "running")).one()


@pytest.mark.torture
@pytest.mark.parametrize("ahead", ["+1h", "-1h", "+400d", "-400d"])
def test_processes_to_which_the_system_tells_another_time_purge_nothing_and_build(shop: Shop, ahead: str) -> None:
    """By libfaketime, so that libraries and the database read that clock as well."""
    add_attempts(shop)
    assert shop.do("job", "purge").finish() == 0
    injected()
    for deed in (("job", "purge"), ("rebuild",)):
        assert under_another_clock(shop, ahead, *deed) == 0
    assert attempts(shop) == ATTEMPTS
    assert shop.run() == ("done", None)
    check(shop)


def under_another_clock(shop: Shop, ahead: str, *deed: str) -> int:
    """The exit status of a deed, whose process takes its time from libfaketime."""
    library = next(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"), None)
    if library is None:
        missing("libfaketime is not installed (on Debian: apt install libfaketime)")
    program = f"from tests.faults import act; act.main({list(deed)!r})"
    environment = shop.environment(LD_PRELOAD=str(library), FAKETIME=ahead, FAKETIME_DONT_FAKE_MONOTONIC="1")
    return subprocess.run([sys.executable, "-c", program], cwd=shop.folder, env=environment, check=False).returncode
