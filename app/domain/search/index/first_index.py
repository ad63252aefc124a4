"""The first index of a site, which is there as soon as the site is."""

from __future__ import annotations

from contextlib import suppress

from sqlalchemy import exists, select

from app.domain.search.context import SearchContext
from app.domain.search.engine import EngineState, IndexName, SearchEngine
from app.domain.search.index.rebuild import rebuild
from app.domain.search.index.runs import BY_ITSELF, Scope, request_rebuild
from app.domain.search.models import RebuildRun
from app.domain.shared.author import Author
from app.domain.shared.problems import Conflict
from app.domain.sites.models import Site
from app.extensions import db


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


def sites_without(engine: SearchEngine) -> list[int]:
    """Return the sites that have no index and for which none was requested: the process that made the site died, or
    there was no engine yet."""
    never_requested = select(Site.id).where(~exists().where(RebuildRun.site_id == Site.id)).order_by(Site.id)
    return [
        site_id
        for site_id in db.session.scalars(never_requested)
        if engine.status(site_id, IndexName.PRODUCTS).state is EngineState.UNREACHABLE
    ]
