"""The contents of the System page: queue, jobs, search indexes, sentence model, leased work of a site. A part that does
not answer says so, and the others are shown all the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import func, select

from app.domain.machines.machines import all_machines
from app.domain.relevance.overview import latest_summary
from app.domain.search.engine import EngineFault, EngineState, IndexName, SearchEngine
from app.domain.search.index.documents import ranks_by_meaning
from app.domain.search.index.healing import is_hopeless, latest_failure
from app.domain.search.index.rebuild_outcomes import RunSummary
from app.domain.search.models import RebuildRun
from app.domain.search.sentence_model import SentenceModel, state_of
from app.domain.shared.clock import Clock
from app.domain.system.facts import Health, JobFacts, JobLine, Line, job_state
from app.domain.system.job_runs import MACHINE, JobRun, latest_runs
from app.domain.system.machine import Surroundings, machine_lines
from app.domain.system.machine_rows import MachineLine, machine_rows
from app.domain.work.models import State, WorkKind
from app.domain.work.progress import QueueOverview
from app.extensions import db

WAITS_LONG = 60.0  # Seconds: a worker takes a job at once.
NO_WORKER = "Start a worker with `python worker.py`, or the whole shop with `make run`. The log shows why it stopped."
NO_QUEUE = "Start Redis, or the whole shop with `make run`. Saving still works; the scheduler runs the jobs meanwhile."
LATEST_REBUILDS = 50
ENGINE_HEALTH = {
    EngineState.HEALTHY: Health.GOOD,
    EngineState.UNREACHABLE: Health.BAD,
    EngineState.NOT_SET_UP: Health.WARN,
}
MODEL_LABEL = "Sentence model"
SETTINGS_PAGE = ("admin.search_settings", "Search settings")
NO_MODEL = "`make semantic` installs one on this server (91 MB); then restart the shop."
RECENT_FAILURES = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class Sources:
    """The sources of the page. `queue` raises OSError when it does not answer; `machine` is the id of the machine that
    shows the page."""

    clock: Clock
    queue: Callable[[], QueueOverview | None]
    engine: SearchEngine
    jobs: Sequence[JobFacts]
    kinds: Sequence[WorkKind[Any]]
    surroundings: Surroundings
    model: SentenceModel | None = None
    machine: str = ""


@dataclass(frozen=True, slots=True)
class IndexLine:
    """An index on the System page. `number` counts the generations of the index; `built_at` is None for one that none
    of the stored runs built."""

    name: IndexName
    word: str
    health: Health
    generation: str | None
    documents: int | None
    size: int | None
    built_at: datetime | None
    error: str | None

    @property
    def number(self) -> str:
        """The number in a name such as "gen-7-1f0c", or the whole name where it has none."""
        parts = (self.generation or "").split("-")
        return parts[1] if len(parts) == 3 and parts[0] == "gen" else self.generation or ""


@dataclass(frozen=True, slots=True)
class WorkLine:
    """A kind of leased work on the System page. `failed` counts the failures within RECENT_FAILURES; `error` is the
    reason of the latest, at `failed_at`."""

    kind: str
    waiting: int
    running: int
    failed: int
    oldest_at: datetime | None = None
    error: str | None = None
    failed_at: datetime | None = None

    @property
    def is_quiet(self) -> bool:
        return not (self.waiting or self.running or self.failed)


@dataclass(frozen=True, slots=True)
class SystemOverview:
    """The contents of the System page. `queue` is None where it does not answer or is not set up, which one of `lines`
    says. `machines` are those of the shop, `machine` the one that shows the page. `purged` is what the last purge
    found: records kept, old and removed. `last_rebuild` is the latest of the site's indexes, None where none was."""

    now: datetime
    lines: Sequence[Line]
    jobs: Sequence[JobLine]
    queue: QueueOverview | None
    indexes: Sequence[IndexLine]
    work: Sequence[WorkLine]
    purged: Sequence[Mapping[str, Any]]
    machines: Sequence[MachineLine] = ()
    last_rebuild: RunSummary | None = None


def overview(sources: Sources, site_id: int, sees_all_sites: bool) -> SystemOverview:
    """Return the overview for an admin of a site, who sees the failures of this site and of the whole machine. Raises
    SQLAlchemyError."""
    now, runs = sources.clock.now(), latest_runs(sources.machine)
    queue, queue_lines = _queue_lines(now, sources.queue)
    purge = runs.get("purge")
    model_line = sentence_model_line(sources.model, sources.engine, site_id)
    return SystemOverview(
        now,
        [*queue_lines, *machine_lines(now, sources.surroundings, runs), model_line],
        [_job_line(now, facts, runs.get(facts.name), None if sees_all_sites else site_id) for facts in sources.jobs],
        queue,
        index_lines(sources.engine, site_id),
        list(work_lines(sources.clock, sources.kinds, site_id)),
        purge.report if purge and isinstance(purge.report, list) else [],
        machine_rows(sources.clock, all_machines(), sources.machine),
        latest_summary(sources.clock, sources.engine, site_id),
    )


def _job_line(now: datetime, facts: JobFacts, run: JobRun | None, site_id: int | None) -> JobLine:
    if run is None:
        return JobLine(facts, facts.next_at(now), *job_state(now, None, None, has_failed=False))
    seen = {MACHINE, str(site_id)}
    errors = {site: reason for site, reason in run.errors.items() if site_id is None or site in seen}
    state = job_state(now, run.started_at, run.finished_at, bool(errors))
    took = run.finished_at - run.started_at if run.finished_at else None
    return JobLine(facts, facts.next_at(now), *state, run.started_at, took, errors)


def _queue_lines(now: datetime, read: Callable[[], QueueOverview | None]) -> tuple[QueueOverview | None, list[Line]]:
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
    return found, [_backlog_line(now, found), _workers_line(found)]


def _backlog_line(now: datetime, queue: QueueOverview) -> Line:
    waiting, failed = sum(kind.waiting for kind in queue.kinds), sum(kind.failed for kind in queue.kinds)
    oldest = min((kind.oldest_at for kind in queue.kinds if kind.oldest_at), default=None)
    is_slow = oldest is not None and (now - oldest).total_seconds() > WAITS_LONG
    detail = f"{waiting:,} waiting, {failed:,} failed within a day{', the oldest since' if oldest else ''}"
    word, health = ("Slow", Health.WARN) if is_slow else ("Answers", Health.GOOD)
    return Line("Queue", word, health, detail, oldest)


def _workers_line(queue: QueueOverview) -> Line:
    alive = [worker for worker in queue.workers if worker.is_alive]
    idle = [kind.name for kind in queue.kinds if not any(kind.name in worker.kinds for worker in alive)]
    if idle:
        missing = f"{len(alive)} alive; no worker for {' and '.join(idle)}"
        return Line("Workers", "Missing", Health.BAD, missing, advice=NO_WORKER)
    busy = sum(worker.job is not None for worker in alive)
    return Line("Workers", "Alive", Health.GOOD, f"{len(alive)} alive, {busy} busy")


def index_lines(engine: SearchEngine, site_id: int) -> list[IndexLine]:
    built = _built_at(site_id)
    return [_index_line(engine, site_id, index, built) for index in IndexName]


def _index_line(engine: SearchEngine, site_id: int, index: IndexName, built: dict[str, datetime]) -> IndexLine:
    status = engine.status(site_id, index)
    health = Health.BAD if status.fault else ENGINE_HEALTH[status.state]
    size = engine.size(site_id, index) if status.generation else None
    at = built.get(status.generation or "")
    return IndexLine(index, status.label, health, status.generation, status.documents, size, at, status.error)


def _built_at(site_id: int) -> dict[str, datetime]:
    """Return the time at which each generation was finished, by its name."""
    query = select(RebuildRun.generations, RebuildRun.finished_at).where(
        RebuildRun.site_id == site_id, RebuildRun.state == State.DONE
    )
    rows = db.session.execute(query.order_by(RebuildRun.created_at.desc()).limit(LATEST_REBUILDS))
    return {
        str(swap["after"]): finished_at
        for generations, finished_at in rows
        for swap in generations.values()
        if swap.get("after") and finished_at
    }


def sentence_model_line(model: SentenceModel | None, engine: SearchEngine, site_id: int) -> Line:
    """Return the line about the sentence model, which is loaded to see whether it can be used. Raises
    SQLAlchemyError."""
    state = state_of(model)
    if state.fault is not None:
        advice = "Search ranks by words alone. Fix the files, then restart the shop."
        return Line(MODEL_LABEL, "Unusable", Health.BAD, state.fault, advice=advice, page=SETTINGS_PAGE)
    if state.label is None:
        return Line(
            MODEL_LABEL,
            "Not installed",
            Health.PLAIN,
            "search ranks by words alone",
            advice=NO_MODEL,
            page=SETTINGS_PAGE,
        )
    if not ranks_by_meaning(site_id):
        return Line(
            MODEL_LABEL, "Off", Health.PLAIN, f"{state.label}; this shop ranks by words alone", page=SETTINGS_PAGE
        )
    status = engine.status(site_id, IndexName.PRODUCTS)
    if status.meaning_fault:
        advice = status.meaning_fault
        return Line(MODEL_LABEL, "Not in use", Health.WARN, state.label, advice=advice, page=SETTINGS_PAGE)
    if status.state is EngineState.UNREACHABLE and status.fault not in (None, EngineFault.INDEX):
        return Line(MODEL_LABEL, "Not in use", Health.WARN, state.label, advice=status.error or "", page=SETTINGS_PAGE)
    detail = f"{state.label}; vectors of {status.vectors or 0:,} of {status.documents or 0:,} products of this shop"
    if status.documents is None or status.lacks_vectors:
        return Line(
            MODEL_LABEL,
            "Not in use",
            Health.WARN,
            detail,
            advice=_why_not_in_use(site_id, status.lacks_vectors),
            page=SETTINGS_PAGE,
        )
    return Line(MODEL_LABEL, "In use", Health.GOOD, detail, page=SETTINGS_PAGE)


def _why_not_in_use(site_id: int, model: str | None) -> str:
    if model is None or not is_hopeless(site_id, model):
        requested = "The shop requests a rebuild of the products by itself."
    else:
        requested = "Two rebuilds for it were in vain. Rebuild the products by hand once the cause is gone."
    error = model and latest_failure(site_id, model)
    return f"{requested} The last one failed: {error}" if error else requested


def work_lines(clock: Clock, kinds: Sequence[WorkKind[Any]], site_id: int) -> Iterator[WorkLine]:
    """Yield a line for each kind of work, by one statement, and a second where something failed."""
    since = clock.now() - RECENT_FAILURES
    for kind in kinds:
        model = kind.model
        mine = (model.site_id == site_id, model.state != State.DONE)
        is_recent = (model.state != State.FAILED) | (model.finished_at > since)
        query = select(model.state, func.count(), func.min(model.created_at)).where(*mine, is_recent)
        by_state = {state: (number, at) for state, number, at in db.session.execute(query.group_by(model.state))}
        failed = by_state.get(State.FAILED, (0, None))[0]
        error, failed_at = _last_failure(kind, site_id) if failed else (None, None)
        waiting, oldest_at = by_state.get(State.WAITING, (0, None))
        running = by_state.get(State.RUNNING, (0, None))[0]
        yield WorkLine(kind.name, waiting, running, failed, oldest_at, error, failed_at)


def _last_failure(kind: WorkKind[Any], site_id: int) -> tuple[str | None, datetime | None]:
    model = kind.model
    query = select(model.error, model.finished_at).where(model.site_id == site_id, model.state == State.FAILED)
    row = db.session.execute(query.order_by(model.finished_at.desc()).limit(1)).first()
    return (row.error, row.finished_at) if row else (None, None)
