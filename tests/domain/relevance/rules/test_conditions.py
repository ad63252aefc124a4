"""Rules by condition from their saving to what shoppers find: terms, levels, groups, and how they share a search."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.domain.catalogue.models import Product
from app.domain.relevance import rule_import, rules
from app.domain.relevance.effect import effect_of_rule
from app.domain.relevance.explain import explain_search
from app.domain.relevance.explanation import ExplainRequest, explanation_json
from app.domain.relevance.previews import preview_change
from app.domain.relevance.proposals import RuleProposal
from app.domain.relevance.rule_definition import describe_searches, overlapping
from app.domain.relevance.rule_levels import republish_names
from app.domain.relevance.rules import count_applied
from app.domain.search.engine import SearchContext
from app.domain.search.index import outbox
from app.domain.search.index.rebuild import rebuild
from app.domain.search.serving import configuration
from app.domain.search.serving.product_groups import AttributeCondition, ProductGroup
from app.domain.search.serving.query import first_ten
from app.domain.search.serving.rule_set import RuleSet
from app.domain.search.serving.rules import Banner, PinnedSku, Rule
from app.domain.search.serving.term_index import Match
from app.domain.shared.author import Author
from app.domain.shared.problems import Invalid
from app.domain.sites.models import Site
from app.domain.taxonomy.models import Taxonomy
from app.extensions import db
from app.transaction import transaction
from tests.factories import make_taxonomy
from tests.searching import add_product, add_site, request

pytestmark = pytest.mark.usefixtures("context")
COLOUR = {"attributeId": "colour", "name": "Colour", "type": "STRING"}
WEIGHT = {"attributeId": "weight", "name": "Weight", "type": "NUMBER"}
LEVELS = [
    {
        "levelId": "camping",
        "name": "Camping",
        "attributes": [COLOUR, WEIGHT],
        "children": [{"levelId": "tents", "name": "Tents", "otherNames": ["Shelters"]}],
    }
]


@pytest.fixture
def site(indexing: SearchContext) -> Site:
    """Six tents: those of Acme are 1 and 4, 2 and 5 are sold out, 3 is red and 6 is dear. 4, 5
    and 6 weigh 400, 500 and 600."""
    with transaction():
        site = add_site()
        make_taxonomy(site, LEVELS, active=True, id="kinds")
        for number in range(1, 7):
            product = add_product(site.id, f"T-{number}", "Red tent" if number == 3 else "Tent")
            product.manufacturer = "Acme" if number in (1, 4) else "Bolt"
            product.stock = 0 if number in (2, 5) else 9
            product.price = 9_000 if number == 6 else 1_000
            product.taxonomy_level_id = "tents"
            colour = {"colour": "Red"} if number == 3 else {}
            product.taxonomy_attributes = colour | ({"weight": number * 100} if number > 3 else {})
    rebuild(indexing, request(indexing, site.id, "PRODUCTS"))
    return site


def save(indexing: SearchContext, site: Site, rule: Rule) -> int:
    with transaction():
        return rules.add(Author(site.id, "Mia Moss", indexing.clock), rule).id


def found(indexing: SearchContext, site: Site, words: str = "tent") -> list[str]:
    served = configuration.served(site.id)
    return [str(h.card["sku"]) for h in first_ten(indexing.engine, site.id, words, served, indexing.clock.now()).hits]


def applied(indexing: SearchContext, site: Site, words: str) -> list[str]:
    found = configuration.served(site.id).rules.applying(words, indexing.clock.now())
    return [rule.term for rule in found]


@pytest.mark.parametrize(
    ("group", "first"),
    [
        (ProductGroup(("Acme",)), {"T-1", "T-4"}),
        (ProductGroup(levels=("camping",), stock="out"), {"T-2", "T-5"}),
        (ProductGroup(attributes=(AttributeCondition("colour", ("Red", "Blue")),)), {"T-3"}),
        (ProductGroup(attributes=(AttributeCondition("weight", high=450),)), {"T-4"}),
        (ProductGroup(("Bolt",), attributes=(AttributeCondition("weight", low=499.5, high=600),)), {"T-5", "T-6"}),
        (ProductGroup(price_from=5_000), {"T-6"}),
        (ProductGroup(("Acme",), price_to=5_000, stock="in"), {"T-1", "T-4"}),
    ],
)
def test_a_group_is_boosted_for_each_search_that_contains_the_term(
    indexing: SearchContext, site: Site, group: ProductGroup, first: set[str]
) -> None:
    save(indexing, site, Rule("tents", match=Match.CONTAINS, boost_groups=(group,)))
    for words in ("tent", "big tent", "tents for two"):
        assert set(found(indexing, site, words)[: len(first)]) == first
        assert len(found(indexing, site, words)) == 6


def test_what_is_named_by_its_sku_goes_before_a_group(indexing: SearchContext, site: Site) -> None:
    groups = {"bury_groups": (ProductGroup(("Acme",)),), "boost_groups": (ProductGroup(stock="in"),)}
    save(indexing, site, Rule("tent", pins=(PinnedSku("T-1", 1),), boosts=("T-2",), **groups))
    ranked = found(indexing, site)
    assert (ranked[:2], ranked[-1]) == (["T-1", "T-2"], "T-4")
    assert set(ranked[2:4]) == {"T-3", "T-6"}


def test_a_group_follows_a_change_of_a_product(indexing: SearchContext, site: Site) -> None:
    save(indexing, site, Rule("tent", boost_groups=(ProductGroup(("Acme",)),)))
    assert "T-5" not in found(indexing, site)[:3]
    with transaction():
        product = db.session.query(Product).filter_by(site_id=site.id, sku="T-5").one()
        product.manufacturer = "Acme"
    assert outbox.apply_waiting(indexing, site.id)
    assert set(found(indexing, site)[:3]) == {"T-1", "T-4", "T-5"}


def test_a_group_of_new_products_grows_old(indexing: SearchContext, site: Site) -> None:
    with transaction():
        product = db.session.query(Product).filter_by(site_id=site.id, sku="T-6").one()
        product.created_at = indexing.clock.now()
    outbox.apply_waiting(indexing, site.id)
    save(indexing, site, Rule("tent", bury_groups=(ProductGroup(new_days=3),)))
    assert found(indexing, site)[-1] == "T-6"
    indexing.clock.move(days=5)  # type: ignore[attr-defined]
    assert found(indexing, site)[-1] != "T-6"


def test_a_rule_applies_where_the_words_name_its_level_or_one_below(indexing: SearchContext, site: Site) -> None:
    save(indexing, site, Rule("camping week", match=Match.ANY, levels=("camping",), banner=Banner("Camping week")))
    save(indexing, site, Rule("red", match=Match.STARTS_WITH, levels=("tents",), boosts=("T-3",)))
    assert applied(indexing, site, "shelters") == applied(indexing, site, "camping") == ["camping week"]
    assert applied(indexing, site, "red tents") == ["red"]
    assert applied(indexing, site, "camping stove") == applied(indexing, site, "red stove") == []


def test_a_level_that_is_renamed_is_named_otherwise(indexing: SearchContext, site: Site) -> None:
    save(indexing, site, Rule("tents", match=Match.ANY, levels=("tents",), boosts=("T-1",)))
    with transaction():
        taxonomy = db.session.get_one(Taxonomy, (site.id, "kinds"))
        renamed = {**LEVELS[0], "children": [{"levelId": "tents", "name": "Canvas houses"}]}
        taxonomy.root_levels = [renamed]
        republish_names(site.id)
    assert applied(indexing, site, "canvas house") == ["tents"]
    assert applied(indexing, site, "shelters") == []


def test_two_rules_may_have_one_term_where_they_meet_it_otherwise(indexing: SearchContext, site: Site) -> None:
    save(indexing, site, Rule("tent", boosts=("T-1",)))
    save(indexing, site, Rule("Tent", match=Match.CONTAINS, boosts=("T-2",)))
    for match in (Match.EXACT, Match.CONTAINS):
        with pytest.raises(Invalid) as refused:
            save(indexing, site, Rule(" TENT", match=match, boosts=("T-3",)))
        assert [problem.code for problem in refused.value.problems] == ["duplicate_term"]
    assert found(indexing, site)[:2] == ["T-1", "T-2"]


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"match": Match.ANY}, ("required", "#/levels")),
        ({"levels": ("tents",)}, ("levels_of_exact", "#/levels")),
        ({"match": Match.CONTAINS, "levels": ("nowhere",)}, ("unknown_level", "#/levels/0")),
        ({"match": Match.CONTAINS, "term": "!"}, ("without_word", "#/term")),
        ({"other_terms": ("mac", " TENT ")}, ("duplicate_term", "#/otherTerms/1")),
        ({"other_terms": ("x" * 101,)}, ("too_long", "#/otherTerms/0")),
        ({"match": Match.ANY, "levels": ("tents",), "other_terms": ("x",)}, ("terms_of_any", "#/otherTerms")),
        ({"priority": 0}, ("invalid_priority", "#/priority")),
        ({"boost_groups": (ProductGroup(),)}, ("empty_group", "#/boostGroups/0")),
        ({"bury_groups": (ProductGroup(levels=("x",)),)}, ("unknown_level", "#/buryGroups/0/levels/0")),
        (
            {"bury_groups": (ProductGroup(attributes=(AttributeCondition("weight", ("1",)),)),)},
            ("unknown_attribute", "#/buryGroups/0/attributes/0/id"),
        ),
        (
            {"bury_groups": (ProductGroup(attributes=(AttributeCondition("colour", low=1),)),)},
            ("unknown_attribute", "#/buryGroups/0/attributes/0/id"),
        ),
        (
            {"boost_groups": (ProductGroup(attributes=(AttributeCondition("weight", low=2, high=1.5),)),)},
            ("invalid_range", "#/boostGroups/0/attributes/0/to"),
        ),
        (
            {"boost_groups": (ProductGroup(attributes=(AttributeCondition("weight", low=-(10**400)),)),)},
            ("invalid_number", "#/boostGroups/0/attributes/0/from"),
        ),
        (
            {"boost_groups": (ProductGroup(attributes=(AttributeCondition("colour", ("Red",), high=1),)),)},
            ("values_and_range", "#/boostGroups/0/attributes/0"),
        ),
        (
            {"boost_groups": (ProductGroup(("Acme",), attributes=(AttributeCondition("weight"),)),)},
            ("required", "#/boostGroups/0/attributes/0"),
        ),
        ({"boost_groups": (ProductGroup(price_from=2, price_to=1),)}, ("invalid_range", "#/boostGroups/0/priceTo")),
        ({"boost_groups": (ProductGroup(new_days=0),)}, ("invalid_number", "#/boostGroups/0/newDays")),
        ({"boost_groups": (ProductGroup(stock="in"),) * 11}, ("too_many", "#/boostGroups")),
        (
            {"match": Match.CONTAINS, "redirect_url": "/search?q=big+tents", "boosts": ()},
            ("redirect_loop", "#/redirectUrl"),
        ),
    ],
)
def test_a_condition_that_cannot_be_is_refused_at_its_place(
    indexing: SearchContext, site: Site, changed: dict[str, object], problem: tuple[str, str]
) -> None:
    with pytest.raises(Invalid) as refused:
        save(indexing, site, replace(Rule("tent", boosts=("T-1",)), **changed))
    assert [(one.code, one.pointer) for one in refused.value.problems] == [problem]


def test_a_rule_is_described_by_its_searches() -> None:
    rule = Rule("tent", match=Match.CONTAINS, other_terms=("shelter",), levels=("camping",))
    described = "Searches that contain “tent” or “shelter” and name Camping"
    assert describe_searches(rule, {"camping": "Camping"}) == described
    assert describe_searches(Rule("x", match=Match.ANY, levels=("a", "b"))) == "Searches that name a or b"


def test_rules_overlap_where_one_is_for_a_search_of_the_other() -> None:
    wide, begins = Rule("tent", match=Match.CONTAINS, id=1), Rule("red tent", match=Match.STARTS_WITH, id=2)
    exact, other = Rule("big red tents", id=3), Rule("stove", match=Match.CONTAINS, id=4)
    every = RuleSet.of([wide, begins, exact, other])
    assert [rule.id for rule in overlapping(wide, every)] == [3, 2]
    assert [rule.id for rule in overlapping(exact, every)] == [1]
    assert overlapping(other, every) == []


def test_searches_to_which_a_rule_applied_are_counted_by_its_condition() -> None:
    counts = {"tent": 5, "red tents": 3, "stove": 2}
    rules = [Rule("tent", match=Match.CONTAINS, id=1), Rule("tent", other_terms=("stove",), id=2)]
    assert count_applied(rules, counts) == {1: 8, 2: 7}


def test_test_a_search_names_every_rule_and_what_it_yields(indexing: SearchContext, site: Site) -> None:
    first = save(indexing, site, Rule("tent", pins=(PinnedSku("T-5", 1),), banner=Banner("First")))
    second = save(
        indexing, site, Rule("tent", match=Match.CONTAINS, pins=(PinnedSku("T-6", 1),), banner=Banner("Second"))
    )
    explanation = explain_search(indexing.clock, indexing.engine, site.id, ExplainRequest("tent"))
    shown = explanation_json(explanation)
    assert shown["rule"]["id"] == str(first)
    assert [(rule["id"], rule["match"], rule["lost"]) for rule in shown["rules"]] == [
        (str(first), "exact", []),
        (
            str(second),
            "contains",
            [{"effect": "the banner", "to": str(first)}, {"effect": "T-6 at position 1", "to": str(first)}],
        ),
    ]
    assert (explanation.hits[0].sku, explanation.hits[0].why.placed) == ("T-5", "pinned")


def test_a_product_of_a_group_is_explained_as_placed_by_a_rule(indexing: SearchContext, site: Site) -> None:
    save(indexing, site, Rule("tent", bury_groups=(ProductGroup(("Acme",)),)))
    explanation = explain_search(indexing.clock, indexing.engine, site.id, ExplainRequest("tent", "T-4"))
    assert explanation.product is not None
    assert (explanation.product.why.placed, explanation.product.rank in (5, 6)) == ("buried", True)


def test_an_unsaved_rule_by_condition_is_previewed_with_its_level(indexing: SearchContext, site: Site) -> None:
    rule = Rule("week", match=Match.ANY, levels=("camping",), boost_groups=(ProductGroup(price_from=5_000),))
    tried = preview_change(indexing.engine, indexing.clock, site.id, RuleProposal(rule), "tents")
    (comparison,) = tried.comparisons
    assert comparison.is_changed
    assert comparison.after.places[0].card["sku"] == "T-6"
    assert tried.met == ()


def test_the_effect_of_a_rule_is_measured_over_its_searches(indexing: SearchContext, site: Site) -> None:
    rule_id = save(indexing, site, Rule("tent", match=Match.STARTS_WITH, boosts=("T-1",)))
    assert effect_of_rule(indexing.clock, site.id, rule_id).searches == "Searches that start with “tent”"


def test_a_table_keeps_rules_of_one_term_apart(indexing: SearchContext, site: Site) -> None:
    save(indexing, site, Rule("tent", boosts=("T-1",)))
    save(indexing, site, Rule("tent", match=Match.CONTAINS, bury_groups=(ProductGroup(("Acme",)),)))
    table = (
        "term;match;priority;buryGroups\ntent;contains;7;manufacturer=Bolt&stock=out\ntent;startsWith;;newDays=30\n"
        "tent;sideways;;\ntent;exact;;manufacturer\n"
    )
    report = rule_import.preview(site.id, table.replace(";", ","))
    assert [line.outcome.value for line in report.lines] == ["changed", "added", "refused", "refused"]
    with transaction():
        rule_import.apply(Author(site.id, "Mia Moss", indexing.clock), table.replace(";", ","), report.digest)
    stored = {(rule.match, rule.priority): rule.bury_groups for rule in rules.stored_rules(site.id)}
    assert stored == {
        (Match.EXACT, 100): (),
        (Match.CONTAINS, 7): (ProductGroup(("Bolt",), stock="out"),),
        (Match.STARTS_WITH, 100): (ProductGroup(new_days=30),),
    }


def test_a_table_of_rules_names_levels_by_their_paths(site: Site) -> None:
    text = (
        "term,match,levels,boosts\nred,contains,Camping > Tents,T-1\nblue,contains,camping;tents,T-2\n"
        "grey,contains,Camping > Yurts,T-3\n"
    )
    one, two, unknown = rule_import.preview(site.id, text).lines
    assert one.made and one.made.rule.levels == ("tents",)
    assert two.made and two.made.rule.levels == ("camping", "tents")
    assert unknown.made is None and "Camping > Yurts" in unknown.reason
