"""Numbers of products that each category shows, those of the categories below it included."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from app.domain.search.engine import MOST_FACET_VALUES, IndexName, SearchEngine, SearchRequest, SearchUnavailable


@dataclass(frozen=True, slots=True)
class CategoryCounts:
    """`is_complete` says that a category without a count shows no product; otherwise it is not known."""

    counts: Mapping[int, int] = field(default_factory=dict)
    is_complete: bool = False

    @property
    def is_search_away(self) -> bool:
        return not self.counts and not self.is_complete

    def of(self, node_id: int) -> int | None:
        return self.counts.get(node_id, 0 if self.is_complete else None)


def category_counts(engine: SearchEngine, site_id: int, *, fresh: bool = False) -> CategoryCounts:
    """Return the counts of all categories, in one call. None is known while search does not answer. `fresh` waits for
    what was just written."""
    everything = SearchRequest(facets=("category",), per_page=0, fresh=fresh)
    try:
        result = engine.search(site_id, IndexName.PRODUCTS, everything)
    except SearchUnavailable:
        return CategoryCounts()
    found = result.facets.get("category", ())
    return CategoryCounts(
        {int(value): count for value, count in found if value.isdigit()}, len(found) < MOST_FACET_VALUES
    )
