"""Structured data holds what search engines require of each type, and cannot end its script."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from app.domain.seo.structured_data import OfferedProduct, Step, breadcrumbs, collection_page, json_ld, product

REQUIRED = {
    "Product": {"name", "offers"},
    "Offer": {"price", "priceCurrency", "availability", "url"},
    "Brand": {"name"},
    "BreadcrumbList": {"itemListElement"},
    "CollectionPage": {"name", "url", "mainEntity"},
    "ItemList": {"itemListElement"},
    "ListItem": {"position"},
}
TENT = OfferedProduct(
    name="Moor tent",
    url="https://shop.test/p/moor-tent",
    price=12_950,
    currency="gbp",
    in_stock=True,
    sku="MT-1",
    brand="Moor",
    gtin="5012345678900",
    description="For two.",
    images=("https://shop.test/media/1/a.webp",),
)


def missing(data: Any) -> list[str]:
    """What the type of an object requires and it lacks, in it and everything below it."""
    if isinstance(data, list):
        return [gap for item in data for gap in missing(item)]
    if not isinstance(data, Mapping):
        return []
    lacks = REQUIRED[data["@type"]] - data.keys()
    below = [gap for value in data.values() for gap in missing(value)]
    return [f"{data['@type']} without {name}" for name in lacks] + below


def test_a_product_says_what_it_is_and_for_how_much():
    said = product(TENT)
    assert missing(said) == []
    assert said["offers"] == {
        "@type": "Offer",
        "url": "https://shop.test/p/moor-tent",
        "price": "129.50",
        "priceCurrency": "GBP",
        "availability": "https://schema.org/InStock",
    }
    assert (said["brand"]["name"], said["sku"], said["gtin"]) == ("Moor", "MT-1", "5012345678900")


def test_a_price_is_a_decimal_in_any_currency():
    yen = OfferedProduct("Tent", "https://shop.test/p/tent", 1500, "jpy", False, "T")
    assert product(yen)["offers"]["price"] == "1500"
    assert product(yen)["offers"]["availability"].endswith("OutOfStock")


def test_what_is_not_known_is_left_out():
    bare = product(OfferedProduct("Tent", "https://shop.test/p/tent", 100, "gbp", True, "T"))
    assert missing(bare) == [] and not {"brand", "gtin", "image", "description"} & bare.keys()


def test_a_trail_counts_its_steps_from_the_front_page():
    trail = breadcrumbs([Step("Home", "https://shop.test/"), Step("Tents", "https://shop.test/c/tents")])
    assert missing(trail) == []
    assert [(item["position"], item["name"], item["item"]) for item in trail["itemListElement"]] == [
        (1, "Home", "https://shop.test/"),
        (2, "Tents", "https://shop.test/c/tents"),
    ]


def test_a_listing_names_its_products_by_their_addresses_only():
    page = collection_page("Tents", "https://shop.test/c/tents", "", ["https://shop.test/p/a", "https://shop.test/p/b"])
    assert missing(page) == [] and "description" not in page
    assert page["mainEntity"]["numberOfItems"] == 2
    assert page["mainEntity"]["itemListElement"][1] == {
        "@type": "ListItem",
        "position": 2,
        "url": "https://shop.test/p/b",
    }


@given(st.text())
def test_no_name_ends_the_script_that_holds_it(name: str):
    written = json_ld(breadcrumbs([Step(name + "</script><!--", "https://shop.test/")]))
    assert "<" not in written and ">" not in written
    assert json.loads(written)["itemListElement"][0]["name"] == name + "</script><!--"
