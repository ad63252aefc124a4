"""Which sites need a new sitemap without waiting for the schedule."""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy import exists, func, or_, select

from app.domain.search.engine import EngineState, IndexName, SearchEngine
from app.domain.search.models import RebuildRun
from app.domain.seo.models import SitemapBuild
from app.domain.seo.sitemap.builds import SEARCH_AWAY
from app.domain.shared.clock import Clock
from app.domain.sites.models import Site
from app.domain.work.states import UNFINISHED, State
from app.extensions import db

RETRIED_AFTER = timedelta(minutes=5)


def sites_due(clock: Clock, engine: SearchEngine) -> list[int]:
    """Return the sites, staging ones left out, that have had no build yet, or none since their index was last rebuilt
    as a whole, or whose last one met no search, which answers now. One that is being indexed waits for that, since the
    counts of its categories depend on it."""
    of_site = SitemapBuild.site_id == Site.id
    newest = select(func.max(SitemapBuild.created_at)).where(of_site).correlate(Site).scalar_subquery()
    rebuilds = RebuildRun.site_id == Site.id
    rebuilt = select(func.max(RebuildRun.finished_at)).where(rebuilds, RebuildRun.state == State.DONE.value)
    is_indexing = exists().where(rebuilds, RebuildRun.state.in_(UNFINISHED))
    is_outdated = or_(newest.is_(None), newest < rebuilt.correlate(Site).scalar_subquery())
    query = select(Site.id).where(~Site.staging, ~is_indexing).order_by(Site.id)
    without_counts = (
        exists()
        .where(of_site, SitemapBuild.warnings.startswith(SEARCH_AWAY, autoescape=True))
        .where(SitemapBuild.created_at == newest, newest < clock.now() - RETRIED_AFTER)
    )
    incomplete = [site_id for site_id in db.session.scalars(query.where(without_counts)) if _answers(engine, site_id)]
    return [*db.session.scalars(query.where(is_outdated)), *incomplete]


def _answers(engine: SearchEngine, site_id: int) -> bool:
    return engine.status(site_id, IndexName.PRODUCTS).state is EngineState.HEALTHY
