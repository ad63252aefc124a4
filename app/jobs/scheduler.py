"""The scheduler process: it runs the scheduled jobs that are due, does the queue's work when the queue or its workers
do not, and watches the clock."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial

import structlog
from croniter import croniter
from sqlalchemy.exc import SQLAlchemyError

from app.domain.machines.coexistence import on_machine
from app.domain.retention.clock_trust import ClockReading, MeasuredTime
from app.domain.search.index import outbox, slots
from app.domain.shared.problems import DomainError
from app.domain.shared.redaction import error_summary
from app.domain.work.context import read_afresh
from app.domain.work.leases import redate
from app.extensions import db
from app.jobs import alerts, events, pos, purging, search, search_statistics
from app.jobs.catalogue import BundleSweep
from app.jobs.heartbeat import Heartbeat
from app.jobs.leased import LEASED_JOBS, LeasedWatch
from app.jobs.machine import MachineWatch, database_fault
from app.jobs.relevance import GoldenWatch
from app.jobs.scheduled import SCHEDULED, machine_of, run_scheduled
from app.jobs.search_statistics import StaleWindows
from app.jobs.seo import SitemapWatch
from app.operations.storage import note_storage_fault
from app.ports import clock, machine_id, queue
from app.transaction import transaction

LOOKS_BEFORE_HELP = 2  # A second apart: an entry that is there that often was claimed by no worker.
EVENTS_WAIT = timedelta(seconds=3)  # For a worker to claim them.
REST_AFTER_FAILURE = 30.0  # Seconds.
BETWEEN_READINGS = timedelta(minutes=1)
WITHOUT_DATABASE = ("watch_machine", "deliver_alerts")  # They say that it is gone.
NOTICED = timedelta(seconds=2)  # A time service that corrects by less hurts no lease.

log = structlog.get_logger()
Background = Callable[[str, Callable[[], object]], bool]


def _database_answers() -> bool:
    """Whether the database answers. Where it is silent, each step would wait for it in turn."""
    if (fault := database_fault()) is not None:
        log.warning("database_unavailable", error=fault)
    return fault is None


@dataclass(frozen=True, slots=True)
class Moment:
    """The readings of the machine's two clocks."""

    wall: datetime = field(default_factory=lambda: clock().now())
    monotonic: float = field(default_factory=lambda: clock().monotonic())

    def elapsed(self, since: Moment) -> timedelta:
        return timedelta(seconds=self.monotonic - since.monotonic)


@dataclass
class ClockWatch:
    """The watch that notices at each look whether the clock was set, and dates unfinished work anew where it was. It
    notes then, and every minute, what the clock says."""

    _last: Moment | None = None
    _noted: Moment | None = None
    _reading: ClockReading | None = None

    def now(self) -> datetime:
        """Return the earlier of the clock's time and the time it would show had it not been set since the last look:
        work is given up by this time, since a jump that was not seen yet ends none."""
        now = Moment()
        return now.wall if self._last is None else min(now.wall, self._last.wall + now.elapsed(self._last))

    def monotonic(self) -> float:
        return clock().monotonic()

    def look(self) -> None:
        now = Moment()
        if self._last is None or self._noted is None or self._reading is None:
            # First of all: earlier looks may have failed here, while the database was away. The moment is from before
            # the reading, so that the next look sees whether the clock was set meanwhile.
            self._reading = purging.read_clock()
            self._last = self._noted = now
            return
        has_jumped = _redate_leases(self._last, now)
        self._last = now
        if has_jumped or now.elapsed(self._noted) >= BETWEEN_READINGS:
            self._reading = purging.read_clock(MeasuredTime(self._reading, now.elapsed(self._noted)))
            self._noted = now


def _redate_leases(last: Moment, now: Moment) -> bool:
    """Date the leases of unfinished work anew where the clock was set since the last look; return whether it was."""
    expected = last.wall + now.elapsed(last)
    if abs(now.wall - expected) < NOTICED:
        return False
    log.warning("clock_jumped", by=str(now.wall - expected))
    with transaction():
        for leased in LEASED_JOBS.values():
            redate(leased.kind, expected, now.wall)
    return True


@dataclass
class Scheduler:
    """The scheduler of jobs. `in_background` runs a function beside this one and says whether it could begin; a busy
    one is tried again. `deliver_in_background` does so for alerts, which a long rebuild must not hold up."""

    in_background: Background
    deliver_in_background: Background | None = None
    _oldest: dict[int, tuple[int, int]] = field(default_factory=dict)
    _unfinished: set[int] = field(default_factory=set)
    _resting: dict[int, float] = field(default_factory=dict)
    _known_slots: dict[str, datetime] = field(default_factory=dict)
    _due: list[str] = field(default_factory=list)
    _broken: set[str] = field(default_factory=set)
    _looks_uncounted: int = 0
    _golden: GoldenWatch = field(default_factory=GoldenWatch)
    _windows: StaleWindows = field(default_factory=StaleWindows)
    _snapshots: search.SnapshotWatch = field(default_factory=search.SnapshotWatch)
    _sitemaps: SitemapWatch = field(default_factory=SitemapWatch)
    _clock: ClockWatch = field(default_factory=ClockWatch)
    _heartbeat: Heartbeat = field(default_factory=Heartbeat)
    _bundles: BundleSweep = field(default_factory=BundleSweep)
    _machine: MachineWatch = field(default_factory=MachineWatch)

    def __post_init__(self) -> None:
        self._leased = {name: LeasedWatch(job, self._clock) for name, job in LEASED_JOBS.items()}

    def look(self) -> None:
        """Do the steps of each second, or only those WITHOUT_DATABASE where that does not answer. A step that fails is
        logged and tried again at the next look."""
        steps = self._steps()
        for name in steps if _database_answers() else WITHOUT_DATABASE:
            try:
                read_afresh()
                steps[name]()
                self._broken.discard(name)
            except (DomainError, SQLAlchemyError, OSError) as error:
                db.session.rollback()
                if note_storage_fault(error):
                    continue
                log.warning("scheduler_step_failed", step=name, error=error_summary(error))
            except Exception:  # One record that no rule foresaw must not stop the steps behind it for good.
                db.session.rollback()
                if name not in self._broken:  # A traceback each second would fill the disk.
                    log.exception("scheduler_step_failed", step=name)
                self._broken.add(name)
        db.session.remove()

    def _steps(self) -> dict[str, Callable[[], object]]:
        return {
            "watch_clock": self._clock.look,
            "beat": self._heartbeat.look,
            "apply_outbox": self._apply_waiting_changes,
            "heal_indexes": search.heal,
            "deliver_events": partial(events.deliver, EVENTS_WAIT),
            "deliver_simulated_events": partial(pos.deliver_simulated_events, EVENTS_WAIT),
            **{name: partial(watch.look, self.in_background) for name, watch in self._leased.items()},
            "publish_words": search.publish_forgotten_words,
            "publish_conditions": self._snapshots.look,
            "count_searches": self._count_searches,
            "check_golden_searches": partial(self._golden.look, self.in_background),
            "renew_search_windows": partial(self._windows.look, self.in_background),
            "request_sitemaps": self._sitemaps.look,
            "run_due_jobs": self._run_due_jobs,
            "watch_machine": self._machine.look,
            "sweep_bundles": self._bundles.look,
            "deliver_alerts": partial(alerts.look, self.deliver_in_background or self.in_background),
        }

    def _apply_waiting_changes(self) -> None:
        known, self._oldest = self._oldest, {}
        for site_id, entry_id in outbox.oldest_by_site().items():
            seen, looks = known.get(site_id, (entry_id, 0))
            is_left = seen == entry_id or site_id in self._unfinished
            self._oldest[site_id] = (entry_id, looks + 1 if is_left else 1)
            if self._oldest[site_id][1] > LOOKS_BEFORE_HELP:
                self._apply_outbox(site_id)

    def _apply_outbox(self, site_id: int) -> None:
        now = clock().monotonic()
        if now < self._resting.get(site_id, now):
            return
        self._unfinished.discard(site_id)
        try:
            if search.apply_outbox(site_id):
                self._unfinished.add(site_id)
        except DomainError as error:
            self._resting[site_id] = now + REST_AFTER_FAILURE
            log.warning("changes_wait", site=site_id, error=error.message)

    def _count_searches(self) -> None:
        """Enqueue the counting of pending searches, or count them here where no worker did. The enqueuing is done here
        and not at the search, where a queue that hangs would keep shoppers waiting."""
        self._looks_uncounted = self._looks_uncounted + 1 if search_statistics.has_pending() else 0
        if self._looks_uncounted == 1 and queue().enqueue("search_statistics:drain", machine=machine_id()):
            return
        if self._looks_uncounted in (1, LOOKS_BEFORE_HELP + 1):
            self._looks_uncounted = 0
            search_statistics.drain()

    def _run_due_jobs(self) -> None:
        now = clock().now()
        for name, job in SCHEDULED.items():
            slot = croniter(job.current_times, now).get_prev(datetime)
            if self._known_slots.get(name) != slot:
                self._known_slots[name] = slot
                if self._claim_slot(on_machine(name, machine_of(job)), slot):
                    self._due.append(name)
        while self._due and self.in_background(self._due[0], partial(run_scheduled, self._due[0])):
            self._due.pop(0)

    def _claim_slot(self, name: str, slot: datetime) -> bool:
        with transaction():
            return slots.claim(clock(), name, slot)
