"""An index of products from before there was a sentence model, or by another one, is rebuilt by the shop itself."""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy import Select, select

from app.domain.search.context import SearchContext
from app.domain.search.engine import IndexName
from app.domain.search.index.runs import BY_ITSELF, Scope, request_rebuild
from app.domain.search.models import RebuildRun
from app.domain.shared.author import Author
from app.domain.sites import audit
from app.domain.sites.settings import settings_of
from app.domain.work.states import State
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
    if model is None or is_hopeless(site_id, model):
        return None
    latest = db.session.scalar(_runs(site_id).with_only_columns(RebuildRun.created_at).limit(1))
    return model if latest is None or abs(context.clock.now() - latest) >= PAUSE else None


def is_hopeless(site_id: int, model: str) -> bool:
    """Whether the latest HOPELESS_AFTER rebuilds were all for this model, so that none of them put it to use. A rebuild
    for any other reason, such as a person's after a golden search was put right, begins the count anew."""
    latest = db.session.scalars(_runs(site_id).with_only_columns(RebuildRun.for_model).limit(HOPELESS_AFTER)).all()
    return len(latest) == HOPELESS_AFTER and all(for_model == model for for_model in latest)


def latest_failure(site_id: int, model: str) -> str | None:
    """Return why the latest rebuild for the model failed, None where it did not."""
    run = db.session.scalar(_runs(site_id).where(RebuildRun.for_model == model).limit(1))
    return run.error if run is not None and run.state == State.FAILED else None


def _runs(site_id: int) -> Select[RebuildRun]:
    return select(RebuildRun).where(RebuildRun.site_id == site_id).order_by(RebuildRun.created_at.desc())


def request_meanings(context: SearchContext, site_id: int, model: str) -> None:
    """Request the rebuild. Call it in a transaction."""
    author = Author(site_id, BY_ITSELF, context.clock)
    run, joined = request_rebuild(author, context.engine, context.locks, Scope.PRODUCTS)
    if not joined:
        run.for_model = model
        summary = "Requested a rebuild, so that the meaning of words counts in search"
        audit.record(author, "index.rebuild", ("index", Scope.PRODUCTS), summary)
