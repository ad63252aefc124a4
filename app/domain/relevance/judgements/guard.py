"""The guard of rebuilds: a new index by which the NDCG of a list falls by more than the list allows is blocked."""

from __future__ import annotations

from sqlalchemy import select

from app.domain.relevance.judgements.changes import Sides
from app.domain.relevance.judgements.figures import current_figures, measure
from app.domain.relevance.judgements.ratings import rated_searches
from app.domain.relevance.models import JudgementList
from app.domain.search.engine import Generation, SearchContext, SearchUnavailable
from app.domain.search.serving.configuration import served as served_now
from app.domain.shared.text import numbered
from app.extensions import db

ROUNDING = 1e-6


def hold_back(context: SearchContext, site_id: int, generation: Generation) -> str | None:
    """Return the reason why a sealed generation must not become the live index: a sentence that names the list whose
    NDCG falls too far. None where none does, and where nothing is live that could be kept."""
    guarding = select(JudgementList).where(JudgementList.site_id == site_id, JudgementList.largest_drop.is_not(None))
    for row in db.session.scalars(guarding.order_by(JudgementList.id)).all():
        try:
            sides = _sides(context, row, generation)
        except SearchUnavailable:
            return None  # Nothing is live, so nothing can get worse.
        if sides is not None and (reason := _reason(row, sides)):
            return reason
    return None


def _sides(context: SearchContext, row: JudgementList, generation: Generation) -> Sides | None:
    searches = rated_searches(row)
    if not searches:
        return None
    served, now = served_now(row.site_id), context.clock.now()
    live = current_figures(context.engine, row, served, now)
    live = live or measure(context.engine, row.site_id, searches, served, now)
    return Sides(live, measure(generation.preview(), row.site_id, searches, served, now))


def _reason(row: JudgementList, sides: Sides) -> str | None:
    change, allowed = sides.change, (row.largest_drop or 0) / 1_000
    if change.before - change.after <= allowed + ROUNDING:
        return None
    return (
        f"The new index was blocked, since by it the NDCG@10 of the judgement list “{row.name}” falls from "
        f"{change.before:.3f} to {change.after:.3f}, by more than {allowed:.3f}: "
        f"{numbered(change.worse, 'search', 'searches')} worse, {change.better:,} better. Change what made them worse, "
        "or let the list allow more, then rebuild again."
    )
