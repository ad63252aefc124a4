"""What an engine is asked with, and what comes back."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import permutations

import pytest

from app.domain.relevance.golden import Golden, ranks_of
from app.domain.search.engine import Alternatives, IndexName, Pin, SearchContext, SearchRequest, SearchResult
from app.domain.search.index.rebuild import rebuild
from app.domain.search.serving.plan import Served, plan
from app.domain.search.serving.query import document_ids, expand_request, first_ten, search_products
from app.domain.search.serving.rule_set import RuleSet
from app.domain.search.serving.rules import PinnedSku, Rule
from app.domain.search.serving.synonyms import SynonymGroup, SynonymSet, SynonymType
from app.transaction import transaction
from tests.searching import add_product, add_site, request

pytestmark = pytest.mark.usefixtures("context")

SOFAS = SynonymSet.of([SynonymGroup(SynonymType.EQUIVALENT, None, ("settee", "couch"))])


@pytest.fixture
def site_id(indexing: SearchContext) -> int:
    with transaction():
        site_id = add_site().id
        for sku, name in (("C-1", "Red couch"), ("C-2", "Blue couch"), ("S-1", "Red settee"), ("L-1", "Lamp")):
            add_product(site_id, sku, name)
        other = add_site("other.test").id
        add_product(other, "O-1", "Canary couch")
    rebuild(indexing, request(indexing, site_id))
    rebuild(indexing, request(indexing, other))
    return site_id


def skus(indexing: SearchContext, site_id: int, words: str, served: Served) -> list[str]:
    ten = first_ten(indexing.engine, site_id, words, served, indexing.clock.now())
    return [str(hit.card["sku"]) for hit in ten.hits]


def test_synonyms_widen_what_is_found(indexing: SearchContext, site_id: int):
    assert set(skus(indexing, site_id, "settee", Served.NOTHING)) == {"S-1"}
    assert skus(indexing, site_id, "settee", Served(synonyms=SOFAS))[0] == "S-1"
    assert set(skus(indexing, site_id, "settee", Served(synonyms=SOFAS))) == {"S-1", "C-1", "C-2"}


def test_a_corrected_spelling_is_widened_too(indexing: SearchContext, site_id: int):
    served = Served(synonyms=SOFAS)
    planned = plan("red setete", served, indexing.clock.now())
    query = search_products(indexing.engine, site_id, SearchRequest(words="red setete"), planned)
    assert (query.result.corrected, query.result.suggestion, query.request.words) == (True, "red settee", "red settee")
    assert [hit.card["sku"] for hit in query.result.hits][:2] == ["S-1", "C-1"]


def test_a_rule_places_products_by_their_skus(indexing: SearchContext, site_id: int):
    rule = Rule("couch", pins=(PinnedSku("L-1", 1), PinnedSku("O-1", 2), PinnedSku("GONE", 3)), buries=("C-1",))
    assert skus(indexing, site_id, "couch", Served(rules=RuleSet.of([rule]))) == ["L-1", "C-2", "C-1"]


def test_a_request_carries_all_that_was_taught(indexing: SearchContext, site_id: int):
    rule = Rule("the settee", pins=(PinnedSku("L-1", 1),), boosts=("C-2",), buries=("C-1", "X"))
    served = Served(synonyms=SOFAS, rules=RuleSet.of([rule]))
    planned = plan("the settee", served, indexing.clock.now())
    query = expand_request(site_id, SearchRequest(words="the settee"), planned, frozenset({"the", "best"}))
    ids = document_ids(site_id, ["L-1", "C-1", "C-2"])
    assert query.alternatives == (Alternatives(1, 1, (("couch",),)),)
    assert (query.optional, query.pins) == ({"the"}, (Pin(ids["L-1"], 1),))
    assert (query.boosts, query.buries) == ((ids["C-2"],), (ids["C-1"],))


def test_a_request_says_whether_meaning_counts(site_id: int):
    now = datetime(2026, 1, 1, tzinfo=UTC)
    for by_meaning in (True, False):
        planned = plan("settee", Served(by_meaning=by_meaning), now)
        assert expand_request(site_id, SearchRequest(words="settee"), planned).by_meaning is by_meaning


def test_skus_of_other_sites_are_unknown(site_id: int):
    assert document_ids(site_id, ["O-1", "L-1"]).keys() == {"L-1"}


def test_500_searches_of_one_shop_never_show_a_product_of_another(indexing: SearchContext, site_id: int):
    """T03: all that can be typed or taught names the other shop's product, by word, SKU, id and field."""
    chance = random.Random(2026)
    pieces = [
        "canary",
        "couch",
        "site:2",
        "id:p5",
        "O-1",
        "*",
        "[a TO z]",
        "OR",
        '"',
        "settee",
        "red",
        "canar",
        "p5",
        "?",
    ]
    synonyms = [SynonymGroup(SynonymType.EQUIVALENT, None, tuple(pair)) for pair in permutations(pieces[:5], 2)]
    for _ in range(500):
        words = " ".join(chance.choices(pieces, k=chance.randrange(1, 6)))
        rule = Rule(words, pins=(PinnedSku("O-1", 1),), boosts=("O-1",), buries=("C-1",))
        served = Served(synonyms=SynonymSet.of(chance.sample(synonyms, 2)), rules=RuleSet.of([rule]))
        assert "O-1" not in skus(indexing, site_id, words, served), words


class Listening:
    """Finds nothing, and knows what it was asked."""

    def __init__(self) -> None:
        self.requests: list[SearchRequest] = []

    def search(self, site_id: int, index: IndexName, request: SearchRequest) -> SearchResult:
        return self.search_many(site_id, index, [request])[0]

    def search_many(self, site_id: int, index: IndexName, requests: Sequence[SearchRequest]) -> list[SearchResult]:
        self.requests += requests
        return [SearchResult(0) for _ in requests]


def test_who_compares_searches_waits_for_their_meaning_and_shoppers_do_not(indexing: SearchContext, site_id: int):
    engine, now = Listening(), indexing.clock.now()
    first_ten(engine, site_id, "couch", Served.NOTHING, now)
    ranks_of(engine, site_id, [Golden(1, "couch", "C-1", 3, 1)], Served.NOTHING, now)
    assert [requests.waits_for_meaning for requests in engine.requests] == [True, True]
    first_ten(engine, site_id, "couch", Served.NOTHING, now, patient=False)
    assert not engine.requests[-1].waits_for_meaning
