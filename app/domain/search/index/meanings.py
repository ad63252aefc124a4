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
from app.domain.sites.settings import settings_of
from app.extensions import db

PAUSE = timedelta(hours=1)
HOPELESS_AFTER = 2  # Rebuilds in a row for the same model, which failed, or whose worker had no model.


def ranks_by_meaning(site_id: int) -> bool:
    """Whether a site wants the meaning of words to count, where the engine knows it."""
    return bool(settings_of(site_id)["search-by-meaning"])


def missing_model(context: SearchContext, site_id: int) -> str | None:
    """Return the name of the sentence model that a rebuild would let rank the searches of a site; None where that was
    tried lately, or in vain, and where the site ranks by words alone."""
    if not ranks_by_meaning(site_id):
        return None
    model = context.engine.status(site_id, IndexName.PRODUCTS).lacks_vectors
    return model if model is not None and _may_try(context, site_id, model) else None


def _may_try(context: SearchContext, site_id: int, model: str) -> bool:
    """A try that another one for the same model follows was in vain. A rebuild for any other reason, such as a person's
    after a golden search was put right, begins anew."""
    runs = select(RebuildRun.created_at, RebuildRun.for_model).where(RebuildRun.site_id == site_id)
    latest = db.session.execute(runs.order_by(RebuildRun.created_at.desc()).limit(HOPELESS_AFTER)).all()
    if not latest:
        return True
    is_hopeless = len(latest) == HOPELESS_AFTER and all(run.for_model == model for run in latest)
    return not is_hopeless and abs(context.clock.now() - latest[0].created_at) >= PAUSE


def request_meanings(context: SearchContext, site_id: int, model: str) -> None:
    """Request the rebuild. Call it in a transaction."""
    author = Author(site_id, BY_ITSELF, context.clock)
    run, joined = request_rebuild(author, context.engine, context.locks, Scope.PRODUCTS)
    if not joined:
        run.for_model = model
        summary = "Requested a rebuild, so that the meaning of words counts in search"
        audit.record(author, "index.rebuild", ("index", Scope.PRODUCTS), summary)
