"""Rebuilds that the shop requests by itself: the first index of a site, also after a rebuild of it failed, indexes that
are damaged or lost while the shop runs or that another release made, and an index of products that lacks the vectors of
its sentence model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial

from sqlalchemy import Select, exists, select

from app.domain.alerts.alerts import end_alert, last_seen, open_about, raise_alert
from app.domain.alerts.causes import BY_KEY, Cause
from app.domain.catalogue.models import Product
from app.domain.search.engine import (
    EngineFault,
    EngineState,
    EngineStatus,
    IndexName,
    SearchContext,
    SearchEngine,
)
from app.domain.search.index import outbox
from app.domain.search.index.documents import count_of, is_wanted, ranks_by_meaning
from app.domain.search.index.needed_rebuilds import past_rebuilds, request_needed, sites_in_need
from app.domain.search.index.rebuild import rebuild
from app.domain.search.index.rebuild_outcomes import HOPELESS_AFTER, SOON, failures_in_a_row, may_rebuild
from app.domain.search.index.runs import BY_ITSELF, Scope, request_rebuild
from app.domain.search.models import RebuildRun
from app.domain.shared.author import Author
from app.domain.shared.problems import Conflict
from app.domain.sites import activity
from app.domain.sites.models import Site
from app.domain.work.context import read_afresh
from app.domain.work.models import State
from app.extensions import db

MODEL_PAUSE = timedelta(hours=1)
HOPELESS_MODEL_AFTER = 2  # Rebuilds in a row for the same model, which failed, or whose worker had no model.
SEEN_AGAIN_AFTER = timedelta(minutes=1)
CONTENT_LOST = (
    "The index of pages and collections is missing or damaged, so searches find products alone. The shop rebuilds it "
    "by itself."
)
CONTENTS = {IndexName.PRODUCTS: "products", IndexName.CONTENT: "pages and collections"}


@dataclass(frozen=True, slots=True)
class LostIndex:
    """An index that cannot be read; `error` says what is wrong with it. `was_built` is False for one that was never
    there, since its rebuilds failed."""

    index: IndexName
    error: str
    was_built: bool = True

    @property
    def contents(self) -> str:
        return CONTENTS[self.index]


LostBySite = Mapping[int, Sequence[LostIndex]]
Statuses = Mapping[IndexName, EngineStatus]


def build_first_index(context: SearchContext, site_id: int) -> None:
    """Build the first index of a site in this process. Without an engine there is none; a build that the database or
    a stop interrupted is resumed by a worker; one that fails otherwise says why in its run, and `heal` requests it
    again."""
    with suppress(Conflict):
        rebuild(context, context.commit(lambda: request_first_index(context, site_id)))


def request_first_index(context: SearchContext, site_id: int) -> str:
    """Request the first index of a site and return the id of its rebuild. Call it in a transaction. Raises Conflict
    when search is not set up."""
    author = Author(site_id, BY_ITSELF, context.clock)
    run, _ = request_rebuild(author, context.engine, context.locks, Scope.ALL)
    return run.id


def build_missing_indexes(context: SearchContext) -> None:
    """Build, in this process, the index of each site that lacks its products and has no more than SOON. It begins
    before anything else of the shop runs; a larger one is for the workers."""
    read_afresh()
    for site_id in db.session.scalars(select(Site.id).order_by(Site.id)).all():
        if lacks_products(context.engine, site_id) and count_of(site_id, IndexName.PRODUCTS) <= SOON:
            build_first_index(context, site_id)
            read_afresh()


def lacks_products(engine: SearchEngine, site_id: int) -> bool:
    """Whether a site has products of which no index has any, since its first one is still to come or to be filled."""
    status = engine.status(site_id, IndexName.PRODUCTS)
    if status.state is EngineState.UNREACHABLE:
        return (
            status.fault is EngineFault.INDEX and _has_products(site_id) and not was_built(site_id, IndexName.PRODUCTS)
        )
    return status.documents == 0 and is_awaited(site_id)


def is_awaited(site_id: int) -> bool:
    """Whether products are on their way into an index of a site that has none. Those that could not be indexed are on
    none."""
    is_on_its_way = outbox.has_waiting(site_id, IndexName.PRODUCTS) or outbox.is_rebuilt(site_id)
    return is_on_its_way and _has_products(site_id)


def _has_products(site_id: int) -> bool:
    return bool(db.session.scalar(select(exists().where(Product.site_id == site_id, Product.enabled))))


def was_built(site_id: int, index: IndexName) -> bool:
    """Whether a rebuild ever put this index in place, by the stored runs. The latest run of each scope that is done is
    never purged."""
    swaps = db.session.scalars(select(RebuildRun.generations).where(RebuildRun.site_id == site_id))
    return any("after" in generations.get(index.value, {}) for generations in swaps)


def sites_without(engine: SearchEngine) -> list[int]:
    """Return the sites that have no index and for which none was requested: the process that made the site died, or
    there was no engine yet."""
    never_requested = select(Site.id).where(~exists().where(RebuildRun.site_id == Site.id)).order_by(Site.id)
    return [
        site_id
        for site_id in db.session.scalars(never_requested)
        if engine.status(site_id, IndexName.PRODUCTS).fault is EngineFault.INDEX
    ]


def missing_model(context: SearchContext, site_id: int) -> str | None:
    """Return the name of the sentence model whose vectors a rebuild of a site's products would add. None where nothing
    lacks them, the site ranks by words alone, a rebuild was requested within MODEL_PAUSE or the model is hopeless."""
    if not ranks_by_meaning(site_id):
        return None
    model = context.engine.status(site_id, IndexName.PRODUCTS).lacks_vectors
    if model is None or is_hopeless(site_id, model):
        return None
    latest = db.session.scalar(_latest_runs(site_id).with_only_columns(RebuildRun.created_at).limit(1))
    return model if latest is None or abs(context.clock.now() - latest) >= MODEL_PAUSE else None


def is_hopeless(site_id: int, model: str) -> bool:
    """Whether the latest HOPELESS_MODEL_AFTER rebuilds were all for this model, so that none of them put it to use. A
    rebuild for any other reason, such as a person's after a golden search was put right, begins the count anew."""
    latest = db.session.scalars(
        _latest_runs(site_id).with_only_columns(RebuildRun.for_model).limit(HOPELESS_MODEL_AFTER)
    ).all()
    return len(latest) == HOPELESS_MODEL_AFTER and all(for_model == model for for_model in latest)


def latest_failure(site_id: int, model: str) -> str | None:
    """Return why the latest rebuild for the model failed, None where it did not."""
    run = db.session.scalar(_latest_runs(site_id).where(RebuildRun.for_model == model).limit(1))
    return run.error if run is not None and run.state == State.FAILED else None


def request_meanings(context: SearchContext, site_id: int, model: str) -> None:
    """Request a rebuild of a site's products for the vectors of a model. Call it in a transaction."""
    author = Author(site_id, BY_ITSELF, context.clock)
    run, joined = request_rebuild(author, context.engine, context.locks, Scope.PRODUCTS)
    if not joined:
        run.for_model = model
        summary = "Requested a rebuild, so that the meaning of words counts in search"
        activity.record(author, "index.rebuild", ("index", Scope.PRODUCTS), summary)


def lost_indexes(engine: SearchEngine, site_id: int) -> list[LostIndex]:
    """Return the indexes of a site that a rebuild put in place and that are missing or damaged now. One that was never
    built is not lost, nor is one of an engine that does not answer."""
    return _lost_among(site_id, _statuses_of(engine, site_id))


def engine_health(engine: SearchEngine, site_id: int) -> EngineStatus:
    """Return the status of the engine for pages: that of the index of products, with an error also where that answers
    and the index of pages and collections is lost."""
    statuses = _statuses_of(engine, site_id)
    products = statuses[IndexName.PRODUCTS]
    if products.state is not EngineState.HEALTHY or products.fault or not _lost_among(site_id, statuses):
        return products
    return replace(products, error=CONTENT_LOST, fault=EngineFault.CONTENT_INDEX)


def _statuses_of(engine: SearchEngine, site_id: int) -> Statuses:
    return {index: engine.status(site_id, index) for index in IndexName}


def _lost_among(site_id: int, statuses: Statuses) -> list[LostIndex]:
    return [lost for lost in _unreadable_among(site_id, statuses) if lost.was_built]


def _to_rebuild_among(site_id: int, statuses: Statuses) -> list[LostIndex]:
    """Return the lost indexes, and those of which the first rebuild failed."""
    return [
        lost
        for lost in _unreadable_among(site_id, statuses)
        if lost.was_built or _has_failed_rebuild(site_id, lost.index)
    ]


def _unreadable_among(site_id: int, statuses: Statuses) -> list[LostIndex]:
    return [
        LostIndex(index, status.error or "Search does not answer.", was_built(site_id, index))
        for index, status in statuses.items()
        if status.fault is EngineFault.INDEX and is_wanted(site_id, index)
    ]


def _has_failed_rebuild(site_id: int, index: IndexName) -> bool:
    scopes = [scope for scope in Scope if index in scope.indexes]
    failed = _latest_runs(site_id).where(RebuildRun.scope.in_(scopes), RebuildRun.state == State.FAILED)
    return db.session.scalar(failed.with_only_columns(RebuildRun.id).limit(1)) is not None


def _outdated_among(site_id: int, statuses: Statuses) -> list[IndexName]:
    """Return the indexes of a site that another version of the text analysis made, such as that of the release before
    an upgrade."""
    return [index for index, status in statuses.items() if status.outdated and is_wanted(site_id, index)]


def heal(context: SearchContext) -> None:
    """Request the rebuilds that sites need: of lost indexes and of those whose first rebuild failed, with pauses; of
    outdated ones; the first of a site without an index; what a save of the taxonomy changed; one with vectors where the
    index lacks those of the sentence model. Raise and end the alerts about lost indexes and about the engine. Called
    once a second, it writes only where something is to be done."""
    read_afresh()
    for site_id in sites_without(context.engine):
        context.commit(partial(request_first_index, context, site_id))
    sites = db.session.scalars(select(Site.id).order_by(Site.id)).all()
    statuses = {site_id: _statuses_of(context.engine, site_id) for site_id in sites}
    _note_engine(context, [status for each in statuses.values() for status in each.values()])
    lost = {site_id: found for site_id in sites if (found := _to_rebuild_among(site_id, statuses[site_id]))}
    for site_id, indexes in lost.items():
        _rebuild_lost(context, site_id, indexes)
    in_need = set(sites_in_need())
    for site_id in sites:
        if any(one.index is IndexName.PRODUCTS for one in lost.get(site_id, ())):
            continue
        if site_id in in_need and _is_set_up(statuses[site_id]):
            request_needed(context, site_id)
        if outdated := _outdated_among(site_id, statuses[site_id]):
            _rebuild_outdated(context, site_id, outdated)
        elif (model := missing_model(context, site_id)) is not None:
            context.commit(partial(request_meanings, context, site_id, model))
    _end_alerts(context, lost)


def _is_set_up(statuses: Statuses) -> bool:
    return statuses[IndexName.PRODUCTS].state is not EngineState.NOT_SET_UP


def _note_engine(context: SearchContext, statuses: Sequence[EngineStatus]) -> None:
    """Raise the alert of this machine about an engine that does not answer or takes no changes, which no rebuild mends,
    or end it. Another machine may reach the engine."""
    errors = {status.error: None for status in statuses if status.fault not in (None, EngineFault.INDEX)}
    cause, machine = Cause.SEARCH_ENGINE_FAILING, context.machine
    seen = last_seen(cause, machine=machine)
    if not errors:
        if seen is not None:
            context.commit(partial(end_alert, context.clock, cause, machine=machine))
    elif seen is None or abs(context.clock.now() - seen) >= SEEN_AGAIN_AFTER:
        detail = " ".join(error for error in errors if error)
        context.commit(partial(raise_alert, context.clock, cause, detail, machine=machine))


def _rebuild_lost(context: SearchContext, site_id: int, indexes: Sequence[LostIndex]) -> None:
    """Raise the alerts about lost indexes, unless they were raised just before, and request their rebuild. One that was
    never there is no news before its rebuilds are hopeless."""
    past = past_rebuilds(site_id)
    damaged = [lost for lost in indexes if lost.was_built]
    faults = {(Cause.INDEX_DAMAGED, lost.contents): f"{lost.contents}: {lost.error}" for lost in damaged}
    if failures_in_a_row(past) >= HOPELESS_AFTER:
        failed = _latest_runs(site_id).where(RebuildRun.error.is_not(None)).with_only_columns(RebuildRun.error)
        faults[Cause.INDEX_NOT_REBUILT, ""] = db.session.scalar(failed.limit(1)) or "No reason was recorded."
    for (cause, subject), detail in faults.items():
        seen = last_seen(cause, site_id, subject)
        if seen is None or abs(context.clock.now() - seen) >= SEEN_AGAIN_AFTER:
            context.commit(partial(raise_alert, context.clock, cause, detail, site_id, subject))
    if may_rebuild(context.clock.now(), past):
        named = " and of ".join(lost.contents for lost in indexes)
        summary = f"Requested a rebuild of the {'lost' if damaged else 'missing'} index of {named}"
        context.commit(lambda: _request_rebuild(context, site_id, [lost.index for lost in indexes], summary))


def _rebuild_outdated(context: SearchContext, site_id: int, indexes: Sequence[IndexName]) -> None:
    """Request a rebuild of outdated indexes. They answer, so nobody is alarmed, and rebuilds that fail are not repeated
    for ever."""
    past = past_rebuilds(site_id)
    if failures_in_a_row(past) < HOPELESS_AFTER and may_rebuild(context.clock.now(), past):
        named = " and of ".join(CONTENTS[index] for index in indexes)
        summary = f"Requested a rebuild of the index of {named}, which another release of the shop made"
        context.commit(lambda: _request_rebuild(context, site_id, indexes, summary))


def _request_rebuild(context: SearchContext, site_id: int, indexes: Sequence[IndexName], summary: str) -> None:
    author = Author(site_id, BY_ITSELF, context.clock)
    scope = Scope.of(indexes)
    _, joined = request_rebuild(author, context.engine, context.locks, scope)
    if not joined:
        activity.record(author, "index.rebuild", ("index", scope), summary)


def _latest_runs(site_id: int) -> Select[RebuildRun]:
    return select(RebuildRun).where(RebuildRun.site_id == site_id).order_by(RebuildRun.created_at.desc())


def _end_alerts(context: SearchContext, lost: LostBySite) -> None:
    for alert in open_about(Cause.INDEX_DAMAGED, Cause.INDEX_NOT_REBUILT):
        indexes = lost.get(alert.site_id or 0, ())
        if not indexes or alert.subject not in {"", *(index.contents for index in indexes)}:
            context.commit(partial(end_alert, context.clock, BY_KEY[alert.cause], alert.site_id, alert.subject))
