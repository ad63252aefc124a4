"""The contents of the System page. A part that does not answer says so, and the others are shown all the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from app.domain.search.engine import SearchEngine
from app.domain.search.sentence_model import SentenceModel
from app.domain.shared.clock import Clock
from app.domain.system.facts import Health, JobFacts, JobLine, Line, job_state
from app.domain.system.indexes import IndexLine, index_lines
from app.domain.system.job_runs import MACHINE, latest_runs
from app.domain.system.machine import Surroundings, machine_lines
from app.domain.system.models import JobRun
from app.domain.system.sentence_model import sentence_model_line
from app.domain.system.work import WorkLine, work_lines
from app.domain.work.kinds import WorkKind
from app.domain.work.queue_overview import QueueOverview

WAITS_LONG = 60.0  # Seconds: a worker takes a job at once.
NO_WORKER = "Start a worker with `python worker.py`, or the whole shop with `make run`. The log shows why it stopped."
NO_QUEUE = "Start Redis, or the whole shop with `make run`. Saving still works; the scheduler runs the jobs meanwhile."


@dataclass(frozen=True, slots=True)
class Sources:
    """The sources of the page. `queue` raises OSError when it does not answer."""

    clock: Clock
    queue: Callable[[], QueueOverview | None]
    engine: SearchEngine
    jobs: Sequence[JobFacts]
    kinds: Sequence[WorkKind[Any]]
    surroundings: Surroundings
    model: SentenceModel | None = None


@dataclass(frozen=True, slots=True)
class SystemOverview:
    """The contents of the System page. `queue` is None where it does not answer or is not set up, which one of `lines`
    says. `purged` is what the last purge found: records kept, old and removed."""

    now: datetime
    lines: Sequence[Line]
    jobs: Sequence[JobLine]
    queue: QueueOverview | None
    indexes: Sequence[IndexLine]
    work: Sequence[WorkLine]
    purged: Sequence[Mapping[str, Any]]


def overview(sources: Sources, site_id: int, sees_all_sites: bool) -> SystemOverview:
    """Return the overview for an admin of a site, who sees the failures of this site and of the whole machine. Raises
    SQLAlchemyError."""
    now, runs = sources.clock.now(), latest_runs()
    queue, queue_lines = _queue(now, sources.queue)
    purge = runs.get("purge")
    model_line = sentence_model_line(sources.model, sources.engine, site_id)
    return SystemOverview(
        now,
        [*queue_lines, *machine_lines(now, sources.surroundings, runs), model_line],
        [_job(now, facts, runs.get(facts.name), None if sees_all_sites else site_id) for facts in sources.jobs],
        queue,
        index_lines(sources.engine, site_id),
        list(work_lines(sources.clock, sources.kinds, site_id)),
        purge.report if purge and isinstance(purge.report, list) else [],
    )


def _job(now: datetime, facts: JobFacts, run: JobRun | None, site_id: int | None) -> JobLine:
    if run is None:
        return JobLine(facts, facts.next_at(now), *job_state(now, None, None, has_failed=False))
    seen = {MACHINE, str(site_id)}
    errors = {site: reason for site, reason in run.errors.items() if site_id is None or site in seen}
    state = job_state(now, run.started_at, run.finished_at, bool(errors))
    took = run.finished_at - run.started_at if run.finished_at else None
    return JobLine(facts, facts.next_at(now), *state, run.started_at, took, errors)


def _queue(now: datetime, read: Callable[[], QueueOverview | None]) -> tuple[QueueOverview | None, list[Line]]:
    try:
        found = read()
    except OSError as error:
        return None, [
            Line("Queue", "Not responding", Health.BAD, str(error), advice=NO_QUEUE),
            Line("Workers", "Unknown", Health.WARN, "unknown while the queue does not respond"),
        ]
    if found is None:
        detail = "the scheduler runs the jobs"
        return None, [Line("Queue", "Not set up", Health.WARN, detail, advice="Set `REDIS_URL`.")]
    return found, [_backlog(now, found), _workers(found)]


def _backlog(now: datetime, queue: QueueOverview) -> Line:
    waiting, failed = sum(kind.waiting for kind in queue.kinds), sum(kind.failed for kind in queue.kinds)
    oldest = min((kind.oldest_at for kind in queue.kinds if kind.oldest_at), default=None)
    is_slow = oldest is not None and (now - oldest).total_seconds() > WAITS_LONG
    detail = f"{waiting:,} waiting, {failed:,} failed within a day{', the oldest since' if oldest else ''}"
    word, health = ("Slow", Health.WARN) if is_slow else ("Answers", Health.GOOD)
    return Line("Queue", word, health, detail, oldest)


def _workers(queue: QueueOverview) -> Line:
    alive = [worker for worker in queue.workers if worker.is_alive]
    idle = [kind.name for kind in queue.kinds if not any(kind.name in worker.kinds for worker in alive)]
    if idle:
        missing = f"{len(alive)} alive; no worker for {' and '.join(idle)}"
        return Line("Workers", "Missing", Health.BAD, missing, advice=NO_WORKER)
    busy = sum(worker.job is not None for worker in alive)
    return Line("Workers", "Alive", Health.GOOD, f"{len(alive)} alive, {busy} busy")
