"""Numbers with their units."""

from __future__ import annotations

import pytest

from app.domain.taxonomy.products.panel import value_hint
from app.domain.taxonomy.tree import Attribute, AttributeType, Validation
from app.domain.taxonomy.values import COMMON_UNITS, LONGEST_UNIT, check_values, with_unit

WEIGHT = Attribute(
    "weight", "Weight", AttributeType.NUMBER, validation=Validation(min_value=1, max_value=90), unit="kg"
)


@pytest.mark.parametrize(
    ("unit", "text"), [("kg", "12 kg"), ("%", "12%"), ("°", "12°"), ("°C", "12 °C"), (None, "12"), ("", "12")]
)
def test_a_number_is_written_with_its_unit(unit: str | None, text: str):
    assert with_unit("12", unit) == text


def test_nothing_has_no_unit():
    assert with_unit("", "kg") == ""


def test_every_common_unit_may_be_chosen_once():
    assert len(set(COMMON_UNITS)) == len(COMMON_UNITS)
    assert max(map(len, COMMON_UNITS)) <= LONGEST_UNIT


def test_rules_are_put_into_words_with_the_unit():
    assert value_hint(WEIGHT) == "1 to 90 kg"
    kept, (dropped,) = check_values({"weight": WEIGHT}, {"weight": "95"})
    assert not kept
    assert dropped.reason == "Weight must be at most 90 kg."


def test_a_value_is_a_bare_number_still():
    assert check_values({"weight": WEIGHT}, {"weight": "12"}) == ({"weight": 12}, [])
    (dropped,) = check_values({"weight": WEIGHT}, {"weight": "12 kg"})[1]
    assert dropped.code == "wrong_type"
