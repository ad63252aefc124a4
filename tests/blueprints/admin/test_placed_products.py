"""The products of a rule's form after each of its buttons."""

from __future__ import annotations

import pytest
from werkzeug.datastructures import MultiDict

from app.blueprints.admin.search.placed_products import PlacedProducts, TypedPin, describe_step
from app.blueprints.admin.search.rule_form import RuleForm


def pinned(**positions: object) -> PlacedProducts:
    return PlacedProducts(tuple(TypedPin(sku, str(position)) for sku, position in positions.items()))


def positions(placed: PlacedProducts) -> dict[str, str]:
    return {pin.sku: pin.position for pin in placed.pins}


@pytest.mark.parametrize(
    ("intent", "expected"),
    [
        ("put:9:D", {"A": "1", "B": "2", "C": "5", "D": "9"}),
        ("put:1:D", {"D": "1", "A": "2", "B": "3", "C": "5"}),
        ("put:2:A", {"B": "1", "A": "2", "C": "5"}),
        ("put:1:B", {"B": "1", "A": "2", "C": "5"}),
        ("put:5:A", {"B": "2", "C": "4", "A": "5"}),
        ("put:3:A", {"B": "2", "A": "3", "C": "5"}),
        ("put:1:A", {"A": "1", "B": "2", "C": "5"}),
    ],
)
def test_a_pin_goes_to_its_place_and_only_those_in_its_way_make_room(intent: str, expected: dict[str, str]) -> None:
    after = positions(pinned(C=5, A=1, B=2).after(intent))
    assert after == expected
    assert list(after) == list(expected), "in the order of their positions"


@pytest.mark.parametrize("odd", ["put:0:A", "put:101:A", "put:x:A", "put:²:A", "put:3:", "put:3", "put:", "put"])
def test_a_place_that_is_none_changes_nothing(odd: str) -> None:
    assert pinned(A=1, B=2).after(odd) == pinned(A=1, B=2)


def test_a_product_is_pinned_or_buried_and_never_both() -> None:
    buried = PlacedProducts(pinned(A=1).pins, (), ("B",))
    assert buried.after("put:2:B") == pinned(A=1, B=2)
    assert buried.after("bury:A") == PlacedProducts((), (), ("B", "A"))


def test_pins_without_a_number_or_with_one_that_is_taken_stay_while_others_move() -> None:
    after = pinned(A="", B=1, C="1").after("put:1:D")
    assert list(positions(after).items()) == [("D", "1"), ("B", "1"), ("C", "2"), ("A", "")]


def test_the_last_step_is_undone_and_a_step_that_changes_nothing_is_none() -> None:
    form = RuleForm({}, pinned(A=1, B=2))
    moved = form.after("put:1:B")
    assert positions(moved.placed) == {"B": "1", "A": "2"}
    assert moved.after("put:1:B").before == form.placed
    undone = moved.after("undo")
    assert (undone.placed, undone.before) == (form.placed, None)
    assert undone.after("undo") == undone


def test_a_typed_position_is_undone_to_the_one_before_it() -> None:
    typed = RuleForm({}, pinned(A=7, B=2)).after("at:1:A")
    assert positions(typed.placed) == {"B": "2", "A": "7"}
    assert typed.before == pinned(A=1, B=2)


def test_the_step_before_a_changed_group_cannot_be_undone() -> None:
    moved = RuleForm({}, pinned(A=1)).after("bury:A")
    assert moved.before is not None
    assert moved.after("group:").before is None


def test_the_step_before_is_sent_with_the_form() -> None:
    sent = MultiDict([("pin", "A"), ("position", "1"), ("undoable", "1"), ("buryBefore", "A"), ("boostBefore", "B C")])
    form = RuleForm.typed(sent)
    assert form.after("undo").placed == PlacedProducts((), ("B C",), ("A",))
    assert RuleForm.typed(MultiDict([("pin", "A")])).before is None


@pytest.mark.parametrize(
    ("intent", "news"),
    [
        ("put:3:A", "Tent is pinned at place 3."),
        ("bury:A", "Tent is buried."),
        ("remove:B", "B is taken out."),
        ("undo", "The last step is undone."),
        ("group:", ""),
    ],
)
def test_a_screen_reader_hears_what_became_of_the_product(intent: str, news: str) -> None:
    assert describe_step(intent, pinned(A=1).after(intent), {"A": "Tent"}) == news
