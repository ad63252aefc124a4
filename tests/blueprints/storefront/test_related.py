"""Products beside a product: what was bought with it, and what is like it at about its price."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from flask import Flask
from hypothesis import given
from hypothesis import strategies as st

from app import ports
from app.domain.catalogue.models import Product
from app.domain.merchandising.models import Burial, Node
from app.domain.merchandising.shop import read_shop
from app.domain.orders.models import CANCELLED, SUBMITTED, Order, OrderLine
from app.domain.search.engine import Hit, IndexName, SearchEngine, SearchRequest, SearchResult
from app.domain.search.listings.recommendations import first_products, nearest_in_price
from app.domain.sites.settings import change_settings
from app.extensions import db
from app.ports import EXTENSION
from app.transaction import transaction
from tests.blueprints.storefront import small_shop
from tests.blueprints.storefront.conftest import Get
from tests.fakes.clock import StoppedClock
from tests.statements import statements


def shelf(page: str, name: str) -> list[str]:
    """The addresses of the products below a heading."""
    section = re.search(rf'<section class="related" aria-labelledby="{name}">.*?</section>', page, re.DOTALL)
    return re.findall(r'href="/p/([^"]+)"', section[0]) if section else []


def ordered(site_id: int, number: int, *seo_names: str, status: str = SUBMITTED) -> None:
    products = db.session.query(Product).filter_by(site_id=site_id).filter(Product.seo_name.in_(seo_names))
    order = Order(
        id=f"order-{site_id}-{number}",
        site_id=site_id,
        number=number,
        status=status,
        currency="gbp",
        created_at=small_shop.BEGAN,
        updated_at=small_shop.BEGAN,
        submitted_at=small_shop.BEGAN,
    )
    order.lines = [
        OrderLine(
            site_id=site_id, position=place, product_id=one.id, sku=one.sku, name=one.name, quantity=1, unit_price=1
        )
        for place, one in enumerate(products)
    ]
    db.session.add(order)


def test_similar_products_are_of_the_same_level_and_in_stock_the_nearest_in_price_first(get: Get) -> None:
    """Tents 4 and 8 are sold out, 2 is not for sale, and mugs are no tents."""
    page = get("/p/tent-5").text
    assert "Similar products" in page and "Often bought together" not in page
    assert shelf(page, "similar") == ["tent-6", "tent-3", "tent-7", "tent-1"]
    assert shelf(get("/p/mug-11").text, "similar") == ["mug-10"]


def test_a_product_without_a_level_is_like_those_of_its_category(app: Flask, site_id: int, get: Get) -> None:
    with app.app_context():
        with transaction():
            for one in db.session.query(Product).filter(Product.seo_name.in_(("tent-9", "tent-1"))):
                one.taxonomy_level_id = None
        small_shop.index(site_id)
    assert shelf(get("/p/tent-1").text, "similar") == ["tent-9"]


def test_what_stands_in_two_orders_with_a_product_was_bought_together(app: Flask, site_id: int, get: Get) -> None:
    with app.app_context(), transaction():
        other = small_shop.build("other.test", "Other shop")
        for number in (1, 2, 3):
            ordered(site_id, number, "tent-5", "mug-10", *(["tent-7"] if number < 3 else []))
        ordered(site_id, 4, "tent-5", "tent-1")
        for number in (5, 6):
            ordered(site_id, number, "tent-5", "tent-9", status=CANCELLED)
            ordered(other, number, "tent-5", "tent-3")
    page = get("/p/tent-5").text
    assert shelf(page, "together") == ["mug-10", "tent-7"]
    assert shelf(page, "similar") == ["tent-6", "tent-3", "tent-1", "tent-9"]


def test_what_is_sold_out_or_not_for_sale_is_not_offered(app: Flask, site_id: int, get: Get) -> None:
    with app.app_context(), transaction():
        for number in (1, 2):
            ordered(site_id, number, "tent-5", "tent-2", "tent-4")
    assert shelf(get("/p/tent-5").text, "together") == []


def test_the_products_beside_a_product_are_read_once_for_each_state_of_the_shop_and_each_hour(
    app: Flask, site_id: int, get: Get, clock: StoppedClock
) -> None:
    with statements(app) as first:
        get("/p/tent-5")
    with statements(app) as second:
        get("/p/tent-5")
    assert len([one for one in first if "order_lines" in one]) == 1
    assert [one for one in second if "order_lines" in one] == []
    assert len(first) - len(second) == 1, "one query while no orders tell, however many products are shown"
    with app.app_context(), transaction():
        for number in (1, 2):
            ordered(site_id, number, "tent-5", "mug-10", "tent-7")
    clock.move(hours=1)
    assert sorted(shelf(get("/p/tent-5").text, "together")) == ["mug-10", "tent-7"]


def test_one_product_alone_is_no_row(app: Flask, site_id: int, get: Get) -> None:
    with app.app_context(), transaction():
        for number in (1, 2):
            ordered(site_id, number, "tent-5", "mug-10")
    assert shelf(get("/p/tent-5").text, "together") == []


def test_the_page_stands_without_them_while_search_is_down(app: Flask, site_id: int, get: Get) -> None:
    with app.app_context():
        ports.search_engine().forget(site_id)
    page = get("/p/tent-5")
    assert page.status_code == 200 and "Similar products" not in page.text


@given(st.lists(st.integers(0, 10_000), max_size=12), st.integers(0, 10_000))
def test_no_product_further_down_is_nearer_in_price(prices: list[int], price: int) -> None:
    hits = [Hit(f"p{place}", 0.0, {"price": value}) for place, value in enumerate(prices)]
    away = [abs(int(str(hit.card["price"])) - price) for hit in nearest_in_price(hits, price)]
    assert away == sorted(away) and len(away) == len(prices)


@pytest.mark.parametrize("path", ["/p/tent-5", "/p/tent-5?variant=none"])
def test_its_own_card_is_not_among_them(get: Get, path: str) -> None:
    assert "tent-5" not in shelf(get(path).text, "similar")


def test_the_first_product_of_a_tile_is_the_first_of_its_page(app: Flask, get: Get, site_id: int) -> None:
    with app.app_context():
        with transaction():
            nodes = {node.path: node.id for node in db.session.query(Node).filter_by(site_id=site_id)}
            products = {one.seo_name: one for one in db.session.query(Product).filter_by(site_id=site_id)}
            products["tent-1"].stock = 0
            db.session.add(Burial(site_id=site_id, node_id=nodes["gifts"], product_id=products["tent-9"].id))
            change_settings(site_id, {"search-sold-out": "last"})
        small_shop.index(site_id)
        shop = read_shop(site_id)
        wanted = [shop.tree.nodes[nodes[path]] for path in ("camping", "gifts")]
        found = first_products(ports.search_engine(), shop, wanted)
        tiles = [str(found[node.id].card["name"]) for node in wanted]
    pages = [re.findall(r'<span class="name">(.*?)</span>', get(f"/c/{node.path}").text)[0] for node in wanted]
    assert tiles == pages == ["Fell mug 11", "Fell tent 1"]


class Noting:
    """The engine, and the requests that it got."""

    def __init__(self, engine: SearchEngine) -> None:
        self.engine, self.requests = engine, []

    def __getattr__(self, name: str) -> Any:
        return getattr(self.engine, name)

    def search_many(self, site_id: int, index: IndexName, requests: Sequence[SearchRequest]) -> list[SearchResult]:
        self.requests += requests
        return self.engine.search_many(site_id, index, requests)


@pytest.mark.parametrize("path", ["/p/tent-5", "/search?q=xyzzy"])
def test_what_is_cached_for_an_hour_is_asked_of_the_newest_index(app: Flask, get: Get, path: str):
    engine = Noting(app.extensions[EXTENSION].search_engine)
    app.extensions[EXTENSION] = replace(app.extensions[EXTENSION], search_engine=engine)
    get(path)
    wordless = [request for request in engine.requests if not request.words]
    assert wordless and all(request.fresh for request in wordless)
