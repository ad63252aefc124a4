"""Which rules apply to a search, in which order, and what they do together."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from app.domain.search.filters import PlacedGroup, RangeFilter, ValueFilter
from app.domain.search.serving.applied_rules import combine
from app.domain.search.serving.configuration import rule_in_snapshot, rule_of_snapshot
from app.domain.search.serving.plan import Served, plan
from app.domain.search.serving.product_groups import (
    AttributeCondition,
    GroupNames,
    ProductGroup,
    describe_group,
    group_text,
    read_group,
)
from app.domain.search.serving.rule_set import RuleSet
from app.domain.search.serving.rules import Banner, PinnedSku, Rule
from app.domain.search.serving.term_index import Match
from app.domain.shared.money import LARGEST

NOW = datetime(2026, 11, 28, 12, tzinfo=UTC)
TENTS = {"levels": ("tents",), "names": ("Tents", "Dome tents")}


def applying(words: str, *rules: Rule) -> list[int | None]:
    return [rule.id for rule in RuleSet.of(rules).applying(words, NOW)]


def test_exact_comes_before_starts_with_before_contains_before_any_search_of_a_level() -> None:
    rules = [
        Rule("level", match=Match.ANY, **TENTS, id=1, priority=1),
        Rule("tent", match=Match.CONTAINS, id=2),
        Rule("tents", match=Match.STARTS_WITH, id=3, priority=500),
        Rule("tent", id=4, priority=1000),
    ]
    assert applying("tent", *rules) == [4, 3, 2, 1]


def test_of_one_kind_the_lower_number_comes_first_and_then_the_older() -> None:
    names = ("red", "coat", "rain", "red coat")
    numbers = (100, 100, 7, 100)
    rules = [
        Rule(term, match=Match.CONTAINS, priority=number, id=id)
        for id, (term, number) in enumerate(zip(names, numbers, strict=True), 1)
    ]
    assert applying("red rain red coat", *reversed(rules)) == [3, 1, 2, 4]


def test_a_rule_applies_for_each_of_its_terms_and_counts_once() -> None:
    rule = Rule("mac", match=Match.CONTAINS, other_terms=("rain coat", "anorak"), id=1)
    assert applying("anorak", rule) == applying("mac anorak", rule) == applying("red rain coats", rule) == [1]
    assert applying("coat", rule) == []
    exact = Rule("mac", other_terms=("rain coat",), id=2)
    assert applying("Rain  Coat", exact) == [2]
    assert applying("rain coats", exact) == []


def test_a_level_narrows_a_rule_to_searches_whose_other_words_name_it() -> None:
    rule = Rule("red", match=Match.CONTAINS, **TENTS, id=1)
    assert applying("red tent", rule) == applying("a red dome tent", rule) == applying("tents red", rule) == [1]
    assert applying("red tent pegs", rule) == applying("tent", rule) == applying("red", rule) == []


def test_a_rule_for_any_search_applies_where_the_whole_search_names_its_level() -> None:
    rule = Rule("our tents", match=Match.ANY, **TENTS, id=1)
    assert applying("tents", rule) == applying("dome tent", rule) == [1]
    assert applying("our tents", rule) == applying("tent pegs", rule) == applying("", rule) == []
    assert applying("tents", replace(rule, levels=(), names=())) == [], "without a level it is for no search"


def test_a_rule_that_does_not_apply_yields_to_one_that_does() -> None:
    asleep = Rule("tent", enabled=False, id=1)
    over = Rule("tent", match=Match.STARTS_WITH, ends_at=NOW, id=2)
    assert applying("tent", asleep, over, Rule("tent", match=Match.CONTAINS, id=3)) == [3]


def test_each_effect_is_that_of_the_first_rule_and_what_is_lost_is_named() -> None:
    first = Rule(
        "tent",
        pins=(PinnedSku("A", 2),),
        boosts=("B",),
        buries=("E",),
        banner=Banner("First"),
        id=1,
    )
    second = Rule(
        "tent",
        match=Match.CONTAINS,
        pins=(PinnedSku("C", 2), PinnedSku("D", 1), PinnedSku("A", 5)),
        boosts=("E", "F"),
        buries=("B",),
        banner=Banner("Second"),
        redirect_url="/c/tents",
        id=2,
    )
    together = combine([first, second])
    assert together.pins == (PinnedSku("D", 1), PinnedSku("A", 2))
    assert (together.boosts, together.buries) == (("B", "F"), ("E",))
    assert (together.banner, together.redirect) == (first, second)
    assert [(one.rule.id, one.effect, one.winner.id) for one in together.lost] == [
        (2, "the banner", 1),
        (2, "C at position 2", 1),
        (2, "A at position 5", 1),
        (2, "E up", 1),
        (2, "B last", 1),
    ]


@given(st.lists(st.tuples(st.sampled_from("ABC"), st.integers(1, 3), st.sampled_from("pbn")), max_size=9))
def test_no_product_and_no_position_stands_twice(drawn: list[tuple[str, int, str]]) -> None:
    rules = [
        Rule(
            "tent",
            pins=(PinnedSku(sku, at),) if kind == "p" else (),
            boosts=(sku,) if kind == "b" else (),
            buries=(sku,) if kind == "n" else (),
            id=number,
        )
        for number, (sku, at, kind) in enumerate(drawn)
    ]
    together = combine(rules)
    assert len(set(together.skus)) == len(together.skus)
    assert len({pin.position for pin in together.pins}) == len(together.pins)
    assert len(together.skus) + len(together.lost) == len(rules)


def test_a_plan_takes_the_redirect_and_the_banner_of_different_rules() -> None:
    rules = RuleSet.of(
        [
            Rule("tent", banner=Banner("New tents"), id=1),
            Rule("tent", match=Match.CONTAINS, redirect_url="/c/tents", id=2),
        ]
    )
    planned = plan("tent", Served(rules=rules), NOW)
    assert (planned.redirect, planned.banner) == ("/c/tents", Banner("New tents"))
    assert plan("big tent", Served(rules=rules), NOW).banner is None


def test_a_redirect_to_a_search_that_a_wider_rule_redirects_again_is_none() -> None:
    rule = Rule("tent", match=Match.CONTAINS, redirect_url="/search?q=big+tent", id=1)
    assert plan("tent", Served(rules=RuleSet.of([rule])), NOW).redirect is None


COLOUR_OR_WEIGHT = (AttributeCondition("colour", ("Red", "Blue")), AttributeCondition("weight", low=1))
WEIGHTS = (
    AttributeCondition("w", high=1000),
    AttributeCondition("w", low=0.5),
    AttributeCondition("w", low=1, high=2.5),
)


def test_a_group_becomes_filters_that_an_engine_knows() -> None:
    group = ProductGroup(("Acme",), ("tents",), COLOUR_OR_WEIGHT, 1000, None, stock="out", new_days=30, on_sale=True)
    midnight = NOW.replace(hour=0) - timedelta(days=30)
    assert group.placed(True, NOW) == PlacedGroup(
        True,
        (
            ValueFilter("manufacturer", ("Acme",)),
            ValueFilter("level", ("tents",)),
            ValueFilter("colour", ("Red", "Blue")),
            ValueFilter("onSale", ("true",)),
        ),
        (
            RangeFilter("weight", 1.0, None),
            RangeFilter("price", 1000, None),
            RangeFilter("createdAt", midnight.timestamp()),
        ),
        (ValueFilter("inStock", ("true",)),),
    )
    assert ProductGroup(stock="in").placed(False, NOW) == PlacedGroup(False, (ValueFilter("inStock", ("true",)),))


def test_a_group_whose_numbers_were_stored_unchecked_is_placed_within_the_bounds() -> None:
    group = ProductGroup(price_from=-5, price_to=10**30, new_days=999_999)
    earliest = NOW.replace(hour=0) - timedelta(days=3_650)
    assert group.placed(True, NOW).ranges == (
        RangeFilter("price", 0, LARGEST),
        RangeFilter("createdAt", earliest.timestamp()),
    )


VALUES = st.lists(st.sampled_from(("Red", "a=b & c; d", "“ü”", " x", "%41+")), max_size=2, unique=True).map(tuple)
ENDS = st.none() | st.integers(-(10**15), 10**15) | st.floats(-1e15, 1e15).map(lambda end: round(end, 6))
NUMBERS = st.lists(st.tuples(ENDS, ENDS).filter(lambda ends: ends != (None, None)), max_size=2).map(
    lambda drawn: tuple(AttributeCondition(f"number-{place}", (), *ends) for place, ends in enumerate(drawn))
)
GROUPS = st.builds(
    ProductGroup,
    VALUES,
    VALUES,
    VALUES.map(
        lambda values: (AttributeCondition("b=c", values), AttributeCondition("d", ("1",))) if values else ()
    ).flatmap(lambda some: NUMBERS.map(lambda more: (*some, *more))),
    st.none() | st.integers(0, 999),
    st.none() | st.integers(0, 999),
    st.sampled_from((None, "in", "out")),
    st.none() | st.integers(1, 99),
    st.booleans(),
)


@given(GROUPS.filter(lambda group: group != ProductGroup()))
def test_a_group_comes_back_from_json_and_from_a_table_as_it_is(group: ProductGroup) -> None:
    assert ProductGroup.of_json(group.as_json()) == group
    assert ProductGroup.of_json(read_group(group_text(group.as_json()))) == group


def test_a_group_is_described_as_people_say_it() -> None:
    names = GroupNames({"t": "Camping › Tents"}, {"c": "Colour", "w": "Weight"}, {"w": "g"}, "gbp")
    conditions = (AttributeCondition("c", ("Red",)), *WEIGHTS)
    group = ProductGroup(("Acme", "Bolt"), ("t",), conditions, 1000, 2050, "in", 1, True)
    weights = "Weight up to 1000 g, Weight from 0.5 g, Weight 1 to 2.5 g"
    rest = "from £10.00, up to £20.50, in stock, new within 1 day, on sale"
    assert describe_group(group, names) == f"by Acme or Bolt, in Camping › Tents, Colour Red, {weights}, {rest}"


def test_the_snapshot_of_a_rule_has_the_names_of_its_levels() -> None:
    rule = Rule("red", match=Match.CONTAINS, **TENTS, boost_groups=(ProductGroup(("Acme",)),), id=7)
    read = rule_of_snapshot(rule_in_snapshot(rule))
    assert (read, read.names) == (rule, rule.names)
    assert rule_in_snapshot(Rule("red", id=8)) == {"id": 8, "term": "red"}
