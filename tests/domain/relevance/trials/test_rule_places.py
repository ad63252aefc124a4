"""Where a rule that is not saved puts the products of a search, and how far it moves them."""

from __future__ import annotations

import pytest

from app.domain.relevance.proposals import RuleProposal
from app.domain.relevance.rule_places import RulePlaces, rule_places
from app.domain.search.engine import SearchContext
from app.domain.search.serving.rules import PinnedSku, Rule
from app.domain.search.serving.term_index import Match
from tests.domain.relevance.trials.preview_shop import save_rule, shop

pytestmark = pytest.mark.usefixtures("context")
NAMES = {f"TENT-{n}": f"Tent {n}" for n in range(1, 6)} | {"MUG-1": "Blue mug"}


def places(indexing: SearchContext, site_id: int, rule: Rule, most: int = 10) -> RulePlaces:
    return rule_places(indexing.engine, indexing.clock, site_id, RuleProposal(rule), rule.term, most)


def margins(found: RulePlaces) -> list[tuple[str, int | None]]:
    return [(place.sku, place.margin) for place in found.places]


@pytest.fixture
def site_id(indexing: SearchContext) -> int:
    return shop(indexing, names=NAMES)


def test_a_margin_counts_the_places_that_the_rule_moves_a_product(indexing: SearchContext, site_id: int) -> None:
    [first, second, third, fourth, fifth] = [sku for sku, _ in margins(places(indexing, site_id, Rule(term="tent")))]
    rule = Rule(term="tent", pins=(PinnedSku(fourth, 1), PinnedSku("MUG-1", 3)), buries=(first,))
    found = places(indexing, site_id, rule)
    assert margins(found) == [(fourth, 3), (second, 0), ("MUG-1", None), (third, -1), (fifth, 0), (first, -5)]
    assert [place.sku for place in found.places if place.is_pinned] == [fourth, "MUG-1"]
    assert [place.place for place in found.places] == [1, 2, 3, 4, 5, 6]
    assert found.total == 6


def test_the_first_products_alone_are_returned(indexing: SearchContext, site_id: int) -> None:
    found = places(indexing, site_id, Rule(term="tent"), most=2)
    assert (len(found.places), found.total, {margin for _, margin in margins(found)}) == (2, 5, {0})


def test_what_is_stored_of_the_rule_counts_as_the_rule(indexing: SearchContext, site_id: int) -> None:
    [*_, last] = [sku for sku, _ in margins(places(indexing, site_id, Rule(term="tent")))]
    pins = [{"sku": last, "position": 1}]
    rule_id = save_rule(indexing, site_id, "tent", pins=pins)
    kept = Rule(term="tent", pins=(PinnedSku(last, 1),), id=rule_id)
    assert margins(places(indexing, site_id, kept))[0] == (last, 4)
    emptied = Rule(term="tent", redirect_url="/c/tents", id=rule_id)
    found = places(indexing, site_id, emptied)
    assert {margin for _, margin in margins(found)} == {0}
    assert found.redirect == "/c/tents"


def test_the_pins_of_another_rule_are_there_with_and_without_this_one(indexing: SearchContext, site_id: int) -> None:
    [*_, last] = [sku for sku, _ in margins(places(indexing, site_id, Rule(term="tent")))]
    save_rule(indexing, site_id, "tent", match=Match.STARTS_WITH.value, pins=[{"sku": last, "position": 1}])
    found = places(indexing, site_id, Rule(term="tent"))
    assert (found.places[0].sku, found.places[0].margin, found.places[0].is_pinned) == (last, 0, True)
