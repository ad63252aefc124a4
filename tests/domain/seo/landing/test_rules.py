"""What a landing rule may hold: every refusal of the specification, at its place."""

from __future__ import annotations

from typing import Any

import pytest

from app.domain.merchandising.tree import segment_of
from app.domain.seo.landing.rules import clean_rules
from app.domain.taxonomy.tree import Attribute, AttributeType

ATTRIBUTES = {
    id: [Attribute(id, id, type)]
    for id, type in {
        "colour": AttributeType.SINGLE_SELECT,
        "season": AttributeType.MULTI_SELECT,
        "fabric": AttributeType.STRING,
        "Screen_Size": AttributeType.SINGLE_SELECT,
        "brand": AttributeType.SINGLE_SELECT,
        "Finish": AttributeType.STRING,
        "weight": AttributeType.NUMBER,
        "waterproof": AttributeType.BOOLEAN,
    }.items()
} | {"l" * 41: [Attribute("l" * 41, "Long", AttributeType.STRING)]}
BRAND = {"facetId": "manufacturer"}


def cleaned(*rules: Any, ranges: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    kept, problems = clean_rules(rules, ATTRIBUTES, ranges, "#/rules")
    assert problems == []
    return kept


def places(*rules: Any, ranges: tuple[str, ...] = ()) -> list[tuple[str, str]]:
    kept, problems = clean_rules(rules, ATTRIBUTES, ranges, "#/rules")
    assert problems and len(kept) < len(rules)
    return [(problem.code, problem.pointer.removeprefix("#/rules")) for problem in problems]


def test_rules_are_trimmed_and_segments_lower_cased_and_empty_texts_left_out():
    rule = {
        "facetId": " colour ",
        "pathSegment": " Colour-OF ",
        "minProducts": None,
        "overrides": [
            {"value": " Fern ", "heading": " Green \n tents ", "intro": " ", "metaTitle": None, "excluded": False},
            {"value": "Navy", "excluded": True},
        ],
    }
    assert cleaned(rule, {"facetId": "manufacturer", "minProducts": 1, "pathSegment": "", "overrides": None}) == [
        {
            "facetId": "colour",
            "pathSegment": "colour-of",
            "overrides": [{"value": "Fern", "heading": "Green tents"}, {"value": "Navy", "excluded": True}],
        },
        {"facetId": "manufacturer", "minProducts": 1},
    ]


def test_the_segment_is_brand_for_manufacturers_and_otherwise_the_facet():
    assert [segment_of(rule) for rule in cleaned(BRAND, {"facetId": "colour"})] == ["brand", "colour"]
    assert segment_of(cleaned({"facetId": "Finish"})[0]) == "finish"
    assert segment_of(cleaned({"facetId": "Screen_Size", "pathSegment": "screen"})[0]) == "screen"


@pytest.mark.parametrize(
    "facet_id",
    [
        "onSale",
        "inStock",
        "featured",
        "price",
        "rating",
        "waterproof",
        "weight",
        "size",
        "Colour",
        "brandname",
        "",
        " ",
    ],
)
def test_only_brands_and_attributes_with_named_values_have_pages(facet_id):
    assert ("invalid_facet", "/0/facetId") in places({"facetId": facet_id})


def test_what_is_shown_as_a_number_range_has_no_values():
    assert places({"facetId": "fabric"}, ranges=("fabric",)) == [("invalid_facet", "/0/facetId")]


@pytest.mark.parametrize("segment", ["a b", "a--b", "-a", "a-", "ä", "a_b", "a/b", "..", "x" * 41, "a\n", "a%2F"])
def test_a_segment_is_lower_case_letters_digits_and_single_hyphens(segment):
    if segment == "a\n":
        assert cleaned({"facetId": "colour", "pathSegment": segment})[0]["pathSegment"] == "a"
    else:
        assert places({"facetId": "colour", "pathSegment": segment}) == [("invalid_segment", "/0/pathSegment")]


@pytest.mark.parametrize("facet_id", ["Screen_Size", "l" * 41])
def test_a_facet_whose_id_is_no_segment_needs_one(facet_id):
    assert places({"facetId": facet_id}) == [("invalid_segment", "/0/pathSegment")]
    assert cleaned({"facetId": facet_id, "pathSegment": "x" * 40})


@pytest.mark.parametrize("least", [0, -1, -(10**30), 10**30])
def test_a_page_needs_at_least_one_product(least):
    assert places(BRAND | {"minProducts": least}) == [("invalid_minimum", "/0/minProducts")]


@pytest.mark.parametrize("least", [True, "3", 2.5, 3.0, [], {}])
def test_a_minimum_is_a_whole_number(least):
    assert places(BRAND | {"minProducts": least}) == [("wrong_type", "/0/minProducts")]


@pytest.mark.parametrize(
    ("overrides", "found"),
    [
        ([{"heading": "x"}], [("required", "/value")]),
        ([{"value": " "}], [("value_missing", "/value")]),
        ([{"value": None}], [("wrong_type", "/value")]),
        ([{"value": "Moor", "color": 1}], [("unknown_field", "/color")]),
        ([{"value": "Moor", "excluded": "no"}], [("wrong_type", "/excluded")]),
        ([{"value": "Moor", "intro": "x" * 5_001}], [("too_long", "/intro")]),
        ([{"value": "Moor", "heading": "\x07"}], [("unprintable", "/heading")]),
        (["Moor"], [("wrong_type", "")]),
    ],
)
def test_an_override_names_a_value_and_holds_texts(overrides, found):
    assert places(BRAND | {"overrides": overrides}) == [(code, f"/0/overrides/0{at}") for code, at in found]


def test_two_overrides_do_not_name_the_same_value():
    overrides = [{"value": "Moor"}, {"value": "Fern"}, {"value": " Moor "}, {"value": "MOOR"}]
    assert places(BRAND | {"overrides": overrides}) == [("duplicate_value", "/0/overrides/2/value")]


def test_two_rules_do_not_share_a_facet_or_a_segment():
    assert places(BRAND, BRAND | {"pathSegment": "maker"}) == [("duplicate_facet", "/1/facetId")]
    assert places(BRAND, {"facetId": "brand"}) == [("invalid_segment", "/1/pathSegment")]
    assert places({"facetId": "colour", "pathSegment": "x"}, BRAND | {"pathSegment": "X"}) == [
        ("invalid_segment", "/1/pathSegment")
    ]


def test_a_list_holds_ten_rules_and_a_rule_two_hundred_overrides():
    facets = {f"f{n}": [Attribute(f"f{n}", "F", AttributeType.STRING)] for n in range(11)}
    rules = [{"facetId": id} for id in facets]
    assert clean_rules(rules[:10], facets, (), "#")[1] == []
    assert [(p.code, p.pointer) for p in clean_rules(rules, facets, (), "#")[1]] == [("too_many", "#")]
    overrides = [{"value": f"v{n}"} for n in range(201)]
    assert cleaned(BRAND | {"overrides": overrides[:200]})
    assert places(BRAND | {"overrides": overrides}) == [("too_many", "/0/overrides")]


def test_every_problem_is_named_at_once_and_each_place_once():
    assert places(
        {"facetId": "price", "pathSegment": "A B", "minProducts": 0, "overrides": [{"value": ""}, {"heading": "x"}]},
        {"pathSegment": "ok", "segment": "x"},
        "manufacturer",
        {"facetId": "manufacturer", "overrides": {}},
        {"facetId": "manufacturer"},
    ) == [
        ("required", "/0/overrides/1/value"),
        ("invalid_facet", "/0/facetId"),
        ("invalid_segment", "/0/pathSegment"),
        ("invalid_minimum", "/0/minProducts"),
        ("value_missing", "/0/overrides/0/value"),
        ("unknown_field", "/1/segment"),
        ("required", "/1/facetId"),
        ("wrong_type", "/2"),
        ("wrong_type", "/3/overrides"),
        ("duplicate_facet", "/4/facetId"),
    ]
