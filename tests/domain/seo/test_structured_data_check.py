"""What is required of structured data."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.seo import structured_data
from app.domain.seo.structured_data import data_problems, indent_json, type_of_script

POT = structured_data.product(
    structured_data.OfferedProduct("Pot", "https://shop.test/p/pot", 1250, "gbp", True, "P-1", brand="Brew")
)


def problems(data: Any) -> list[str]:
    return data_problems(json.dumps(data))


def test_what_the_shop_writes_is_valid():
    steps = [structured_data.Step("Home", "https://shop.test/"), structured_data.Step("Tea", "https://shop.test/c/tea")]
    listing = structured_data.collection_page("Tea", "https://shop.test/c/tea", "", ["https://shop.test/p/pot"])

    assert problems(POT) == problems(structured_data.breadcrumbs(steps)) == problems(listing) == []
    assert problems([POT, listing]) == []


@pytest.mark.parametrize("field", ["price", "priceCurrency", "availability", "url"])
def test_an_offer_lacks_nothing(field: str):
    offer = {name: value for name, value in POT["offers"].items() if name != field}

    assert problems(POT | {"offers": offer}) == [f"Product › offers has no {field}."]


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (POT | {"name": ""}, "Product has no name."),
        (POT | {"@context": "https://example.org"}, "@context is not https://schema.org."),
        ({"@context": "https://schema.org"}, "The object has no @type."),
        (POT | {"offers": POT["offers"] | {"price": "£12"}}, "Product › offers: price “£12” is not a decimal number."),
        (
            POT | {"offers": POT["offers"] | {"priceCurrency": "gbp"}},
            "Product › offers: priceCurrency “gbp” is not three capital letters.",
        ),
        (POT | {"url": "/p/pot"}, "Product: url “/p/pot” is not an absolute address."),
        (POT | {"image": ["http://["]}, "Product: image “http://[” is not an absolute address."),
        (
            {"@context": "https://schema.org", "@type": "BreadcrumbList", "itemListElement": "x"},
            "BreadcrumbList: itemListElement is not a list.",
        ),
    ],
)
def test_each_fault_is_named_with_its_place(data: dict[str, Any], problem: str):
    assert problem in problems(data)


def test_positions_count_from_one():
    data = structured_data.breadcrumbs([structured_data.Step("Home", "https://shop.test/")])
    data["itemListElement"][0]["position"] = 2

    assert problems(data) == ["BreadcrumbList: the positions do not count from 1."]


def test_what_is_no_json_is_shown_as_it_is():
    assert data_problems("{") and data_problems("3") and data_problems("[1]")
    assert (indent_json("{"), type_of_script("{"), type_of_script("3")) == ("{", "", "")
    assert type_of_script(json.dumps(POT)) == "Product"


NAMES = st.sampled_from(["@type", "offers", "itemListElement", "url", "x"])
ANYTHING = st.recursive(
    st.none() | st.text() | st.integers(), lambda inner: st.lists(inner) | st.dictionaries(NAMES, inner)
)


def test_data_that_is_nested_too_deeply_is_refused_in_words():
    deep = '{"@context":"https://schema.org","@type":"x","a":' * 5_000 + "1" + "}" * 5_000

    assert data_problems(deep)


@given(ANYTHING)
def test_no_data_can_break_the_check(data: Any):
    assert isinstance(problems(data), list)
