"""From a tree that somebody sent to one that can be stored."""

from __future__ import annotations

import string
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.taxonomy.structure import check_structure
from app.domain.taxonomy.tree import TaxonomyTree


def level(
    name: str = "Tents", level_id: str | None = "tents", *children: dict[str, Any], **more: Any
) -> dict[str, Any]:
    return {"levelId": level_id, "name": name, "attributes": [], "children": list(children), **more}


def attribute(attribute_id: str | None = "size", kind: str = "STRING", **more: Any) -> dict[str, Any]:
    return {"attributeId": attribute_id, "name": "Size", "type": kind, **more}


def codes(*levels: dict[str, Any]) -> list[str]:
    return [problem.code for problem in check_structure(levels).problems]


def test_blank_and_new_ids_become_slugs_of_the_names():
    checked = check_structure([level("Tents & tarps", None), level("Tents, tarps", "new-7"), level("!!!", "")])
    assert [stored["levelId"] for stored in checked.levels] == ["tents-tarps", "tents-tarps-2", "level"]
    assert checked.ids == {"new-7": "tents-tarps-2"}


def test_a_generated_attribute_id_avoids_the_levels_above_its_neighbours_and_reserved_names():
    price = attribute(None, name="Price") | {"name": "Price"}
    child = level("Child", "child", attributes=[attribute(None), price])
    parent = level("Parent", "parent", child, attributes=[attribute("size")])
    stored = check_structure([parent]).levels[0]["children"][0]["attributes"]
    assert [found["attributeId"] for found in stored] == ["size-2", "price-2"]


def test_allowed_values_are_trimmed_and_told_once():
    colour = attribute("colour", "SINGLE_SELECT", allowedValues=[" Red", "Red", "Blue "])
    checked = check_structure([level(attributes=[colour])])
    assert checked.levels[0]["attributes"][0]["allowedValues"] == ["Red", "Blue"]
    assert checked.problems == ()


def test_an_empty_validation_is_dropped_and_places_are_recomputed():
    checked = check_structure([level("A", "a"), level("B", "b", displayOrder=7, attributes=[attribute(validation={})])])
    assert [stored["displayOrder"] for stored in checked.levels] == [0, 1]
    assert "validation" not in checked.levels[1]["attributes"][0]


@pytest.mark.parametrize(
    ("levels", "code"),
    [
        ([level(""), level("B", "b")], "name_missing"),
        ([level("A", "a"), level("a ", "b")], "duplicate_name"),
        ([level("A", "a"), level("B", "a")], "duplicate_id"),
        ([level("A", "not an id")], "invalid_id"),
        ([level("A", "a", level("B", "b", parentLevelId="c"))], "wrong_parent"),
        ([level("A", "a", level("B", "a"))], "duplicate_id"),
        ([level(surprise=1)], "unknown_field"),
        ([level(attributes=[attribute(), attribute()])], "duplicate_attribute_id"),
        ([level(attributes=[attribute("-x")])], "invalid_id"),
        ([level(attributes=[attribute("manufacturer")])], "reserved_id"),
        ([level(attributes=[attribute("utm_campaign")])], "reserved_id"),
        ([level(attributes=[attribute(kind="COLOUR")])], "unknown_type"),
        ([level(attributes=[attribute(kind="MULTI_SELECT")])], "values_missing"),
        ([level(attributes=[attribute(allowedValues=["a"])])], "values_not_allowed"),
        ([level(attributes=[attribute(kind="SINGLE_SELECT", allowedValues=["a", " "])])], "blank_value"),
        ([level(attributes=[attribute(kind="SINGLE_SELECT", allowedValues=["a", "b,c"])])], "comma_in_value"),
        ([level(attributes=[attribute(kind="SINGLE_SELECT", allowedValues=["Red", "red"])])], "duplicate_value"),
        ([level(attributes=[attribute(validation={"minValue": 2, "maxValue": 1})])], "min_greater_than_max"),
        ([level(attributes=[attribute(validation={"minLength": 2, "maxLength": 1})])], "min_greater_than_max"),
        ([level(attributes=[attribute(validation={"pattern": "(a"})])], "invalid_pattern"),
        ([level(attributes=[attribute(validation={"pattern": "(?=a)"})])], "invalid_pattern"),
        ([level(attributes=[attribute(validation={"pattern": "a" * 201})])], "invalid_pattern"),
        ([level(attributes=["size"])], "wrong_type"),
    ],
)
def test_what_breaks_a_rule_is_named(levels: list[dict[str, Any]], code: str):
    assert code in codes(*levels)


def test_every_problem_is_told_at_once_at_its_place():
    checked = check_structure([level("", "a", attributes=[attribute("price"), attribute(kind="X")]), level("B", "a")])
    assert [(problem.code, problem.pointer) for problem in checked.problems] == [
        ("name_missing", "#/rootLevels/0/name"),
        ("reserved_id", "#/rootLevels/0/attributes/0/attributeId"),
        ("unknown_type", "#/rootLevels/0/attributes/1/type"),
        ("duplicate_id", "#/rootLevels/1/levelId"),
    ]
    assert [(problem.level_id, problem.attribute_id) for problem in checked.problems][1] == ("a", "price")


def test_levels_nest_eight_deep_and_no_deeper():
    nested = level("9", "l9")
    for depth in range(8, 0, -1):
        nested = level(str(depth), f"l{depth}", nested)
    checked = check_structure([nested])
    assert [problem.code for problem in checked.problems] == ["too_deep"]
    assert "l8" in TaxonomyTree.parse(checked.levels).levels
    assert "l9" not in TaxonomyTree.parse(checked.levels).levels


def test_more_than_two_thousand_levels_are_refused_as_a_whole():
    problems = check_structure([level(str(n), f"l{n}") for n in range(2_001)]).problems
    assert [(problem.code, problem.record) for problem in problems] == [("too_many_levels", "#")]


def test_existing_ids_keep_their_form():
    assert check_structure([level("A", "old id!")], existing_ids={"old id!"}).problems == ()


def test_only_the_smallest_record_with_a_problem_is_left_out():
    colour = attribute("colour", "SINGLE_SELECT", allowedValues=["Red", "red", "Blue"])
    checked = check_structure([level("A", "a", level("", "b"), attributes=[colour, attribute("price")])])
    stored = checked.levels[0]
    assert stored["children"] == []
    assert [found["attributeId"] for found in stored["attributes"]] == ["colour"]
    assert stored["attributes"][0]["allowedValues"] == ["Red", "Blue"]


def test_a_choice_that_loses_all_its_values_goes_too():
    checked = check_structure([level(attributes=[attribute(kind="SINGLE_SELECT", allowedValues=[","])])])
    assert checked.levels[0]["attributes"] == []


texts = st.text(string.ascii_letters + " -!,é", max_size=6)
attributes = st.fixed_dictionaries(
    {"type": st.sampled_from(["STRING", "NUMBER", "SINGLE_SELECT", "odd"])},
    optional={"attributeId": texts, "name": texts, "allowedValues": st.lists(texts | st.integers(), max_size=4)},
)
levels = st.recursive(
    st.fixed_dictionaries({"name": texts}, optional={"levelId": texts, "attributes": st.lists(attributes, max_size=3)}),
    lambda inner: st.fixed_dictionaries({"name": texts, "children": st.lists(inner, max_size=3)}),
    max_leaves=10,
)


@given(st.lists(levels, max_size=4))
def test_what_is_left_is_sound_and_checking_it_again_changes_nothing(raw: list[dict[str, Any]]):
    checked = check_structure(raw)
    again = check_structure(checked.levels)
    assert again.problems == ()
    assert again.levels == checked.levels
