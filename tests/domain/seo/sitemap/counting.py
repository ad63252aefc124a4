"""An engine that counts how often it is asked."""

from __future__ import annotations

from app.domain.search.engine import MOST_FACET_VALUES, IndexName, SearchRequest, SearchResult, SearchUnavailable


class Counting:
    """An engine with so many categories, of which the facet names the most that it may."""

    def __init__(self, categories: int) -> None:
        self.categories, self.requests = categories, 0
        self.is_away = False

    def search(self, site_id: int, index: IndexName, request: SearchRequest) -> SearchResult:
        self.requests += 1
        if self.is_away:
            raise SearchUnavailable("It is away.")
        if request.scope:
            return SearchResult(7 if int(request.scope[0].values[0]) < self.categories else 0)
        named = tuple((str(number), 9) for number in range(min(self.categories, MOST_FACET_VALUES)))
        return SearchResult(100, facets={"category": named})
