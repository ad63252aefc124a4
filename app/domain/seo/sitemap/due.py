"""The sites that need a new sitemap without waiting for the schedule."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import exists, func, or_, select

from app.domain.search.engine import EngineState, IndexName, SearchEngine
from app.domain.search.models import RebuildRun
from app.domain.seo.models import SitemapBuild
from app.domain.seo.sitemap.store import FIRST_FILE, SitemapStore
from app.domain.shared.clock import Clock
from app.domain.sites.models import Site
from app.domain.work.states import UNFINISHED, State
from app.extensions import db

RETRIED_AFTER = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class _Site:
    """A site that may be built now, with the dates of its last build and its last rebuild of the index."""

    id: int
    built_at: datetime | None
    rebuilt_at: datetime | None
    met_no_search: bool

    @property
    def is_outdated(self) -> bool:
        return self.built_at is None or (self.rebuilt_at is not None and self.built_at < self.rebuilt_at)


def sites_due(clock: Clock, engine: SearchEngine, store: SitemapStore) -> list[int]:
    """Return the sites, staging ones left out, that have had no build yet, or none since their index was last rebuilt
    as a whole, or, some minutes after their last one, have no files or miss what search would add. One that is being
    indexed waits for that, since the counts of its categories depend on it."""
    now = clock.now()
    return [site.id for site in _sites(now) if site.is_outdated or _is_incomplete(site, now, engine, store)]


def is_request_due(clock: Clock, site_id: int) -> bool:
    """Whether a site without files needs a request for them: no build is under way, and none was requested within
    RETRIED_AFTER, since another would fail, too."""
    now = clock.now()
    is_recent = SitemapBuild.created_at.between(now - RETRIED_AFTER, now)
    pending = select(SitemapBuild.id).where(
        SitemapBuild.site_id == site_id, or_(SitemapBuild.state.in_(UNFINISHED), is_recent)
    )
    return db.session.scalar(pending.limit(1)) is None


def _sites(now: datetime) -> list[_Site]:
    """Return the sites for which neither index nor sitemap is being built, with the dates of both. Dates in the future,
    of a clock that was wrong, do not count: they would stay the newest until then."""
    builds, rebuilds = SitemapBuild.site_id == Site.id, RebuildRun.site_id == Site.id
    newest = select(func.max(SitemapBuild.created_at)).where(builds, SitemapBuild.created_at <= now)
    built_at = newest.correlate(Site).scalar_subquery()
    rebuilt = select(func.max(RebuildRun.finished_at)).where(
        rebuilds, RebuildRun.state == State.DONE.value, RebuildRun.finished_at <= now
    )
    met_no_search = exists().where(
        builds,
        SitemapBuild.search_was_away,
        SitemapBuild.created_at == built_at,
    )
    is_indexing = exists().where(rebuilds, RebuildRun.state.in_(UNFINISHED))
    is_building = exists().where(builds, SitemapBuild.state.in_(UNFINISHED))
    query = select(Site.id, built_at, rebuilt.correlate(Site).scalar_subquery(), met_no_search)
    rows = db.session.execute(query.where(~Site.staging, ~is_indexing, ~is_building).order_by(Site.id))
    return [_Site(*row) for row in rows]


def _is_incomplete(site: _Site, now: datetime, engine: SearchEngine, store: SitemapStore) -> bool:
    if site.built_at is None or site.built_at >= now - RETRIED_AFTER:
        return False
    return store.file(site.id, FIRST_FILE) is None or (site.met_no_search and _answers(engine, site.id))


def _answers(engine: SearchEngine, site_id: int) -> bool:
    return engine.status(site_id, IndexName.PRODUCTS).state is EngineState.HEALTHY
