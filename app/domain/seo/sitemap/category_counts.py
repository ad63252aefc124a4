"""The number of products that every category of a shop shows, however many categories there are."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

from app.domain.merchandising.tree import ShopNode
from app.domain.search.engine import IndexName, SearchEngine, SearchRequest, SearchUnavailable, ValueFilter
from app.domain.search.listings.browsing import CategoryCounts, category_counts


@dataclass(frozen=True, slots=True)
class ExactCounts:
    """Counts of all categories: those that the one query leaves out are counted by a query each. In the largest shops
    these are thousands, so only a worker counts all categories this way, or a page a few of them."""

    known: CategoryCounts
    engine: SearchEngine
    site_id: int

    @classmethod
    def of_site(cls, engine: SearchEngine, site_id: int) -> ExactCounts:
        return cls(category_counts(engine, site_id, fresh=True), engine, site_id)

    def of(self, node: ShopNode) -> int | None:
        """Return the number of products in a category; None where it could not be fetched."""
        count = self.known.of(node.id)
        return self._count(node) if count is None and not self.known.is_search_away else count

    def _count(self, node: ShopNode) -> int | None:
        scope = (ValueFilter("category", (str(node.id),)),)
        with suppress(SearchUnavailable):
            return self.engine.search(
                self.site_id, IndexName.PRODUCTS, SearchRequest(scope=scope, per_page=0, fresh=True)
            ).total
        return None
