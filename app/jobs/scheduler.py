"""The scheduler process: it runs the scheduled jobs that are due, and does the queue's work when the queue or its
workers do not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial

import structlog
from croniter import croniter
from sqlalchemy.exc import SQLAlchemyError

from app.domain.search.index import outbox, slots
from app.domain.shared.problems import DomainError
from app.domain.work.context import read_afresh
from app.extensions import db
from app.jobs import alerts, events, indexing, payment_simulator, words
from app.jobs import counting as counting_job
from app.jobs.analytics import StaleWindows
from app.jobs.clock import ClockWatch
from app.jobs.golden import GoldenWatch
from app.jobs.leased import LEASED_JOBS, LeasedWatch
from app.jobs.machine import MachineWatch
from app.jobs.scheduled import SCHEDULED, run_scheduled
from app.jobs.sitemaps import SitemapWatch
from app.log_redaction import error_summary
from app.ports import clock, queue
from app.storage_alerts import note_storage_fault
from app.transaction import transaction

LOOKS_BEFORE_HELP = 2  # A second apart: an entry that is there that often was claimed by no worker.
EVENTS_WAIT = timedelta(seconds=3)  # For a worker to claim them.
REST_AFTER_FAILURE = 30.0  # Seconds.

log = structlog.get_logger()
Background = Callable[[str, Callable[[], object]], bool]


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
    _sitemaps: SitemapWatch = field(default_factory=SitemapWatch)
    _clock: ClockWatch = field(default_factory=ClockWatch)
    _machine: MachineWatch = field(default_factory=MachineWatch)

    def __post_init__(self) -> None:
        self._leased = {name: LeasedWatch(job, self._clock) for name, job in LEASED_JOBS.items()}

    def look(self) -> None:
        """Do the steps of each second. A step that fails is logged and tried again at the next look."""
        steps: dict[str, Callable[[], object]] = {
            "watch_clock": self._clock.look,
            "apply_outbox": self._apply_waiting_changes,
            "heal_indexes": indexing.heal,
            "deliver_events": partial(events.deliver, EVENTS_WAIT),
            "deliver_simulated_events": partial(payment_simulator.deliver, EVENTS_WAIT),
            **{name: partial(watch.look, self.in_background) for name, watch in self._leased.items()},
            "publish_words": words.publish_forgotten,
            "count_searches": self._count_searches,
            "check_golden_searches": partial(self._golden.look, self.in_background),
            "renew_search_windows": partial(self._windows.look, self.in_background),
            "request_sitemaps": self._sitemaps.look,
            "run_due_jobs": self._run_due_jobs,
            "watch_machine": self._machine.look,
            "deliver_alerts": partial(alerts.look, self.deliver_in_background or self.in_background),
        }
        for name, step in steps.items():
            try:
                read_afresh()
                step()
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

    def _apply_waiting_changes(self) -> None:
        known, self._oldest = self._oldest, {}
        for site_id, entry_id in outbox.oldest_by_site().items():
            seen, looks = known.get(site_id, (entry_id, 0))
            is_left = seen == entry_id or site_id in self._unfinished
            self._oldest[site_id] = (entry_id, looks + 1 if is_left else 1)
            if self._oldest[site_id][1] > LOOKS_BEFORE_HELP:
                self._apply(site_id)

    def _apply(self, site_id: int) -> None:
        now = clock().monotonic()
        if now < self._resting.get(site_id, now):
            return
        self._unfinished.discard(site_id)
        try:
            if indexing.apply_outbox(site_id):
                self._unfinished.add(site_id)
        except DomainError as error:
            self._resting[site_id] = now + REST_AFTER_FAILURE
            log.warning("changes_wait", site=site_id, error=error.message)

    def _count_searches(self) -> None:
        """Enqueue the counting of pending searches, or count them here where no worker did. The enqueuing is done here
        and not at the search, where a queue that hangs would keep shoppers waiting."""
        self._looks_uncounted = self._looks_uncounted + 1 if counting_job.has_pending() else 0
        if self._looks_uncounted == 1 and queue().enqueue("counting:drain"):
            return
        if self._looks_uncounted in (1, LOOKS_BEFORE_HELP + 1):
            self._looks_uncounted = 0
            counting_job.drain()

    def _run_due_jobs(self) -> None:
        now = clock().now()
        for name, job in SCHEDULED.items():
            slot = croniter(job.current_times, now).get_prev(datetime)
            if self._known_slots.get(name) != slot:
                self._known_slots[name] = slot
                if self._claim(name, slot):
                    self._due.append(name)
        while self._due and self.in_background(self._due[0], partial(run_scheduled, self._due[0])):
            self._due.pop(0)

    def _claim(self, name: str, slot: datetime) -> bool:
        with transaction():
            return slots.claim(clock(), name, slot)
