"""Indexes that are damaged or lost while the shop runs, or that another release made, are rebuilt by the shop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

from sqlalchemy import select

from app.domain.alerts.alerts import end_alert, last_seen, open_about, raise_alert
from app.domain.alerts.causes import BY_KEY, Cause
from app.domain.search.context import SearchContext
from app.domain.search.engine import EngineState, IndexName, SearchEngine
from app.domain.search.index import first_index
from app.domain.search.index.first_index import was_built
from app.domain.search.index.meanings import missing_model, request_meanings
from app.domain.search.index.rebuild_pauses import WORTH_REMEMBERING, PastRebuild, failures_in_a_row, may_rebuild
from app.domain.search.index.runs import BY_ITSELF, Scope, content_search_is_on, request_rebuild
from app.domain.search.models import RebuildRun
from app.domain.shared.author import Author
from app.domain.sites import audit
from app.domain.sites.models import Site
from app.domain.work.context import read_afresh
from app.extensions import db

SEEN_AGAIN_AFTER = timedelta(minutes=1)
HOPELESS_AFTER = 2  # Rebuilds that failed.
CONTENTS = {IndexName.PRODUCTS: "products", IndexName.CONTENT: "pages and collections"}


@dataclass(frozen=True, slots=True)
class LostIndex:
    """An index that was there and cannot be read now; `error` says what is wrong with it."""

    index: IndexName
    error: str

    @property
    def contents(self) -> str:
        return CONTENTS[self.index]


LostBySite = Mapping[int, Sequence[LostIndex]]


def lost_indexes(engine: SearchEngine, site_id: int) -> list[LostIndex]:
    """The indexes of a site that a rebuild put in place and that cannot be read now. One that was never built is not
    lost."""
    states = {index: engine.status(site_id, index) for index in IndexName}
    unreadable = [
        LostIndex(index, status.error or "Search does not answer.")
        for index, status in states.items()
        if status.state is EngineState.UNREACHABLE and is_wanted(site_id, index)
    ]
    return [lost for lost in unreadable if was_built(site_id, lost.index)]


def outdated_indexes(engine: SearchEngine, site_id: int) -> list[IndexName]:
    """Return the indexes of a site that another version of the text analysis made, such as that of the release before
    an upgrade."""
    return [index for index in IndexName if engine.status(site_id, index).outdated and is_wanted(site_id, index)]


def is_wanted(site_id: int, index: IndexName) -> bool:
    return index is not IndexName.CONTENT or content_search_is_on(site_id)


def heal(context: SearchContext) -> None:
    """Request the rebuilds that sites need: of lost indexes, with pauses; of outdated ones; the first of a site without
    an index; one with vectors where the index lacks those of the sentence model. Raise and end the alerts about lost
    indexes. Called once a second, it writes only where something is to be done."""
    read_afresh()
    for site_id in first_index.sites_without(context.engine):
        context.commit(partial(first_index.request, context, site_id))
    sites = db.session.scalars(select(Site.id).order_by(Site.id)).all()
    lost = {site_id: found for site_id in sites if (found := lost_indexes(context.engine, site_id))}
    for site_id, indexes in lost.items():
        _heal_site(context, site_id, indexes)
    for site_id in sites:
        if site_id in lost:
            continue
        if outdated := outdated_indexes(context.engine, site_id):
            _renew(context, site_id, outdated)
        elif (model := missing_model(context, site_id)) is not None:
            context.commit(partial(request_meanings, context, site_id, model))
    _end_alerts(context, lost)


def _heal_site(context: SearchContext, site_id: int, indexes: Sequence[LostIndex]) -> None:
    past = _past_rebuilds(site_id)
    faults = {(Cause.INDEX_DAMAGED, lost.contents): f"{lost.contents}: {lost.error}" for lost in indexes}
    if failures_in_a_row(past) >= HOPELESS_AFTER:
        faults[Cause.INDEX_NOT_REBUILT, ""] = _latest_error(site_id)
    for (cause, subject), detail in faults.items():
        _raise_unless_known(context, cause, detail, site_id, subject)
    if may_rebuild(context.clock.now(), past):
        named = " and of ".join(lost.contents for lost in indexes)
        summary = f"Requested a rebuild of the lost index of {named}"
        context.commit(lambda: _request_rebuild(context, site_id, [lost.index for lost in indexes], summary))


def _renew(context: SearchContext, site_id: int, indexes: Sequence[IndexName]) -> None:
    """Request a rebuild of outdated indexes. They answer, so nobody is alarmed, and rebuilds that fail are not repeated
    for ever."""
    past = _past_rebuilds(site_id)
    if failures_in_a_row(past) < HOPELESS_AFTER and may_rebuild(context.clock.now(), past):
        named = " and of ".join(CONTENTS[index] for index in indexes)
        summary = f"Requested a rebuild of the index of {named}, which another release of the shop made"
        context.commit(lambda: _request_rebuild(context, site_id, indexes, summary))


def _raise_unless_known(context: SearchContext, cause: Cause, detail: str, site_id: int, subject: str) -> None:
    seen = last_seen(cause, site_id, subject)
    if seen is None or abs(context.clock.now() - seen) >= SEEN_AGAIN_AFTER:
        context.commit(lambda: raise_alert(context.clock, cause, detail, site_id, subject))


def _request_rebuild(context: SearchContext, site_id: int, indexes: Sequence[IndexName], summary: str) -> None:
    author = Author(site_id, BY_ITSELF, context.clock)
    scope = Scope.ALL if len(indexes) == len(IndexName) else Scope(indexes[0].value.upper())
    _, joined = request_rebuild(author, context.engine, context.locks, scope)
    if not joined:
        audit.record(author, "index.rebuild", ("index", scope), summary)


def _past_rebuilds(site_id: int) -> list[PastRebuild]:
    query = select(RebuildRun).where(RebuildRun.site_id == site_id).order_by(RebuildRun.created_at.desc())
    return [PastRebuild(run.has_failed, run.finished_at) for run in db.session.scalars(query.limit(WORTH_REMEMBERING))]


def _latest_error(site_id: int) -> str:
    failed = select(RebuildRun.error).where(RebuildRun.site_id == site_id, RebuildRun.error.is_not(None))
    return db.session.scalar(failed.order_by(RebuildRun.created_at.desc()).limit(1)) or "No reason was recorded."


def _end_alerts(context: SearchContext, lost: LostBySite) -> None:
    for alert in open_about(Cause.INDEX_DAMAGED, Cause.INDEX_NOT_REBUILT):
        indexes = lost.get(alert.site_id or 0, ())
        if not indexes or alert.subject not in {"", *(index.contents for index in indexes)}:
            context.commit(partial(end_alert, context.clock, BY_KEY[alert.cause], alert.site_id, alert.subject))
