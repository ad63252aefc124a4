"""Products that a rule does nothing for: boosting and burying reorder what a search finds, and add nothing to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from app.domain.search.engine import Searching, SearchRequest
from app.domain.search.serving.plan import Served, plan
from app.domain.search.serving.query import search_products
from app.domain.search.serving.rules import Rule


def not_found(
    engine: Searching, site_id: int, term: str, skus: Sequence[str], served: Served, now: datetime
) -> tuple[str, ...]:
    """Return those of the SKUs that the search does not find, in their order. One search is enough: with all of them
    boosted, those that it finds come first. Raises SearchUnavailable."""
    if not skus or not term.strip():
        return ()
    boosted = replace(plan(term, served, now, redirects=False), rule=Rule(term=term, boosts=tuple(skus)))
    request = SearchRequest(words=term, per_page=len(skus))
    hits = search_products(engine, site_id, request, boosted, served.stop_words).result.hits
    found = {hit.card.get("sku") for hit in hits}
    return tuple(sku for sku in skus if sku not in found)
