"""An index of products from before there was a sentence model, or by another one, is rebuilt by the shop itself."""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy import select

from app.domain.search.context import SearchContext
from app.domain.search.engine import IndexName
from app.domain.search.index.runs import BY_ITSELF, Scope, request_rebuild
from app.domain.search.models import RebuildRun
from app.domain.shared.author import Author
from app.domain.sites import audit
from app.extensions import db

# A rebuild that leads to no vectors, since its worker has no model, must not follow itself for ever.
PAUSE = timedelta(hours=1)


def lacks_meanings(context: SearchContext, site_id: int) -> bool:
    """Whether a rebuild would let the meaning of words count in the searches of a site, and none was tried lately."""
    if not context.engine.status(site_id, IndexName.PRODUCTS).lacks_vectors:
        return False
    latest = select(RebuildRun.created_at).where(RebuildRun.site_id == site_id).order_by(RebuildRun.created_at.desc())
    tried_at = db.session.scalar(latest.limit(1))
    return tried_at is None or abs(context.clock.now() - tried_at) >= PAUSE


def request_meanings(context: SearchContext, site_id: int) -> None:
    """Request the rebuild. Call it in a transaction."""
    author = Author(site_id, BY_ITSELF, context.clock)
    _, joined = request_rebuild(author, context.engine, context.locks, Scope.PRODUCTS)
    if not joined:
        summary = "Requested a rebuild, so that the meaning of words counts in search"
        audit.record(author, "index.rebuild", ("index", Scope.PRODUCTS), summary)
