"""Searches whose words are filters, as an engine answers them: when they keep their words, in which spelling, and what
their offers cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from app.adapters.whoosh import WhooshEngine
from app.domain.search.engine import IndexName, Pin, SearchContext, SearchRequest, SearchResult
from app.domain.search.index.rebuild import rebuild as rebuild_index
from app.domain.search.listings.listing import ListingRequest
from app.domain.search.listings.understood import OfferedFilter, offer_filters
from app.domain.search.serving.plan import Plan, Served, plan
from app.domain.search.serving.query import UnderstoodAnswer, UnderstoodSearch, search_understood
from app.domain.search.serving.rule_set import RuleSet
from app.domain.search.serving.rules import Match, PinnedSku, Rule
from app.domain.search.understanding.parts import FilterPart, PartKind, Understanding, UnderstandingMode
from app.transaction import transaction
from tests.contracts.meaning_contract import MEANINGS, THINGS, thing
from tests.contracts.search_engine_contract import PRODUCTS, SITE, rebuild
from tests.fakes.sentence_model import WordSums
from tests.searching import add_product, add_site, request

SETTEES = [thing(number, f"Settee number {number}") for number in range(10, 16)]


def cheaper(words: str, text: str, most: int) -> Understanding:
    """A search whose `text` means a price of `most` minor units."""
    start = words.index(text)
    part = FilterPart(PartKind.PRICE, "price", "Price", text, text, start, start + len(text), None, None, most)
    return Understanding(words, (part,))


class Counting:
    """An engine that keeps the requests made of it."""

    def __init__(self, engine: WhooshEngine) -> None:
        self.engine = engine
        self.requests: list[SearchRequest] = []

    def search(self, site_id: int, index: IndexName, request: SearchRequest) -> SearchResult:
        return self.search_many(site_id, index, [request])[0]

    def search_many(self, site_id: int, index: IndexName, requests: Sequence[SearchRequest]) -> list[SearchResult]:
        self.requests += requests
        return self.engine.search_many(site_id, index, requests)


@pytest.fixture
def model() -> WordSums:
    return WordSums(MEANINGS)


@pytest.fixture
def engine(tmp_path: Path, model: WordSums) -> WhooshEngine:
    made = WhooshEngine(tmp_path / "index", model, wait=60)
    rebuild(made, [*THINGS, *SETTEES])
    return made


def found(engine: WhooshEngine | Counting, search: UnderstoodSearch) -> UnderstoodAnswer:
    return search_understood(engine, SITE, [search])[0]


def offers(engine: WhooshEngine, search: UnderstoodSearch) -> tuple[OfferedFilter, ...]:
    listing = ListingRequest("/search", words=search.request.words)
    return offer_filters(engine, SITE, search, frozenset(), listing, UnderstandingMode.SUGGESTED)


def test_a_search_found_empty_without_its_meaning_keeps_its_words_without_it_too(engine: WhooshEngine):
    words = "divan under 3p"  # No product has the first word; one under 3p is near in meaning to none.
    engine.search(SITE, PRODUCTS, SearchRequest(words=words, by_meaning=True, patient=True))  # Now it knows them.
    first = SearchRequest(words=words, correct=False, known_meaning=True)
    search = UnderstoodSearch(first, Plan(words, by_meaning=True), cheaper(words, "under 3p", 3))
    one = found(engine, search)
    assert one.was_emptied and one.answer.result.lacks_meaning
    continued = replace(search, request=replace(first, known_meaning=False), plan=Plan(words))
    assert found(engine, continued).answer.result.total == one.answer.result.total


def test_offers_have_no_meaning_computed(engine: WhooshEngine, model: WordSums):
    words = "couch under 40p"
    search = UnderstoodSearch(SearchRequest(words=words), Plan(words, by_meaning=True), cheaper(words, "under 40p", 40))
    before = list(model.embedded)
    assert [one.count for one in offers(engine, search)] == [1]
    assert model.embedded == before


def test_an_offer_of_a_misspelt_search_is_counted_in_the_better_spelling(engine: WhooshEngine):
    words = "seteee under 14p"
    search = UnderstoodSearch(SearchRequest(words=words), Plan(words), cheaper(words, "under 14p", 14))
    taken = found(engine, search).answer.result
    assert taken.corrected and taken.total == 6
    assert [one.count for one in offers(engine, search)] == [6]


def test_a_better_spelling_has_the_words_that_were_taken_out(engine: WhooshEngine):
    words = "under 14p seteee"
    search = UnderstoodSearch(SearchRequest(words=words), Plan(words), cheaper(words, "under 14p", 14))
    assert found(engine, search).answer.result.suggestion == "under 14p settee"


@pytest.mark.parametrize(("pins", "requests"), [((), 1), (("T1",), 1), (("T4", "T10", "T11", "T12", "T13", "T14"), 2)])
def test_pins_cost_a_count_only_where_they_may_be_all_that_is_found(
    engine: WhooshEngine, pins: Sequence[str], requests: int
):
    words, counting = "settee under 14p", Counting(engine)
    request = SearchRequest(words=words, pins=tuple(Pin(name, place) for place, name in enumerate(pins, 1)))
    one = found(counting, UnderstoodSearch(request, Plan(words), cheaper(words, "under 14p", 14)))
    assert not one.was_emptied
    assert len(counting.requests) == requests


@pytest.mark.usefixtures("context")
def test_a_pinned_product_alone_does_not_keep_the_filters(indexing: SearchContext):
    with transaction():
        site_id = add_site().id
        add_product(site_id, "T-1", "Tent").price = 9000
        add_product(site_id, "LAMP", "Lamp").price = 100
    rebuild_index(indexing, request(indexing, site_id))
    words = "tent under £5"
    rule = Rule("tent", match=Match.CONTAINS, pins=(PinnedSku("LAMP", 1),))
    for served, hits in ((Served.NOTHING, ["T-1"]), (Served(rules=RuleSet.of([rule])), ["LAMP", "T-1"])):
        planned = plan(words, served, indexing.clock.now())
        search = UnderstoodSearch(SearchRequest(words=words), planned, cheaper(words, "under £5", 500))
        one = search_understood(indexing.engine, site_id, [search])[0]
        assert one.was_emptied
        assert [hit.card["sku"] for hit in one.answer.result.hits] == hits
