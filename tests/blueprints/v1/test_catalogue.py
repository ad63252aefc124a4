"""Products for everybody who asks the API."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from app.adapters.null_engine import NullEngine
from app.blueprints.v1.catalogue import ProductShape, ProductsShape
from app.domain.catalogue.models import Collection, CollectionEntry, Product, ProductImage, Variant
from app.domain.sites.accounts import Role
from app.domain.sites.models import Site
from app.extensions import db
from app.ports import EXTENSION
from app.transaction import transaction
from tests.blueprints.storefront import small_shop
from tests.blueprints.v1.conftest import ApiClient
from tests.factories import make_product, make_site, make_user
from tests.fakes.clock import StoppedClock
from tests.snapshots import built
from tests.statements import statements

HOST = "http://shop.test"


@pytest.fixture
def site_id(app: Flask) -> int:
    return built(app, small_shop.build)


@pytest.fixture
def reader(app: Flask, site_id: int) -> FlaskClient:
    return app.test_client()


def read(reader: FlaskClient, path: str, host: str = HOST, **more: Any) -> dict[str, Any]:
    answer = reader.get(f"/v1{path}", base_url=host, **more)
    assert answer.status_code == 200, answer.text
    shape = ProductsShape() if "items" in answer.json else ProductShape()
    assert not shape.validate(answer.json), "what is described"
    return answer.json


def names(reader: FlaskClient, query: str) -> list[str]:
    return [item["name"] for item in read(reader, f"/product?{query}")["items"]]


def change(sku: str, **changes: object) -> None:
    with transaction():
        found = db.session.query(Product).filter_by(sku=sku).one()
        for name, value in changes.items():
            setattr(found, name, value)


@pytest.fixture
def any_sku(app: Flask, site_id: int) -> str:
    with app.app_context():
        return db.session.query(Product.sku).filter_by(site_id=site_id, enabled=True).order_by(Product.id).first()[0]


@pytest.fixture
def shirt(app: Flask, site_id: int) -> str:
    """A shirt in two sizes, of which one is sold out."""
    with app.app_context(), transaction():
        product = Product(
            site_id=site_id, sku="SHIRT", name="Shirt of wool", seo_name="shirt-of-wool", price=4_000, stock=0,
            created_at=small_shop.BEGAN, updated_at=small_shop.BEGAN, compare_at_price=5_000, upc="4000000000006",
        )  # fmt: skip
        product.variants = [
            Variant(site_id=site_id, position=0, sku="SHIRT-S", options={"Size": "S"}, stock=0, upc="036000291452"),
            Variant(site_id=site_id, position=1, sku="SHIRT-L", options={"Size": "L"}, stock=7, price=4_500),
        ]
        db.session.add(product)
    return "SHIRT"


def test_words_find_what_the_search_of_the_shop_finds(reader: FlaskClient) -> None:
    found = read(reader, "/product?q=tent&pageSize=3")
    assert (found["pageNumber"], found["pageSize"], len(found["items"])) == (1, 3, 3)
    assert found["totalItems"] >= 3 and all("tent" in item["name"].lower() for item in found["items"])
    assert names(reader, "search=tent&pageSize=3") == [item["name"] for item in found["items"]]


def test_without_words_all_products_come_by_name_page_by_page(reader: FlaskClient) -> None:
    everything = names(reader, "pageSize=100")
    pages = [name for page in (1, 2, 3) for name in names(reader, f"pageSize=5&pageNumber={page}")]
    assert everything == sorted(everything) and pages == everything[:15]
    past = read(reader, "/product?pageNumber=500")
    assert past["items"] == [] and past["totalItems"] == len(everything)


def test_while_the_index_is_away_words_are_looked_for_in_names_and_codes(
    app: Flask, reader: FlaskClient, shirt: str
) -> None:
    app.extensions[EXTENSION] = replace(app.extensions[EXTENSION], search_engine=NullEngine())
    assert names(reader, "q=wool+shirt") == ["Shirt of wool"]
    assert names(reader, "q=shirt-l") == [] and names(reader, "q=SHIRT-L") == ["Shirt of wool"]
    assert names(reader, "q=nothing+of+the+kind") == []


@pytest.mark.parametrize(
    "query",
    ["upc=4000000000006", "upc=036000291452", "upc=0036000291452", "seoName=shirt-of-wool", "q=wool&upc=4000000000006"],
)
def test_a_product_is_found_by_its_codes_and_by_its_address(reader: FlaskClient, shirt: str, query: str) -> None:
    assert names(reader, query) == ["Shirt of wool"]


@pytest.mark.parametrize("query", ["upc=999", "seoName=shirt", "q=kettle&upc=4000000000006", "upc=SHIRT-L"])
def test_what_does_not_hold_for_it_does_not_find_it(reader: FlaskClient, shirt: str, query: str) -> None:
    assert names(reader, query) == []


def test_a_product_comes_with_its_variants_by_any_of_their_skus(reader: FlaskClient, shirt: str) -> None:
    product = read(reader, "/product/SHIRT")
    assert {name: product[name] for name in ("price", "compareAtPrice", "currency", "inStock", "quantity", "url")} == {
        "price": 4_000, "compareAtPrice": 5_000, "currency": "gbp", "inStock": True, "quantity": 7,
        "url": f"{HOST}/p/shirt-of-wool",
    }  # fmt: skip
    assert product["variants"] == [
        {"skuCode": "SHIRT-S", "upc": "036000291452", "options": {"Size": "S"}, "price": 4_000, "inStock": False,
         "quantity": 0},
        {"skuCode": "SHIRT-L", "upc": None, "options": {"Size": "L"}, "price": 4_500, "inStock": True, "quantity": 7},
    ]  # fmt: skip
    assert product["images"][0]["url"].startswith(f"{HOST}/picture/")
    assert read(reader, "/product/SHIRT-S") == product


def test_a_sku_may_hold_a_slash(app: Flask, reader: FlaskClient, shirt: str) -> None:
    with app.app_context(), transaction():
        db.session.query(Product).filter_by(sku=shirt).one().sku = "SHIRT/12"
    assert read(reader, "/product/SHIRT%2F12")["skuCode"] == "SHIRT/12"
    assert reader.get("/v1/product/SHIRT%2F13", base_url=HOST).json["code"] == "not_found"


def test_a_variant_says_which_picture_is_its_own(app: Flask, reader: FlaskClient, shirt: str) -> None:
    with app.app_context(), transaction():
        product = db.session.query(Product).filter_by(sku=shirt).one()
        product.images = [ProductImage(site_id=product.site_id, file="large.webp", width=40, height=30)]
        product.variants[1].picture = "large.webp"
    read_back = read(reader, "/product/SHIRT")
    assert [variant.get("image") for variant in read_back["variants"]] == [None, read_back["images"][0]]


def test_what_is_hidden_unknown_or_of_another_shop_is_not_found(
    app: Flask, reader: FlaskClient, any_sku: str, shirt: str
) -> None:
    with app.app_context(), transaction():
        make_product(make_site("other.test"), "THEIRS", upc="77")
    with app.app_context():
        change("SHIRT", enabled=False)
    for sku in ("SHIRT", "SHIRT-L", "THEIRS", "none", "x" * 300):
        assert reader.get(f"/v1/product/{sku}", base_url=HOST).status_code == 404
    assert names(reader, "upc=77") == [] and names(reader, "upc=4000000000006") == []
    assert reader.get(f"/v1/product/{any_sku}", base_url="http://other.test").status_code == 404
    assert reader.get("/v1/product", base_url="http://nobody.test").status_code == 404


def test_a_collection_lists_what_is_for_sale_in_its_own_order(app: Flask, reader: FlaskClient, site_id: int) -> None:
    with app.app_context(), transaction():
        first, second, hidden = db.session.query(Product).filter_by(enabled=True).order_by(Product.id).limit(3)
        hidden.enabled = False
        collection = Collection(site_id=site_id, seo_name="picks", name="Picks", updated_at=small_shop.BEGAN)
        collection.entries = [
            CollectionEntry(product_id=product.id, site_id=site_id, position=place)
            for place, product in enumerate((second, hidden, first))
        ]
        db.session.add(collection)
        wanted = [second.name, first.name]
    page = read(reader, "/collection/picks/products")
    assert ([item["name"] for item in page["items"]], page["totalItems"]) == (wanted, 2)
    assert read(reader, "/collection/picks/products?pageSize=1&pageNumber=2")["items"][0]["name"] == wanted[1]
    assert reader.get("/v1/collection/none/products", base_url=HOST).status_code == 404


@pytest.mark.parametrize("path", ["/product?q=tent", "/product", "/product/{sku}"])
def test_an_answer_is_sent_again_only_when_it_changed(app: Flask, reader: FlaskClient, any_sku: str, path: str) -> None:
    address = f"/v1{path.format(sku=any_sku)}"
    first = reader.get(address, base_url=HOST)
    known = {"If-None-Match": first.headers["ETag"]}
    again = reader.get(address, base_url=HOST, headers=known)
    assert (again.status_code, again.data, again.headers["ETag"]) == (304, b"", first.headers["ETag"])
    assert first.headers["Cache-Control"] == "public, no-cache"
    with app.app_context(), transaction():
        for product in db.session.query(Product):
            product.price += 1
    assert reader.get(address, base_url=HOST, headers=known).status_code == 200


@pytest.mark.parametrize("path", ["/product?pageSize=100", "/product?q=tent&pageSize=100", "/product?upc=1"])
def test_a_list_costs_a_few_statements_however_long_it_is(app: Flask, reader: FlaskClient, path: str) -> None:
    with statements(app) as seen:
        read(reader, path)
    assert len(seen) <= 6, seen


@pytest.mark.parametrize(
    ("query", "pointer"),
    [("pageSize=0", "#/pageSize"), ("pageSize=101", "#/pageSize"), ("pageNumber=x", "#/pageNumber"),
     (f"q={'x' * 201}", "#/q"), ("upc=%E2%80%8B" + "1" * 33, "#/upc")],
)  # fmt: skip
def test_what_a_query_may_not_be_is_said_with_its_place(reader: FlaskClient, query: str, pointer: str) -> None:
    answer = reader.get(f"/v1/product?{query}", base_url=HOST)
    assert answer.status_code == 400
    assert [problem["pointer"] for problem in answer.json["errors"]] == [pointer]


def test_a_network_reads_so_often_a_minute_and_a_till_beside_it(
    app: Flask, reader: FlaskClient, any_sku: str, clock: StoppedClock
) -> None:
    with app.app_context(), transaction():
        site = db.session.query(Site).filter_by(name="Small shop").one()
        make_user(site, Role.ADMIN, email="admin@shop.test")
    till = ApiClient(app.test_client(), host="shop.test")
    till.sign_in("admin@shop.test")
    office = {"REMOTE_ADDR": "203.0.113.7"}

    def statuses(number: int) -> list[int]:
        path = f"/v1/product/{any_sku}"
        return [reader.get(path, base_url=HOST, environ_base=office).status_code for _ in range(number)]

    assert set(statuses(120)) == {200}
    refused = reader.get("/v1/product", base_url=HOST, environ_base=office)
    assert (refused.status_code, refused.json["code"]) == (429, "rate_limited")
    assert 0 < int(refused.headers["Retry-After"]) <= 60
    assert till.call("GET", "/v1/product", environ_base=office).status_code == 200
    assert till.call("GET", "/v1/product", token="x.y.z", environ_base=office).status_code == 429
    clock.move(seconds=61)
    assert statuses(1) == [200]
