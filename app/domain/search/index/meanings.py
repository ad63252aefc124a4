"""Rebuilds that the shop itself requests where the index of products lacks the vectors of its sentence model."""

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
    """Whether a site's settings let the meaning of words count in its searches."""
    return bool(settings_of(site_id)["search-by-meaning"])


def missing_model(context: SearchContext, site_id: int) -> str | None:
    """Return the name of the sentence model whose vectors a rebuild of a site's products would add. None where nothing
    lacks them, the site ranks by words alone, a rebuild was requested within PAUSE or the model is hopeless."""
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
    """Request a rebuild of a site's products for the vectors of a model. Call it in a transaction."""
    author = Author(site_id, BY_ITSELF, context.clock)
    run, joined = request_rebuild(author, context.engine, context.locks, Scope.PRODUCTS)
    if not joined:
        run.for_model = model
        summary = "Requested a rebuild, so that the meaning of words counts in search"
        audit.record(author, "index.rebuild", ("index", Scope.PRODUCTS), summary)
