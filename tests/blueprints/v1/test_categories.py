"""Categories and collections for everybody who asks the API."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from app.adapters.null_engine import NullEngine
from app.blueprints.v1.catalogue import CollectionsShape, ProductsShape
from app.blueprints.v1.categories import CategoriesShape
from app.domain.catalogue.models import Product
from app.domain.merchandising.models import Node
from app.domain.sites.models import Setting
from app.extensions import db
from app.ports import EXTENSION
from app.transaction import transaction
from tests.blueprints.storefront import small_shop
from tests.snapshots import built
from tests.statements import statements

HOST = "http://shop.test"


@pytest.fixture
def site_id(app: Flask) -> int:
    return built(app, small_shop.build)


@pytest.fixture
def reader(app: Flask, site_id: int) -> FlaskClient:
    return app.test_client()


@pytest.fixture
def without_search(app: Flask, site_id: int) -> None:
    app.extensions[EXTENSION] = replace(app.extensions[EXTENSION], search_engine=NullEngine())


def read(reader: FlaskClient, path: str) -> dict[str, Any]:
    answer = reader.get(f"/v1{path}", base_url=HOST)
    assert answer.status_code == 200, answer.text
    shape = {"/category": CategoriesShape, "/collection": CollectionsShape}.get(path.partition("?")[0], ProductsShape)
    assert not shape().validate(answer.json), "what is described"
    return answer.json


def skus(reader: FlaskClient, path: str) -> list[str]:
    return [item["skuCode"] for item in read(reader, path)["items"]]


def skus_on_page(reader: FlaskClient, path: str) -> list[str]:
    """As shoppers see them, by the addresses of their pages."""
    page = reader.get(f"/c/{path}?pageSizeOverride=100", base_url=HOST).text
    numbers = re.findall(r'href="/p/(?:tent|mug)-(\d+)"', page)
    return [f"S-{number}" for number in dict.fromkeys(numbers)]


def test_the_categories_are_listed_in_the_order_of_the_menu(reader: FlaskClient) -> None:
    found = read(reader, "/category")["items"]
    assert [(item["path"], item["name"], item["depth"], item["products"]) for item in found] == [
        ("camping", "Camping", 1, 11),
        ("camping/tents", "Tents", 2, 8),
        ("camping/mugs", "Mugs", 2, 3),
        ("gifts", "Gifts", 1, 2),
    ]
    assert [item["parentId"] for item in found] == [None, found[0]["id"], found[0]["id"], None]


def test_while_search_is_away_the_categories_have_no_counts(reader: FlaskClient, without_search: None) -> None:
    assert {item["products"] for item in read(reader, "/category")["items"]} == {None}


def test_what_lies_below_a_hidden_category_is_not_listed(app: Flask, reader: FlaskClient) -> None:
    with app.app_context(), transaction():
        db.session.query(Node).filter_by(path="camping").one().visible = False
    assert [item["path"] for item in read(reader, "/category")["items"]] == ["gifts"]
    assert reader.get("/v1/category/camping/tents/products", base_url=HOST).status_code == 404


@pytest.mark.parametrize("path", ["camping", "camping/tents", "gifts"])
def test_the_products_of_a_category_come_as_shoppers_see_them(reader: FlaskClient, path: str) -> None:
    shown = skus_on_page(reader, path)
    assert len(shown) >= 2 and skus(reader, f"/category/{path}/products?pageSize=100") == shown


def test_they_come_page_by_page(reader: FlaskClient) -> None:
    everything = read(reader, "/category/camping/products")
    assert (everything["totalItems"], everything["totalPages"]) == (11, 1)
    pages = [
        sku for page in (1, 2, 3) for sku in skus(reader, f"/category/camping/products?pageSize=5&pageNumber={page}")
    ]
    assert pages == [item["skuCode"] for item in everything["items"]]
    past = read(reader, "/category/camping/products?pageNumber=9000000")
    assert (past["items"], past["totalItems"]) == ([], 11)


@pytest.mark.parametrize("sold_out", ["as-is", "last"])
def test_while_search_is_away_they_come_in_the_same_order(
    app: Flask, reader: FlaskClient, site_id: int, sold_out: str
) -> None:
    with app.app_context(), transaction():
        db.session.add(Setting(site_id=site_id, key="search-sold-out", value=sold_out))
    paths = [
        f"/category/{path}/products?pageSize=4&pageNumber={page}" for path in ("camping", "gifts") for page in (1, 3)
    ]
    before = [read(reader, path) for path in paths]
    app.extensions[EXTENSION] = replace(app.extensions[EXTENSION], search_engine=NullEngine())
    assert [read(reader, path) for path in paths] == before


@pytest.mark.parametrize("path", ["none", "camping/hidden", "camping/none", "tents", "camping/", "Camping"])
def test_a_category_that_shoppers_do_not_reach_is_not_found(reader: FlaskClient, path: str) -> None:
    answer = reader.get(f"/v1/category/{path}/products", base_url=HOST)
    assert (answer.status_code, answer.json["code"]) == (404, "not_found")


def test_the_collections_are_listed_with_what_is_for_sale(app: Flask, reader: FlaskClient) -> None:
    found = read(reader, "/collection")
    assert found["items"] == [{"seoName": "best", "name": "Best of rain", "products": 2}]
    assert (found["totalItems"], found["pageSize"]) == (1, 20)
    assert read(reader, "/collection/best/products")["totalItems"] == 2
    with app.app_context(), transaction():
        for product in db.session.query(Product):
            product.enabled = False
    assert read(reader, "/collection")["items"][0]["products"] == 0
    assert read(reader, "/collection?pageNumber=2")["items"] == []


@pytest.mark.parametrize("path", ["/category", "/category/gifts/products", "/collection"])
def test_an_answer_is_sent_again_only_when_it_changed(app: Flask, reader: FlaskClient, path: str) -> None:
    first = reader.get(f"/v1{path}", base_url=HOST)
    assert first.headers["Cache-Control"] == "public, no-cache"
    again = reader.get(f"/v1{path}", base_url=HOST, headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.data) == (304, b"")


@pytest.mark.parametrize("path", ["/category", "/category/camping/products?pageSize=100", "/collection"])
def test_a_list_costs_a_few_statements_however_long_it_is(app: Flask, reader: FlaskClient, path: str) -> None:
    read(reader, path)
    with statements(app) as seen:
        read(reader, path)
    assert len(seen) <= 5, seen


@pytest.mark.parametrize("path", ["/category?pageNumber=1", "/category/gifts/products?sort=name", "/collection?q=x"])
def test_a_parameter_that_is_not_described_is_refused(reader: FlaskClient, path: str) -> None:
    answer = reader.get(f"/v1{path}", base_url=HOST)
    assert (answer.status_code, answer.json["errors"][0]["code"]) == (400, "unknown_parameter")
