"""Which values a product may hold."""

from __future__ import annotations

import math
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.taxonomy.tree import Attribute, AttributeType, Validation
from app.domain.taxonomy.values import LARGEST_NUMBER, check_values, completeness, missing_attributes, value_texts

COLOURS = ("Black", "Navy blue", "Red")


def attribute(kind: str, attribute_id: str = "a", values: tuple[str, ...] = (), **rules: object) -> Attribute:
    return Attribute(attribute_id, "Thing", AttributeType(kind), values, Validation(**rules))  # type: ignore[arg-type]


KINDS = {
    "s": attribute("STRING", "s", max_length=5, min_length=2, pattern="[a-z]+"),
    "n": attribute("NUMBER", "n", min_value=1, max_value=10),
    "b": attribute("BOOLEAN", "b"),
    "one": attribute("SINGLE_SELECT", "one", COLOURS),
    "many": attribute("MULTI_SELECT", "many", COLOURS),
}


def kept(given: object, of: Attribute) -> object:
    return check_values({of.id: of}, {of.id: given})[0].get(of.id)


def why(given: object, of: Attribute) -> list[str]:
    return [dropped.code for dropped in check_values({of.id: of}, {of.id: given})[1]]


@pytest.mark.parametrize(
    ("given", "of", "value"),
    [
        ("12.5", attribute("NUMBER"), 12.5),
        (" 7 ", attribute("NUMBER"), 7),
        (6.0, attribute("NUMBER"), 6),
        (0, attribute("NUMBER"), 0),
        ("yes", attribute("BOOLEAN"), True),
        ("FALSE", attribute("BOOLEAN"), False),
        (1, attribute("BOOLEAN"), True),
        (False, attribute("BOOLEAN"), False),
        (" blue ", attribute("STRING"), "blue"),
        (42, attribute("STRING"), "42"),
        ("navy BLUE", KINDS["one"], "Navy blue"),
        (["Red"], KINDS["one"], "Red"),
        ("Red", KINDS["many"], ["Red"]),
        ("Red, black", KINDS["many"], ["Red", "Black"]),
        (["Red", "red", "Black"], KINDS["many"], ["Red", "Black"]),
    ],
)
def test_a_value_takes_the_type_of_its_attribute(given: object, of: Attribute, value: object):
    assert kept(given, of) == value
    assert type(kept(given, of)) is type(value)


@pytest.mark.parametrize(
    ("given", "of", "code"),
    [
        ("a lot", attribute("NUMBER"), "wrong_type"),
        ("1_000", attribute("NUMBER"), "wrong_type"),
        ("٣", attribute("NUMBER"), "wrong_type"),
        (True, attribute("NUMBER"), "wrong_type"),
        (math.inf, attribute("NUMBER"), "out_of_range"),
        (math.nan, attribute("NUMBER"), "out_of_range"),
        (1e300, attribute("NUMBER"), "out_of_range"),
        pytest.param(10**350, attribute("NUMBER"), "out_of_range", id="350 digits"),
        (0.5, KINDS["n"], "too_small"),
        (11, KINDS["n"], "too_large"),
        ("maybe", attribute("BOOLEAN"), "wrong_type"),
        (2, attribute("BOOLEAN"), "wrong_type"),
        (["a"], attribute("STRING"), "wrong_type"),
        ({"a": 1}, attribute("STRING"), "wrong_type"),
        ("a", KINDS["s"], "too_short"),
        ("abcdef", KINDS["s"], "too_long"),
        ("AB", KINDS["s"], "pattern"),
        ("ab1", KINDS["s"], "pattern"),
        ("a\x00b", attribute("STRING"), "unprintable"),
        ("x" * 10_001, attribute("STRING"), "too_long"),
        ("Green", KINDS["one"], "not_allowed"),
        (["Red", "Black"], KINDS["one"], "wrong_type"),
        (None, attribute("STRING", "other"), "not_applicable"),
    ],
)
def test_a_value_that_breaks_a_rule_is_dropped_and_says_why(given: object, of: Attribute, code: str):
    attributes = {of.id: of} if code != "not_applicable" else {}
    values, dropped = check_values(attributes, {of.id: given})
    assert values == {}
    assert [found.code for found in dropped] == [code]


@pytest.mark.parametrize(
    ("given", "stored", "kept", "stays"),
    [
        ({"n": "x"}, {"n": 3, "s": "abc"}, {"n": 3}, [3]),
        ({"n": "x"}, {"n": "y"}, {}, [None]),
        ({"one": "Green"}, {"one": "Red"}, {"one": "Red"}, ["Red"]),
        ({"many": ["Green", "Grey"]}, {"many": ["Red"]}, {"many": ["Red"]}, [["Red"], ["Red"]]),
        ({"many": ["Green", "Black"]}, {"many": ["Red"]}, {"many": ["Black"]}, [None]),
        ({"many": ["Green"]}, {"many": ["Red", "Green"]}, {}, [None]),
        ({"n": ""}, {"n": 3}, {}, []),
        ({"gone": 1}, {"gone": 2}, {}, [None]),
    ],
)
def test_a_value_that_does_not_fit_leaves_a_stored_one_that_does(
    given: dict[str, object], stored: dict[str, object], kept: dict[str, object], stays: list[object]
):
    """Of several choices those that fit are the value; one that was stored and fits no more is no new word."""
    values, dropped = check_values(KINDS, given, stored)
    assert (values, [one.stays for one in dropped]) == (kept, stays)


def test_type_checks_hold_without_any_validation():
    assert why("Green", attribute("SINGLE_SELECT", "c", COLOURS)) == ["not_allowed"]


def test_of_several_choices_only_the_bad_one_is_dropped():
    values, dropped = check_values(KINDS, {"many": ["Red", "Turquoise", "Black"]})
    assert values == {"many": ["Red", "Black"]}
    assert [(found.value, found.code) for found in dropped] == [("Turquoise", "not_allowed")]


def test_one_bad_value_keeps_none_of_the_others_out():
    values, dropped = check_values(KINDS, {"s": "abc", "n": "x", "b": "no", "gone": 1})
    assert values == {"s": "abc", "b": False}
    assert {found.attribute_id for found in dropped} == {"n", "gone"}


@pytest.mark.parametrize("empty", [None, "", "   ", []])
@pytest.mark.parametrize("kind", list(KINDS))
def test_an_empty_value_is_neither_kept_nor_reported(empty: object, kind: str):
    assert check_values(KINDS, {kind: empty}) == ({}, [])


def test_the_taxonomy_speaks_for_itself_when_a_rule_is_broken():
    rated = attribute("STRING", pattern="IPX[0-8]", error_message="Write the rating like IPX4.")
    assert check_values({"a": rated}, {"a": "wet"})[1][0].reason == "Write the rating like IPX4."


def test_lengths_count_characters_not_bytes():
    assert kept("äöüßé", attribute("STRING", max_length=5)) == "äöüßé"


def test_an_evil_pattern_takes_no_time():
    evil = attribute("STRING", pattern="(a+)+b")
    started = time.perf_counter()
    assert why("a" * 9_000, evil) == ["pattern"]
    assert time.perf_counter() - started < 0.5


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from(COLOURS),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from([*KINDS, "unknown"]), anything))
def test_whatever_is_sent_what_is_kept_is_kept_again(raw: dict[str, object]):
    values, _ = check_values(KINDS, raw)
    assert check_values(KINDS, values) == (values, [])
    assert all(isinstance(text, str) and text for value in values.values() for text in value_texts(value))


@given(st.dictionaries(st.sampled_from(list(KINDS)), anything))
def test_a_value_is_kept_dropped_or_empty(raw: dict[str, object]):
    values, dropped = check_values(KINDS, raw)
    named = set(values) | {found.attribute_id for found in dropped}
    assert named <= set(raw)


def mandatory(attribute_id: str, kind: str = "STRING") -> Attribute:
    return Attribute(attribute_id, attribute_id, AttributeType(kind), (), Validation(mandatory=True))


FORM = {
    "a": mandatory("a"),
    "b": mandatory("b", "BOOLEAN"),
    "n": mandatory("n", "NUMBER"),
    "x": attribute("STRING", "x"),
}


@pytest.mark.parametrize(
    ("values", "score"),
    [({}, 0), ({"a": "x"}, 33), ({"a": "x", "b": False}, 66), ({"a": "x", "b": False, "n": 0}, 100), ({"x": "y"}, 0)],
)
def test_completeness_is_the_share_of_mandatory_values_rounded_down(values: dict[str, object], score: int):
    assert completeness(FORM, values) == score


def test_nothing_mandatory_is_complete():
    assert completeness({"x": FORM["x"]}, {}) == 100


def test_an_empty_or_invalid_value_does_not_count():
    assert completeness(FORM, {"a": "", "b": "perhaps", "n": 1}) == 33
    assert [found.id for found in missing_attributes(FORM, {"a": "", "b": "perhaps", "n": 1})] == ["a", "b"]


@given(st.floats(-LARGEST_NUMBER, LARGEST_NUMBER).filter(lambda number: number == round(number, 6)))
def test_a_number_means_the_same_as_its_text(number: float):
    assert kept(f"{number:.6f}", attribute("NUMBER")) == kept(number, attribute("NUMBER")) == number


@given(st.lists(st.sampled_from(COLOURS), min_size=1), st.booleans())
def test_choices_mean_the_same_as_a_list_and_as_one_text_in_any_case(colours: list[str], upper: bool):
    texts = [colour.upper() if upper else f" {colour.lower()} " for colour in colours]
    wanted = list(dict.fromkeys(colours))
    assert kept(texts, KINDS["many"]) == kept(",".join(texts), KINDS["many"]) == wanted


@given(st.sampled_from(["STRING", "NUMBER", "BOOLEAN", "SINGLE_SELECT"]), anything)
def test_what_is_kept_has_the_type_of_its_attribute(kind: str, given: object):
    types = {"STRING": (str,), "NUMBER": (int, float), "BOOLEAN": (bool,), "SINGLE_SELECT": (str,)}
    value = kept(given, attribute(kind, values=COLOURS))
    assert value is None or type(value) in types[kind]
