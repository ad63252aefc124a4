"""What is known of a site's levels is counted by its index once, and cached while shop and index stay."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from app.domain.search.engine import IndexName, RangeCount, SearchRequest, SearchResult, SearchUnavailable
from app.domain.search.understanding.facts import FRESH, QueryReader, QueryReaderCache
from app.domain.taxonomy.tree import Attribute, AttributeType, Level, TaxonomyTree
from tests.factories import WHEN

TREE = TaxonomyTree.of(
    [
        Level(
            "monitors",
            "Monitors",
            attributes=(
                Attribute("size", "Screen size", AttributeType.NUMBER, unit="in"),
                Attribute("note", "Note", AttributeType.STRING),
                Attribute("colour", "Colour", AttributeType.SINGLE_SELECT, ("Black", "White")),
            ),
        )
    ]
)


class CountingIndex:
    """An index of ten monitors that keeps the requests."""

    def __init__(self, answers: bool = True) -> None:
        self.requests: list[SearchRequest] = []
        self._answers = answers

    def search(self, site_id: int, index: IndexName, request: SearchRequest) -> SearchResult:
        if not self._answers:
            raise SearchUnavailable("It is away.")
        self.requests.append(request)
        return SearchResult(10, ranges={name: RangeCount(20, 32, 10) for name in request.range_facets})

    def search_many(self, site_id: int, index: IndexName, requests: Sequence[SearchRequest]) -> list[SearchResult]:
        return [self.search(site_id, index, request) for request in requests]


def reader(cache: QueryReaderCache, versions: tuple[int, int] = (1, 1), later: timedelta = timedelta(0)) -> QueryReader:
    return cache.reader(1, versions, WHEN + later, TREE, "gbp", ("price",))


def test_an_attribute_is_counted_when_a_search_first_says_something_of_it_and_not_again():
    index, made = CountingIndex(), reader(QueryReaderCache())
    for words in ("27 inch monitor", "monitor up to 24 inch", "monitors"):
        assert made.understand(index, words).level_id == "monitors"
    assert len(index.requests) == 1
    made.understand(index, "black monitor")
    assert [request.facets for request in index.requests[1:]] == [("colour",)]
    assert (index.requests[0].range_facets, index.requests[0].per_page) == (("size",), 0)
    assert index.requests[0].facets == ("manufacturer",), "free texts are no values"


def test_while_the_index_does_not_answer_nothing_is_understood():
    found = reader(QueryReaderCache()).understand(CountingIndex(answers=False), "27 inch monitor")
    assert (found.words, found.parts) == ("27 inch monitor", ())


def test_a_reader_lasts_while_shop_and_index_stay():
    cache = QueryReaderCache()
    assert reader(cache) is reader(cache)
    assert reader(cache) is not reader(cache, versions=(2, 1))


def test_a_reader_outlives_changes_of_the_index_for_a_time():
    cache = QueryReaderCache()
    made = reader(cache)
    assert reader(cache, versions=(1, 2), later=FRESH / 2) is made
    assert reader(cache, versions=(1, 3), later=FRESH * 2) is not made
