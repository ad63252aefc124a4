"""Rebuild runs: who asked, whether one is joined, how far it is and how it ended."""

from __future__ import annotations

import uuid
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from sqlalchemy import Select, func, select
from sqlalchemy.exc import IntegrityError

from app.domain.search.engine import EngineState, IndexName, SearchEngine
from app.domain.search.events import RebuildRequested
from app.domain.search.index import wishes
from app.domain.search.models import UNFINISHED, RebuildRun
from app.domain.shared.answering import does_not_answer
from app.domain.shared.clock import Clock
from app.domain.shared.problems import Conflict, Invalid, NotFound
from app.domain.shared.times import rfc3339
from app.domain.sites.settings import settings_of
from app.events import publish
from app.extensions import db

JOINED_FOR = timedelta(minutes=30)
WAITING, RUNNING, DONE, FAILED = "waiting", "running", "done", "failed"


class Scope(StrEnum):
    ALL = "ALL"
    PRODUCTS = "PRODUCTS"
    CONTENT = "CONTENT"

    @property
    def indexes(self) -> tuple[IndexName, ...]:
        return tuple(IndexName) if self is Scope.ALL else (IndexName(self.value.lower()),)


def request_rebuild(
    clock: Clock, engine: SearchEngine, site_id: int, scope: str, requested_by: str
) -> tuple[RebuildRun, bool]:
    """The run that will do it, and whether it was joined: one that lives already serves whatever scope is asked.
    Call it in a transaction. Raises Invalid for an unknown scope, Conflict when search is not set up or content
    search is off."""
    wanted = _checked(engine, site_id, scope)
    for _ in range(3):
        known = db.session.scalar(_unfinished(site_id).with_for_update())
        if known is not None:
            reason = why_dead(known, clock.now())
            if reason is None:
                return known, True
            end(known, clock.now(), FAILED, reason)
        fresh = _create(clock, site_id, wanted, requested_by)
        if fresh is not None:
            publish(RebuildRequested(fresh.id))
            return fresh, False
    raise Conflict("Others are asking for rebuilds at this moment. Try again.")


def _checked(engine: SearchEngine, site_id: int, scope: str) -> Scope:
    if scope not in set(Scope):
        raise Invalid.one("unknown_scope", f"The scope is {' or '.join(Scope)}, not {scope[:40]!r}.", "#/scope")
    if engine.status(site_id, IndexName.PRODUCTS).state is EngineState.NOT_SET_UP:
        raise Conflict("Search is not set up. Choose an engine in the search settings.")
    if scope == Scope.CONTENT and not content_search_is_on(site_id):
        raise Conflict("Content search is switched off. Switch it on in the search settings first.")
    return Scope(scope)


def content_search_is_on(site_id: int) -> bool:
    return bool(settings_of(site_id)["search-content-enabled"])


def _create(clock: Clock, site_id: int, scope: Scope, requested_by: str) -> RebuildRun | None:
    """None when somebody else was quicker: the database allows one unfinished run of a site."""
    run = RebuildRun(
        id=str(uuid.uuid4()),
        site_id=site_id,
        scope=scope.value,
        state=WAITING,
        requested_by=requested_by[:100],
        created_at=clock.now(),
        generations={},
    )
    try:
        with db.session.begin_nested():
            db.session.add(run)
            db.session.flush()
    except IntegrityError:
        return None
    return run


def why_dead(run: RebuildRun, now: datetime) -> str | None:
    """Why nobody will finish an unfinished run; None while somebody may."""
    if now - (run.started_at or run.created_at) >= JOINED_FOR:
        return "It was not finished within half an hour."
    if run.state == RUNNING and (run.lease_until is None or run.lease_until <= now):
        return "The process that built the index stopped before it was done."
    return None


def is_unanswered(clock: Clock, run: RebuildRun) -> bool:
    """Whether an unfinished run waits though no rebuild of any site goes on."""
    if run.state not in UNFINISHED:
        return False
    signs = select(func.max(RebuildRun.lease_until), func.max(RebuildRun.finished_at))
    lease_until, finished_at = db.session.execute(signs).one()
    return does_not_answer(clock.now(), run.created_at, run.started_at, lease_until, finished_at)


def end(run: RebuildRun, now: datetime, state: str, error: str | None) -> None:
    """Done or failed, with what there is to say about it. Wishes that stayed only for this run go."""
    run.state, run.error, run.finished_at, run.lease_until = state, error, now, None
    db.session.flush()
    wishes.drop_applied(run.site_id)


def any_unfinished() -> bool:
    return db.session.scalar(select(RebuildRun.id).where(RebuildRun.state.in_(UNFINISHED)).limit(1)) is not None


def waiting_runs() -> list[RebuildRun]:
    return list(db.session.scalars(select(RebuildRun).where(RebuildRun.state == WAITING)))


def run_of(site_id: int, run_id: str) -> RebuildRun:
    """Raises NotFound."""
    query = select(RebuildRun).where(RebuildRun.site_id == site_id, RebuildRun.id == run_id)
    run = db.session.scalar(query)
    if run is None:
        raise NotFound("There is no such rebuild on this site.")
    return run


def latest_run(site_id: int) -> RebuildRun | None:
    query = select(RebuildRun).where(RebuildRun.site_id == site_id)
    return db.session.scalar(query.order_by(RebuildRun.created_at.desc(), RebuildRun.id).limit(1))


def _unfinished(site_id: int) -> Select[RebuildRun]:
    return select(RebuildRun).where(RebuildRun.site_id == site_id, RebuildRun.state.in_(UNFINISHED))


def view(run: RebuildRun, joined: bool = False) -> dict[str, Any]:
    """The run as JSON."""
    return {
        "runId": run.id,
        "scope": run.scope,
        "state": run.state,
        "documentCount": run.document_count,
        "totalCount": run.total_count,
        "outcome": run.state if run.state in (DONE, FAILED) else None,
        "error": run.error,
        "requestedBy": run.requested_by,
        "createdAt": rfc3339(run.created_at),
        "startedAt": run.started_at and rfc3339(run.started_at),
        "finishedAt": run.finished_at and rfc3339(run.finished_at),
        "joined": joined,
    }
