"""The process that sees to it that nothing waits for ever: it runs what is due by the clock, and does what the
queue should have done when the queue or its workers do not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial

import structlog
from croniter import croniter
from sqlalchemy.exc import SQLAlchemyError

from app.domain.search.index import builders, runs, slots, wishes
from app.domain.search.index.indexing import read_afresh
from app.domain.search.synonyms import suggesting
from app.domain.shared.problems import DomainError
from app.domain.taxonomy.tasks.running import sites_with_work
from app.extensions import db
from app.jobs import counting as counting_job
from app.jobs import events, indexing, taxonomy, words
from app.jobs import suggesting as suggesting_job
from app.jobs.analytics import StaleWindows
from app.jobs.scheduled import SCHEDULED
from app.jobs.trying import ForgottenReplays, GoldenWatch
from app.ports import clock, counting, queue, search_engine
from app.transaction import transaction

LOOKS_BEFORE_HELP = 2  # A second apart: a wish that stands there so often was not taken up by a worker.
EVENTS_WAIT = timedelta(seconds=3)  # For a worker that takes them up.
REST_AFTER_FAILURE = timedelta(seconds=30)
ASK_AGAIN_AFTER = timedelta(seconds=10)

log = structlog.get_logger()
Background = Callable[[str, Callable[[], object]], bool]


@dataclass
class Scheduler:
    """`in_background` runs a function beside this one and says whether it could begin; a busy one is asked again."""

    in_background: Background
    _oldest: dict[int, tuple[int, int]] = field(default_factory=dict)
    _resting: dict[int, datetime] = field(default_factory=dict)
    _asked: dict[str, datetime] = field(default_factory=dict)
    _asked_tasks: dict[int, datetime] = field(default_factory=dict)
    _asked_suggestions: dict[int, datetime] = field(default_factory=dict)
    _known_slots: dict[str, datetime] = field(default_factory=dict)
    _due: list[str] = field(default_factory=list)
    _looks_uncounted: int = 0
    _replays: ForgottenReplays = field(default_factory=ForgottenReplays)
    _golden: GoldenWatch = field(default_factory=GoldenWatch)
    _windows: StaleWindows = field(default_factory=StaleWindows)

    def look(self) -> None:
        """Once a second. A step that fails is logged and tried again at the next look."""
        for step in (
            self._apply_forgotten_wishes,
            self._deliver_forgotten_events,
            self._end_dead_runs,
            self._start_waiting_runs,
            self._work_off_forgotten_tasks,
            self._publish_forgotten_words,
            self._suggest_forgotten,
            self._count_what_waits,
            self._replay_forgotten,
            self._check_golden_searches,
            self._renew_search_windows,
            self._run_due_jobs,
        ):
            try:
                read_afresh()
                step()
            except (DomainError, SQLAlchemyError, OSError) as error:
                db.session.rollback()
                log.warning("scheduler_step_failed", step=step.__name__, error=str(error))
        db.session.remove()

    def _apply_forgotten_wishes(self) -> None:
        known, self._oldest = self._oldest, {}
        for site_id, entry_id in wishes.oldest_by_site().items():
            seen, looks = known.get(site_id, (entry_id, 0))
            self._oldest[site_id] = (entry_id, looks + 1 if seen == entry_id else 1)
            if self._oldest[site_id][1] > LOOKS_BEFORE_HELP:
                self._apply(site_id)

    def _apply(self, site_id: int) -> None:
        now = clock().now()
        if now < self._resting.get(site_id, now):
            return
        try:
            indexing.apply_outbox(site_id)
        except DomainError as error:
            self._resting[site_id] = now + REST_AFTER_FAILURE
            log.warning("changes_wait", site=site_id, error=error.message)

    def _deliver_forgotten_events(self) -> None:
        events.deliver(EVENTS_WAIT)

    def _end_dead_runs(self) -> None:
        if not runs.any_unfinished():
            return
        with transaction():
            ended = [(run.id, run.state, run.error) for run in builders.end_dead_runs(clock(), search_engine())]
        for run_id, state, error in ended:
            log.warning("rebuild_ended_for_its_builder", run=run_id, state=state, error=error)

    def _start_waiting_runs(self) -> None:
        """Asks the queue again, which may have lost its jobs; without a queue, builds."""
        now = clock().now()
        waiting = [run.id for run in runs.waiting_runs()]
        self._asked = {run_id: self._asked.get(run_id, now) for run_id in waiting}
        for run_id in waiting:
            if now - self._asked[run_id] >= ASK_AGAIN_AFTER:
                self._asked[run_id] = now
                if not queue().enqueue("indexing:rebuild", run_id):
                    self.in_background(f"rebuild {run_id}", partial(indexing.rebuild, run_id))

    def _work_off_forgotten_tasks(self) -> None:
        """As with runs. A task whose worker died waits for its lease to end, then goes on where it was."""
        now = clock().now()
        idle = sites_with_work(clock())
        self._asked_tasks = {site_id: self._asked_tasks.get(site_id, now) for site_id in idle}
        for site_id in idle:
            if now - self._asked_tasks[site_id] >= ASK_AGAIN_AFTER:
                self._asked_tasks[site_id] = now
                if not queue().enqueue("taxonomy:work_off_slice", site_id):
                    self.in_background(f"tasks of site {site_id}", partial(taxonomy.work_off_all, site_id))

    def _publish_forgotten_words(self) -> None:
        words.publish_forgotten()

    def _suggest_forgotten(self) -> None:
        """As with runs."""
        now = clock().now()
        waiting = suggesting.waiting_sites(clock())
        self._asked_suggestions = {site_id: self._asked_suggestions.get(site_id, now) for site_id in waiting}
        for site_id in waiting:
            if now - self._asked_suggestions[site_id] >= ASK_AGAIN_AFTER:
                self._asked_suggestions[site_id] = now
                if not queue().enqueue("suggesting:suggest", site_id):
                    self.in_background(f"suggestions of site {site_id}", partial(suggesting_job.suggest, site_id))

    def _count_what_waits(self) -> None:
        """Asks the queue here and not where shoppers search, whom a queue that hangs would keep waiting."""
        self._looks_uncounted = self._looks_uncounted + 1 if counting().waits() else 0
        if self._looks_uncounted == 1 and queue().enqueue("counting:drain"):
            return
        if self._looks_uncounted in (1, LOOKS_BEFORE_HELP + 1):
            self._looks_uncounted = 0
            counting_job.drain()

    def _replay_forgotten(self) -> None:
        self._replays.look(self.in_background)

    def _check_golden_searches(self) -> None:
        self._golden.look(self.in_background)

    def _renew_search_windows(self) -> None:
        self._windows.look(self.in_background)

    def _run_due_jobs(self) -> None:
        now = clock().now()
        for name, job in SCHEDULED.items():
            slot = croniter(job.times, now).get_prev(datetime)
            if self._known_slots.get(name) != slot:
                self._known_slots[name] = slot
                if self._claim(name, slot):
                    self._due.append(name)
        while self._due and self.in_background(self._due[0], SCHEDULED[self._due[0]].run):
            self._due.pop(0)

    def _claim(self, name: str, slot: datetime) -> bool:
        with transaction():
            return slots.claim(clock(), name, slot)
