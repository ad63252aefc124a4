"""Rebuilds that a save of the taxonomy needs (taxonomy_changes.py marks them): whether one is still to come, and its
request by the shop itself, once for a series of saves."""

from __future__ import annotations

from datetime import datetime
from functools import partial

from sqlalchemy import select

from app.domain.search.engine import SearchContext
from app.domain.search.index.rebuild_outcomes import (
    HOPELESS_AFTER,
    WORTH_REMEMBERING,
    PastRebuild,
    failures_in_a_row,
    may_rebuild,
)
from app.domain.search.index.runs import (
    BY_ITSELF,
    SETTLED,
    Scope,
    brings_products_of,
    is_followed_by_products,
    latest_of_products,
    latest_run,
    products_rebuilt_since,
    request_rebuild,
)
from app.domain.search.index.taxonomy_changes import lower_need
from app.domain.search.models import RebuildRun
from app.domain.shared.author import Author
from app.domain.shared.clock import Clock
from app.domain.sites import activity
from app.domain.taxonomy.models import Taxonomy
from app.domain.taxonomy.taxonomies import active_id
from app.extensions import db

SUMMARY = "Requested a rebuild of the products, since the taxonomy changed"


def sites_in_need() -> list[int]:
    """Return the sites of which a save ever marked a need; most have been rebuilt since."""
    marked = select(Taxonomy.site_id).where(Taxonomy.rebuild_needed_at.is_not(None))
    return sorted(set(db.session.scalars(marked)))


def needed_since(site_id: int) -> datetime | None:
    """Return the save SETTLED after which a rebuild of the products has to begin and none that did is done; None for
    none."""
    active = (Taxonomy.site_id == site_id) & (Taxonomy.id == active_id(site_id))
    moment: datetime | None = db.session.scalar(select(Taxonomy.rebuild_needed_at).where(active))
    return None if moment is None or products_rebuilt_since(site_id, moment) else moment


def request_needed(context: SearchContext, site_id: int) -> None:
    """Request the rebuild that a site needs, SETTLED after the latest save, and a pause after the rebuild before. One
    that is under way is joined, and followed by another where it began before the save. One that fails is tried once
    more, unless golden searches or a judgement list blocked it; from then on it is for users to request it."""
    now, moment = context.clock.now(), needed_since(site_id)
    if moment is not None and moment > now:  # Else every rebuild would seem to be from before the save.
        context.commit(partial(lower_need, site_id, now))
    elif _is_due(context.clock, site_id):
        context.commit(partial(_request, context, site_id))


def _request(context: SearchContext, site_id: int) -> None:
    moment = needed_since(site_id)
    if moment is None or not _is_due(context.clock, site_id):
        return  # Another machine was quicker.
    author = Author(site_id, BY_ITSELF, context.clock)
    _, joined = request_rebuild(author, context.engine, context.locks, Scope.PRODUCTS, since=moment)
    if not joined:
        activity.record(author, "index.rebuild", ("index", Scope.PRODUCTS), SUMMARY)


def _is_due(clock: Clock, site_id: int) -> bool:
    moment, now = needed_since(site_id), clock.now()
    if moment is None or abs(now - moment) < SETTLED:
        return False
    latest = latest_run(site_id)
    if latest is not None and latest.is_unfinished:
        return not brings_products_of(latest, moment) and not is_followed_by_products(latest)
    past = past_rebuilds(site_id)
    if not may_rebuild(now, past):
        return False
    failed = latest_of_products(site_id)
    if failed is None or (failed.started_at or failed.created_at) < moment + SETTLED:
        return True
    return not failed.blocked and failures_in_a_row(past) < HOPELESS_AFTER


def past_rebuilds(site_id: int) -> list[PastRebuild]:
    """Return the latest rebuilds of a site, the latest first."""
    runs = select(RebuildRun).where(RebuildRun.site_id == site_id).order_by(RebuildRun.created_at.desc())
    return [PastRebuild(run.has_failed, run.finished_at) for run in db.session.scalars(runs.limit(WORTH_REMEMBERING))]
