"""Landing pages that show nearly the same products."""

from __future__ import annotations

from dataclasses import dataclass, field

from app.domain.search.engine import IndexName, SearchRequest, SearchResult, ValueFilter
from app.domain.seo.landing.overview import MOST_COMPARED, alike_in_size, find_near_twins
from app.domain.seo.landing.pages import FacetCounts, LandingPage, LandingSubject, landing_pages

TENTS = LandingSubject("Tents", "tents", frozenset(), "Small shop", 1)


def pages(brands: dict[str, int], colours: dict[str, int]) -> tuple[LandingPage, ...]:
    counts = {
        "manufacturer": FacetCounts(1_000, tuple(brands.items())),
        "colour": FacetCounts(1_000, tuple(colours.items())),
    }
    return landing_pages(TENTS, [{"facetId": "manufacturer"}, {"facetId": "colour"}], counts).pages


@dataclass
class Engine:
    """Answers how many products of a page each colour has."""

    common: dict[str, dict[str, int]]
    requests: list[SearchRequest] = field(default_factory=list)

    def search(self, site_id: int, name: IndexName, request: SearchRequest) -> SearchResult:
        self.requests.append(request)
        (value,) = request.scope[1].values
        return SearchResult(0, facets={"colour": tuple(self.common.get(value, {}).items())})


def test_pages_with_more_than_nine_tenths_in_common_are_twins():
    engine = Engine({"Moor": {"Navy": 96, "Fern": 90}})
    found = find_near_twins(engine, 1, 7, pages({"Moor": 100}, {"Navy": 100, "Fern": 95}))  # type: ignore[arg-type]
    assert [(twins.one.value, twins.other.value, round(twins.share, 2)) for twins in found.twins] == [
        ("Moor", "Navy", 0.92)
    ]
    (requests,) = engine.requests
    assert requests.scope == (ValueFilter("category", ("7",)), ValueFilter("manufacturer", ("Moor",)))
    assert (requests.facets, requests.per_page) == (("colour",), 0)


def test_only_pages_of_other_facets_and_of_alike_sizes_are_compared():
    found = alike_in_size(pages({"Moor": 100, "Fell": 99, "Small": 9}, {"Navy": 91, "Fern": 90, "Odd": 10}))
    assert [(page.value, [other.value for other in others]) for page, others in found] == [
        ("Moor", ["Navy"]),
        ("Fell", ["Navy", "Fern"]),
    ]
    engine = Engine({})
    assert find_near_twins(engine, 1, 7, pages({"Moor": 100, "Fell": 100}, {})).twins == () and not engine.requests  # type: ignore[arg-type]


def test_the_number_of_queries_is_bounded_and_said():
    many = {f"Brand {number}": 500 for number in range(MOST_COMPARED + 5)}
    engine = Engine({})
    found = find_near_twins(engine, 1, 7, pages(many, {"Navy": 500}))  # type: ignore[arg-type]
    assert len(engine.requests) == MOST_COMPARED and not found.is_whole


def test_counts_of_different_moments_make_no_share_beyond_the_whole():
    """A page's own count may be five minutes old, what it has in common is counted now."""
    engine = Engine({"Moor": {"Navy": 2}})
    found = find_near_twins(engine, 1, 7, pages({"Moor": 1}, {"Navy": 1}))  # type: ignore[arg-type]
    assert [twins.share for twins in found.twins] == [1]
    emptied = find_near_twins(Engine({"Moor": {"Navy": 0}}), 1, 7, pages({"Moor": 1}, {"Navy": 1}))  # type: ignore[arg-type]
    assert emptied.twins == ()
