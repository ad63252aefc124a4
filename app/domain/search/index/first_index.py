"""The first index of a site, which is there as soon as the site is, and has its products soon after these are."""

from __future__ import annotations

from contextlib import suppress

from sqlalchemy import exists, select

from app.domain.catalogue.models import Product
from app.domain.search.context import SearchContext
from app.domain.search.engine import EngineState, IndexName, SearchEngine
from app.domain.search.index import backlog
from app.domain.search.index.documents import count_of
from app.domain.search.index.rebuild import rebuild
from app.domain.search.index.runs import BY_ITSELF, Scope, request_rebuild
from app.domain.search.models import RebuildRun
from app.domain.shared.author import Author
from app.domain.shared.problems import Conflict
from app.domain.sites.models import Site
from app.domain.work.context import read_afresh
from app.extensions import db

SOON = 3_000  # Products that are indexed within seconds, also with a sentence model.


def make(context: SearchContext, site_id: int) -> None:
    """Build the first index of a site in this process. Without an engine there is none; a build that the database or
    a stop interrupted is resumed by a worker; one that fails otherwise says why in its run, and waits for a rebuild."""
    with suppress(Conflict):
        rebuild(context, context.commit(lambda: request(context, site_id)))


def request(context: SearchContext, site_id: int) -> str:
    """Request the first index of a site and return the id of its rebuild. Call it in a transaction. Raises Conflict
    when search is not set up."""
    author = Author(site_id, BY_ITSELF, context.clock)
    run, _ = request_rebuild(author, context.engine, context.locks, Scope.ALL)
    return run.id


def make_missing(context: SearchContext) -> None:
    """Build, in this process, the index of each site that lacks its products and has no more than SOON. It begins
    before anything else of the shop runs; a larger one is for the workers."""
    read_afresh()
    for site_id in db.session.scalars(select(Site.id).order_by(Site.id)).all():
        if lacks_products(context.engine, site_id) and count_of(site_id, IndexName.PRODUCTS) <= SOON:
            make(context, site_id)
            read_afresh()


def lacks_products(engine: SearchEngine, site_id: int) -> bool:
    """Whether a site has products of which no index has any, since its first one is still to come or to be filled."""
    status = engine.status(site_id, IndexName.PRODUCTS)
    if status.state is EngineState.UNREACHABLE:
        return _has_products(site_id) and not was_built(site_id, IndexName.PRODUCTS)
    return status.documents == 0 and is_awaited(site_id)


def is_awaited(site_id: int) -> bool:
    """Whether products are on their way into an index of a site that has none. Those that could not be indexed are on
    none."""
    is_on_its_way = backlog.has_waiting(site_id, IndexName.PRODUCTS) or backlog.is_rebuilt(site_id)
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
        if engine.status(site_id, IndexName.PRODUCTS).state is EngineState.UNREACHABLE
    ]
