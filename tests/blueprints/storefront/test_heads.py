"""What every page says about itself in its head, and that the header of the answer says the same."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from flask import Flask

from app.domain.catalogue.models import Product
from app.extensions import db
from app.transaction import transaction
from tests.blueprints.storefront.conftest import Get

INDEXABLE = ["/", "/c/camping", "/c/camping?p=2", "/c/camping/tents?utm_source=mail&gclid=1", "/p/tent-1"]
NOT_INDEXABLE = ["/search?q=tent", "/search", "/c/camping?sort=name", "/c/camping?made-up=1", "/basket", "/nothing"]


def canonical(page: str) -> str | None:
    found = re.findall(r'<link rel="canonical" href="([^"]*)">', page)
    assert len(found) <= 1
    return found[0] if found else None


def robots(page: str) -> str:
    (found,) = re.findall(r'<meta name="robots" content="([^"]*)">', page)
    return str(found)


@pytest.mark.parametrize("path", INDEXABLE)
def test_what_search_engines_may_list(get: Get, path: str):
    answer = get(path)
    assert answer.status_code == 200
    assert robots(answer.text) == answer.headers["X-Robots-Tag"] == "index, follow"
    own = path.partition("&")[0] if "p=" in path else path.partition("?")[0]
    assert canonical(answer.text) == f"https://shop.test{own}"


@pytest.mark.parametrize("path", NOT_INDEXABLE)
def test_what_search_engines_may_not_list(get: Get, path: str):
    answer = get(path)
    assert robots(answer.text) == answer.headers["X-Robots-Tag"] == "noindex, follow"


def test_a_filtered_category_is_known_by_the_plain_one(get: Get):
    assert canonical(get("/c/camping?colour=red&sort=name").text) == "https://shop.test/c/camping"


@pytest.mark.parametrize("host", ["www.shop.test", "WWW.SHOP.TEST", "shop.test.", "shop.test:8000"])
def test_every_host_of_a_shop_names_the_primary_one(get: Get, host: str):
    assert canonical(get("/c/camping", host=host).text) == "https://shop.test/c/camping"


@pytest.mark.parametrize(
    "headers", [{"X_Forwarded_Host": "evil.test"}, {"Forwarded": "host=evil.test"}, {"X_Host": "evil.test"}]
)
def test_no_header_gets_another_host_into_a_page(get: Get, headers: dict[str, str]):
    answer = get("/c/camping", **headers)
    assert "evil" not in answer.text + str(answer.headers)


def test_a_fragment_is_no_page_to_list(get: Get):
    part = get("/c/camping", HX_Request="true", HX_Boosted="true", HX_Target="div#listing")
    assert part.headers["X-Robots-Tag"] == "noindex, follow"


def test_a_page_is_introduced_to_those_who_share_it(get: Get):
    page = get("/c/camping").text
    assert '<meta property="og:title" content="Camping | Small shop">' in page
    assert '<meta property="og:url" content="https://shop.test/c/camping">' in page
    assert re.search(r'<meta property="og:image" content="https://shop\.test/[^"]+">', page)
    assert '<meta name="description" content="For nights outside.">' in page
    tents = get("/c/camping/tents").text
    assert re.search(r'<meta name="description" content="Tents at Small shop: \d+ products to choose from.">', tents)


def test_listings_list_their_products_only_where_they_may_be_indexed(get: Get):
    assert types(get("/c/camping").text) == ["BreadcrumbList", "CollectionPage"]
    assert types(get("/c/camping?sort=name").text) == ["BreadcrumbList"]
    assert types(get("/p/tent-1").text) == ["Product", "BreadcrumbList"]


def data(page: str) -> list[dict[str, Any]]:
    scripts = re.findall(r'<script type="application/ld\+json">(.*?)</script>', page, re.DOTALL)
    return [json.loads(script) for script in scripts]


def types(page: str) -> list[str]:
    return [one["@type"] for one in data(page)]


def test_the_sku_and_the_bar_code_of_a_product_are_of_one_variant(app: Flask, get: Get):
    with app.app_context(), transaction():
        tent = db.session.query(Product).filter_by(seo_name="tent-3").one()
        tent.upc = "4000000000006"
        next(variant for variant in tent.variants if variant.sku == "S-3-S").upc = "036000291452"
    small, large = (data(get(f"/p/tent-3?variant={sku}").text)[0] for sku in ("S-3-S", "S-3-L"))
    assert (small["sku"], small["gtin"]) == ("S-3-S", "036000291452")
    assert (large["sku"], large["gtin"]) == ("S-3-L", "4000000000006"), "without its own it has the product’s"


@pytest.mark.parametrize("path", ["/", "/c/camping", "/p/tent-1", "/search?q=tent", "/basket"])
def test_a_page_has_one_heading(get: Get, path: str):
    assert len(re.findall(r"<h1\b", get(path).text)) == 1
