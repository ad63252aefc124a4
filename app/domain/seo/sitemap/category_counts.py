"""How many products the categories of a shop show, for the sitemap."""

from __future__ import annotations

from contextlib import suppress

from app.domain.merchandising.tree import ShopNode
from app.domain.search.engine import (
    MOST_FACET_VALUES,
    IndexName,
    SearchEngine,
    SearchRequest,
    SearchUnavailable,
    ValueFilter,
)

CATEGORY = "category"


class CategoryCounts:
    """Counts by one query for all categories; those that it may leave out, since there are too many, by one each."""

    def __init__(self, engine: SearchEngine, site_id: int) -> None:
        self._engine, self._site_id = engine, site_id
        self._counts = self._count_all()

    @property
    def is_search_away(self) -> bool:
        return self._counts is None

    def of(self, node: ShopNode) -> int | None:
        """Return the number of products in a category; None where it could not be fetched."""
        if self._counts is None:
            return None
        known = self._counts.get(str(node.id))
        if known is not None or len(self._counts) < MOST_FACET_VALUES:
            return known or 0
        return self._count(node)

    def _count_all(self) -> dict[str, int] | None:
        everything = SearchRequest(facets=(CATEGORY,), per_page=0, fresh=True)
        with suppress(SearchUnavailable):
            return dict(self._engine.search(self._site_id, IndexName.PRODUCTS, everything).facets[CATEGORY])
        return None

    def _count(self, node: ShopNode) -> int | None:
        scope = (ValueFilter(CATEGORY, (str(node.id),)),)
        with suppress(SearchUnavailable):
            return self._engine.search(
                self._site_id, IndexName.PRODUCTS, SearchRequest(scope=scope, per_page=0, fresh=True)
            ).total
        return None
