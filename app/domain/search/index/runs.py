"""Rebuild runs: who requested one, whether one is joined, how far it is, how it ended and how long it is kept."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from sqlalchemy import ColumnElement, and_, exists, or_, select
from sqlalchemy.orm import aliased

from app.domain.retention.purging import Retention
from app.domain.search.engine import NOT_SET_UP, EngineState, IndexName, SearchEngine
from app.domain.search.index import outbox
from app.domain.search.index.documents import content_search_is_on, is_wanted
from app.domain.search.index.rebuild_outcomes import EXPECTED, why_it_failed
from app.domain.search.models import JobSlot, RebuildRun, ReconcileReport
from app.domain.shared.author import Author
from app.domain.shared.clock import Clock
from app.domain.shared.problems import Conflict, Invalid
from app.domain.shared.records import existing, find_record
from app.domain.sites import versioning
from app.domain.work import leases
from app.domain.work.context import WorkerLocks
from app.domain.work.leases import insert_alone
from app.domain.work.models import UNFINISHED, State, WorkKind, WorkRequested, requested_now
from app.events import publish
from app.extensions import db

JOINED_FOR = timedelta(minutes=30)
SETTLED = timedelta(seconds=5)  # After the latest save: more may follow, and it may not be committed yet.
BY_ITSELF = "the shop itself"  # The name of the requester where no user requested a rebuild.
CONTENT_IS_OFF = (
    "Content search is switched off. Switch on “Find pages and collections too” in Search settings, or rebuild the "
    "products."
)
KEEP_REPORTS = timedelta(days=90)
KEEP_SLOTS = timedelta(days=7)


def _on_end(clock: Clock, run: RebuildRun) -> None:
    """Clean up after a run, however it ended: remove the entries that were kept for it, raise the version of the index,
    which a builder that died right after the swap could not, and create the run that was queued behind it."""
    outbox.drop_applied(run.site_id)
    versioning.index_changed(db.session(), run.site_id)
    queued = _wanted_indexes(run.site_id, run.queued_scope) if run.queued_scope else frozenset()
    if queued:
        _create_run(Author(run.site_id, run.queued_by or BY_ITSELF, clock), Scope.of(queued))


REBUILD = WorkKind(
    "rebuild",
    RebuildRun,
    lease=timedelta(seconds=20),
    kept=timedelta(days=30),
    is_resumed=False,
    waits_at_most=JOINED_FOR,
    abandoned="The process that built the index stopped before it was done.",
    overdue="It was not finished within half an hour.",
    on_end=_on_end,
    describe_error=why_it_failed,
    expected=EXPECTED,
)


class Scope(StrEnum):
    ALL = "ALL"
    PRODUCTS = "PRODUCTS"
    CONTENT = "CONTENT"

    @property
    def indexes(self) -> tuple[IndexName, ...]:
        return tuple(IndexName) if self is Scope.ALL else (IndexName(self.value.lower()),)

    @classmethod
    def of(cls, indexes: Collection[IndexName]) -> Scope:
        """Return the scope of one index or both."""
        return cls.ALL if len(indexes) == len(IndexName) else cls(next(iter(indexes)).value.upper())


def request_rebuild(
    author: Author, engine: SearchEngine, locks: WorkerLocks, scope: str, since: datetime | None = None
) -> tuple[RebuildRun, bool]:
    """Return the run that will rebuild, and whether it was joined. An unfinished run whose builder lives is joined
    whatever its scope. What it does not bring is queued behind it: indexes outside of its scope, and all of them where
    it began before a save at `since`, or within SETTLED of it. Call it in a transaction. Raises Invalid for an unknown
    scope, Conflict when search is not set up or content search is off."""
    _check_request(engine, author.site_id, scope)
    for _ in range(3):
        unfinished = select(RebuildRun).where(RebuildRun.site_id == author.site_id, RebuildRun.state.in_(UNFINISHED))
        known = db.session.scalar(unfinished.with_for_update().execution_options(populate_existing=True))
        if known is not None:
            # By the specification, users join a run for half an hour. A request of the shop itself ends no living run.
            is_patient = author.name == BY_ITSELF or since is not None
            reason = _why_dead(known, author.clock, locks, is_patient)
            if reason is None:
                _queue(known, author, _left_out(known, scope, since))
                return known, True
            scope = Scope.of({*Scope(scope).indexes, *_queued_indexes(known)})
            known.queued_scope = None  # It is in the run that begins now.
            leases.end(REBUILD, author.clock, known, State.FAILED, reason)
        created = _create_run(author, scope)
        if created is not None:
            return created, False
    raise Conflict("Others are asking for rebuilds at this moment. Try again.")


def _check_request(engine: SearchEngine, site_id: int, scope: str) -> None:
    if scope not in set(Scope):
        raise Invalid.one("unknown_scope", f"The scope is {' or '.join(Scope)}, not {scope[:40]!r}.", "#/scope")
    if engine.status(site_id, IndexName.PRODUCTS).state is EngineState.NOT_SET_UP:
        raise Conflict(NOT_SET_UP)
    if scope == Scope.CONTENT and not content_search_is_on(site_id):
        raise Conflict(CONTENT_IS_OFF)


def _left_out(run: RebuildRun, scope: str, since: datetime | None) -> frozenset[IndexName]:
    """Return the indexes that a user who joins a run wants and that it does not bring."""
    wanted = _wanted_indexes(run.site_id, scope)
    is_too_old = since is not None and run.started_at is not None and run.started_at < since + SETTLED
    return wanted if is_too_old else wanted - set(Scope(run.scope).indexes)


def _wanted_indexes(site_id: int, scope: str) -> frozenset[IndexName]:
    """Return the indexes of a scope, without content where that is not searched."""
    return frozenset(index for index in Scope(scope).indexes if is_wanted(site_id, index))


def _queue(run: RebuildRun, author: Author, indexes: frozenset[IndexName]) -> None:
    if indexes - _queued_indexes(run):
        run.queued_scope, run.queued_by = Scope.of(indexes | _queued_indexes(run)).value, author.name[:100]


def _queued_indexes(run: RebuildRun) -> frozenset[IndexName]:
    return frozenset(Scope(run.queued_scope).indexes) if run.queued_scope else frozenset()


def _why_dead(run: RebuildRun, clock: Clock, locks: WorkerLocks, is_patient: bool) -> str | None:
    """Return the reason why no worker will finish an unfinished run in time; None while one may. With `is_patient` a
    builder has time for as long as it holds its lease."""
    now = clock.now()
    is_running = run.state == State.RUNNING
    if now - (run.started_at or run.created_at) >= JOINED_FOR and not (is_running and is_patient):
        return REBUILD.overdue
    if not is_running:
        return None
    is_lapsed = run.lease_until is None or run.lease_until <= now
    is_dead = is_lapsed or locks.is_dead(leases.lock_name(REBUILD, run.id, run.fence))
    return REBUILD.abandoned if is_dead else None


def _create_run(author: Author, scope: str) -> RebuildRun | None:
    """Create a run and request its job; return None when another request was quicker: the database allows one
    unfinished run of a site."""
    run = RebuildRun(**requested_now(author), scope=str(scope), generations={})
    if not insert_alone(run):
        return None
    publish(WorkRequested(REBUILD.name, run.id))
    return run


def expire_runs(clock: Clock, engine: SearchEngine) -> list[RebuildRun]:
    """End, and return, the runs whose builder is gone or that none claimed for half an hour. One that had swapped in
    all indexes of its scope is done. Call it in a transaction."""
    return leases.expire(REBUILD, clock, is_done=lambda run: _was_published(engine, run))


def _was_published(engine: SearchEngine, run: RebuildRun) -> bool:
    return run.state == State.RUNNING and all(
        index in run.generations and _is_live(engine, run.site_id, index, run.generations[index])
        for index in Scope(run.scope).indexes
    )


def _is_live(engine: SearchEngine, site_id: int, index: IndexName, swap: Mapping[str, str | None]) -> bool:
    """Whether what the run put in place is live, or, where it could not note the swap any more, anything new is."""
    status = engine.status(site_id, index)
    if status.state is not EngineState.HEALTHY:
        return False
    return status.generation == swap["after"] if "after" in swap else status.generation != swap["before"]


def run_of(site_id: int, run_id: str) -> RebuildRun:
    """Return a rebuild run of a site. Raises NotFound."""
    return existing(find_record(RebuildRun, site_id, run_id), "There is no such rebuild on this site.")


def latest_run(site_id: int) -> RebuildRun | None:
    query = select(RebuildRun).where(RebuildRun.site_id == site_id)
    return db.session.scalar(query.order_by(RebuildRun.created_at.desc(), RebuildRun.id).limit(1))


def queued_after(run: RebuildRun) -> RebuildRun | None:
    """Return the run of what was queued behind one that has ended."""
    if not run.queued_scope or run.finished_at is None:
        return None
    later = select(RebuildRun).where(
        RebuildRun.site_id == run.site_id, RebuildRun.id != run.id, RebuildRun.created_at >= run.finished_at
    )
    return db.session.scalar(later.order_by(RebuildRun.created_at).limit(1))


def view(run: RebuildRun, joined: bool = False) -> dict[str, Any]:
    """Return the run as JSON. `queuedScope` is there while something is queued behind it."""
    progress = {"documentCount": run.done, "totalCount": run.total, "joined": joined}
    queued = {"queuedScope": run.queued_scope} if run.queued_scope and run.is_unfinished else {}
    return {"runId": run.id, "scope": run.scope} | run.state_json() | progress | queued


OF_PRODUCTS = (Scope.ALL.value, Scope.PRODUCTS.value)


def products_rebuilt_since(site_id: int, moment: datetime) -> bool:
    """Whether a rebuild of the products that began SETTLED after a moment is done. One that began earlier may have read
    what was there before a save at that moment was committed."""
    done = select(RebuildRun.id).where(
        RebuildRun.site_id == site_id,
        RebuildRun.state == State.DONE,
        RebuildRun.scope.in_(OF_PRODUCTS),
        RebuildRun.started_at >= moment + SETTLED,
    )
    return db.session.scalar(done.limit(1)) is not None


def latest_of_products(site_id: int) -> RebuildRun | None:
    """Return the latest rebuild that is of the products, among others perhaps."""
    query = select(RebuildRun).where(RebuildRun.site_id == site_id, RebuildRun.scope.in_(OF_PRODUCTS))
    return db.session.scalar(query.order_by(RebuildRun.created_at.desc(), RebuildRun.id).limit(1))


def brings_products_of(run: RebuildRun, moment: datetime) -> bool:
    """Whether a rebuild brings the products as a save at a moment left them into the index, once it is done."""
    return run.scope in OF_PRODUCTS and (run.started_at is None or run.started_at >= moment + SETTLED)


def is_followed_by_products(run: RebuildRun) -> bool:
    """Whether a rebuild of the products is queued behind an unfinished one."""
    return run.is_unfinished and run.queued_scope in OF_PRODUCTS


def _is_followed() -> ColumnElement[bool]:
    """Whether a later run of the site took a run's place: one of its scope that was done, or any where it failed. What
    the status shows of a site's index stays: its latest run, and its latest of each scope that was done."""
    later = aliased(RebuildRun)
    replaces = and_(later.state == State.DONE, later.scope == RebuildRun.scope)
    return exists().where(
        later.site_id == RebuildRun.site_id,
        later.created_at > RebuildRun.created_at,
        or_(RebuildRun.state != State.DONE, replaces),
    )


RETENTIONS = (
    Retention(
        "reconcile reports",
        ReconcileReport,
        dated=ReconcileReport.at,
        is_old=lambda now: ReconcileReport.at < now - KEEP_REPORTS,
    ),
    Retention(
        "slots of jobs",
        JobSlot,
        dated=JobSlot.slot,
        is_old=lambda now: JobSlot.slot < now - KEEP_SLOTS,
        bookkeeping=True,
    ),
    leases.retention(REBUILD, "rebuilds", _is_followed()),
)
