"""What the product form shows of a classification."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.taxonomy.products.panel import (
    MOST_IN_A_MENU,
    AttributeInput,
    InputKind,
    ProductPanel,
    product_panel,
    raw_values,
    stored_texts,
)
from app.domain.taxonomy.tree import Attribute, AttributeType, Validation
from app.domain.taxonomy.values import check_values
from tests.domain.taxonomy.classified_shop import TREE


def shown(level_id: str, **texts: object) -> ProductPanel:
    return product_panel(
        TREE, level_id, {name: (text,) if isinstance(text, str) else text for name, text in texts.items()}
    )


def inputs(panel: ProductPanel) -> dict[str, AttributeInput]:
    return {one.attribute.id: one for one in panel.inputs}


def test_a_level_shows_its_own_and_inherited_attributes_and_says_whose_they_are():
    found = inputs(shown("tents"))
    assert list(found) == ["weight", "material", "sleeps", "free", "colour", "season"]
    assert found["weight"].inherited_from == "Camping"
    assert found["sleeps"].inherited_from is None


def test_what_is_missing_is_told_and_no_counts_as_an_answer():
    panel = shown("tents", free="false")
    assert [one.attribute.id for one in panel.missing] == ["sleeps"]
    assert panel.score == 50
    assert shown("tents", free="false", sleeps="0").score == 100


def test_what_would_not_be_kept_stays_in_its_input_with_the_reason():
    found = inputs(shown("tents", weight="heavy", colour=("Moss", "Pink")))
    assert found["weight"].text == "heavy"
    assert found["weight"].problems == ("Weight takes a number.",)
    assert found["colour"].texts == ("Moss", "Pink")
    assert "Pink" in found["colour"].choices
    assert found["colour"].problems == ("Colour has no value “Pink”.",)


def test_another_level_keeps_what_applies_and_names_what_it_would_leave_behind():
    panel = shown("stoves", weight="2", sleeps="3", colour="Moss")
    assert inputs(panel)["weight"].text == "2"
    assert inputs(panel)["colour"].problems == ()
    assert [(one.label, one.texts) for one in panel.left_behind] == [("Sleeps", ("3",))]


def test_blank_values_are_not_left_behind():
    assert shown("stoves", sleeps=" ").left_behind == ()


def test_a_level_that_is_gone_leaves_everything_as_it_is():
    panel = shown("kayaks", sleeps="3", paddle="Two")
    assert panel.level_is_gone
    assert (panel.inputs, panel.score) == ((), None)
    assert [one.label for one in panel.left_behind] == ["Sleeps", "paddle"]


def test_without_a_level_nothing_is_gone():
    panel = shown("")
    assert (panel.level_is_gone, panel.level_path, panel.score, panel.inputs) == (False, "", None, ())


def attribute(type: AttributeType, allowed: int = 0, **rules: object) -> Attribute:
    return Attribute("a", "A", type, tuple(f"v{n}" for n in range(allowed)), Validation(**rules))


@pytest.mark.parametrize(
    ("wanted", "text", "control"),
    [
        (attribute(AttributeType.STRING), "short", InputKind.LINE),
        (attribute(AttributeType.STRING), "two\nlines", InputKind.LINES),
        (attribute(AttributeType.STRING, max_length=500), "", InputKind.LINES),
        (attribute(AttributeType.NUMBER), "", InputKind.NUMBER),
        (attribute(AttributeType.BOOLEAN), "", InputKind.YES_NO),
        (attribute(AttributeType.SINGLE_SELECT, MOST_IN_A_MENU), "", InputKind.MENU),
        (attribute(AttributeType.SINGLE_SELECT, MOST_IN_A_MENU + 1), "", InputKind.FINDER),
        (attribute(AttributeType.MULTI_SELECT, 3), "", InputKind.TICKS),
    ],
)
def test_each_type_has_its_control(wanted: Attribute, text: str, control: InputKind):
    assert AttributeInput(wanted, (text,), None, (), False).control is control


@pytest.mark.parametrize(
    ("wanted", "hint"),
    [
        (attribute(AttributeType.NUMBER, min_value=0, max_value=2.5), "0 to 2.5"),
        (attribute(AttributeType.NUMBER, min_value=1), "At least 1"),
        (attribute(AttributeType.STRING, max_length=9), "At most 9 characters."),
        (attribute(AttributeType.STRING, pattern="[0-9]+"), "In the form [0-9]+."),
        (attribute(AttributeType.STRING, pattern="[0-9]+", error_message="Digits only."), "Digits only."),
        (attribute(AttributeType.BOOLEAN), ""),
    ],
)
def test_the_rules_are_told_beside_the_input(wanted: Attribute, hint: str):
    assert AttributeInput(wanted, (), None, (), False).hint == hint


@given(st.floats(-1e14, 1e14, allow_nan=False) | st.integers(-(10**14), 10**14))
def test_a_stored_number_comes_back_from_its_input_as_it_was(number: float):
    attributes = {"a": attribute(AttributeType.NUMBER)}
    held, _ = check_values(attributes, {"a": number})
    again, dropped = check_values(attributes, raw_values(attributes, stored_texts(held)))
    tolerance = abs(float(held["a"])) * 1e-9 + 1e-14
    assert dropped == []
    assert abs(float(again["a"]) - float(held["a"])) <= tolerance


@given(st.dictionaries(st.sampled_from(["weight", "free", "colour", "x"]), st.lists(st.text(max_size=5), max_size=3)))
def test_whatever_is_typed_is_shown_or_left_behind_and_never_lost(texts: dict[str, list[str]]):
    for level_id in ("tents", "stoves", "", "gone"):
        panel = product_panel(TREE, level_id, texts)
        held = {one.attribute.id: list(one.texts) for one in panel.inputs}
        held |= {one.attribute_id: list(one.texts) for one in panel.left_behind}
        assert all(held[name] == found for name, found in texts.items() if any(text.strip() for text in found))
