"""Categories are counted by one query; where there are more than it names, the others one by one."""

from __future__ import annotations

from app.domain.merchandising.tree import ShopNode
from app.domain.search.engine import MOST_FACET_VALUES, IndexName, SearchRequest, SearchResult, SearchUnavailable
from app.domain.seo.sitemap.category_counts import CategoryCounts


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


def node(number: int) -> ShopNode:
    return ShopNode(number, 1, None, "Tents", "tents", "tents")


def test_one_query_counts_all() -> None:
    engine = Counting(50)
    counts = CategoryCounts(engine, 1)  # type: ignore[arg-type]
    assert [counts.of(node(number)) for number in (0, 49, 50)] == [9, 9, 0]
    assert engine.requests == 1


def test_those_that_it_does_not_name_are_counted_by_themselves() -> None:
    engine = Counting(MOST_FACET_VALUES + 5)
    counts = CategoryCounts(engine, 1)  # type: ignore[arg-type]
    assert [counts.of(node(number)) for number in (0, MOST_FACET_VALUES, MOST_FACET_VALUES + 5)] == [9, 7, 0]
    assert engine.requests == 3


def test_a_count_that_cannot_be_fetched_is_unknown() -> None:
    engine = Counting(MOST_FACET_VALUES)
    counts = CategoryCounts(engine, 1)  # type: ignore[arg-type]
    engine.is_away = True
    assert counts.of(node(1)) == 9 and counts.of(node(MOST_FACET_VALUES)) is None
    assert CategoryCounts(engine, 1).of(node(1)) is None  # type: ignore[arg-type]
