"""Products are placed by a rule, and the rest of the rule stays as it is."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from app.domain.relevance.placing import Placement, PlacementKind
from app.domain.search.serving.rules import Banner, PinnedSku, Rule
from app.domain.shared.problems import Problem

RULE = Rule(
    "tent",
    pins=(PinnedSku("A", 1), PinnedSku("B", 3)),
    boosts=("C",),
    buries=("D",),
    banner=Banner("Dry feet"),
    note="Autumn",
    id=7,
)


def pins(rule: Rule) -> dict[str, int]:
    return {pin.sku: pin.position for pin in rule.pins}


def test_a_pin_goes_to_its_place_or_to_the_first_that_is_free() -> None:
    assert pins(Placement(PlacementKind.PIN, ("E",), 9).applied_to(RULE)) == {"A": 1, "B": 3, "E": 9}
    assert pins(Placement(PlacementKind.PIN, ("E", "F")).applied_to(RULE)) == {"A": 1, "B": 3, "E": 2, "F": 4}


def test_pins_change_places_where_all_are_named() -> None:
    assert pins(Placement(PlacementKind.PIN, ("B", "A"), 1).applied_to(RULE)) == {"B": 1, "A": 2}


def test_a_product_leaves_the_place_that_it_had() -> None:
    boosted = Placement(PlacementKind.BOOST, ("A", "D", "C")).applied_to(RULE)
    assert (pins(boosted), boosted.boosts, boosted.buries) == ({"B": 3}, ("C", "A", "D"), ())
    buried = Placement(PlacementKind.BURY, ("C",)).applied_to(RULE)
    assert (buried.boosts, buried.buries) == ((), ("D", "C"))
    assert Placement(PlacementKind.BURY, ("D",)).applied_to(RULE) == RULE, "what is so already stays so"
    gone = Placement(skus=("A", "C", "X")).applied_to(RULE)
    assert (pins(gone), gone.boosts, gone.buries) == ({"B": 3}, (), ("D",))


def test_problems_point_at_the_arguments() -> None:
    placement = Placement(PlacementKind.PIN, ("E", "F"), 3)
    rule = placement.applied_to(RULE)
    places = ("#/pins/0/sku", "#/pins/2/position", "#/pins/3/sku", "#/pins", "#/boosts/0", "#/term", "#")
    found = placement.at_arguments([Problem("x", "x", pointer) for pointer in places], rule)
    assert [one.pointer for one in found] == ["#", "#/position", "#/products/1", "#/products", "#", "#/term", "#"]


SKUS = st.lists(st.sampled_from("ABCDEF"), unique=True, max_size=4).map(tuple)


@given(st.sampled_from(PlacementKind), SKUS, st.none() | st.integers(1, 100))
def test_no_product_stands_in_two_places_and_nothing_else_changes(
    kind: PlacementKind, skus: tuple[str, ...], position: int | None
) -> None:
    rule = Placement(kind, skus, position).applied_to(RULE)
    assert len(set(rule.skus)) == len(rule.skus)
    assert set(rule.skus) == (
        set(RULE.skus) | set(skus) if kind is not PlacementKind.NONE else set(RULE.skus) - set(skus)
    )
    assert (rule.banner, rule.note, rule.term, rule.id) == (RULE.banner, RULE.note, RULE.term, RULE.id)
