"""How many products each category shows, those of the categories below it included."""

from __future__ import annotations

from collections.abc import Mapping

from app.domain.search.engine import IndexName, SearchEngine, SearchRequest, SearchUnavailable


def category_counts(engine: SearchEngine, site_id: int) -> Mapping[int, int] | None:
    """By id, in one call; a category that shows none is left out. None while search does not answer."""
    try:
        result = engine.search(site_id, IndexName.PRODUCTS, SearchRequest(facets=("category",), per_page=0))
    except SearchUnavailable:
        return None
    return {int(value): count for value, count in result.facets.get("category", ()) if value.isdigit()}
