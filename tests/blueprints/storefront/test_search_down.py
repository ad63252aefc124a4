"""The shop while search does not answer."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from flask import Flask
from sqlalchemy import select

from app.adapters.null_engine import NullEngine
from app.blueprints.storefront.blueprint import empty_caches
from app.domain.catalogue.models import Product
from app.domain.search.engine import SearchEngine
from app.extensions import db
from app.ports import EXTENSION
from app.transaction import transaction
from tests.blueprints.storefront.conftest import Get
from tests.fakes.clock import StoppedClock


@pytest.fixture
def engine(app: Flask, site_id: int) -> SearchEngine:
    """The one that is away."""
    engine: SearchEngine = app.extensions[EXTENSION].search_engine
    return engine


@pytest.fixture(autouse=True)
def search_is_down(app: Flask, engine: SearchEngine) -> None:
    app.extensions[EXTENSION] = replace(app.extensions[EXTENSION], search_engine=NullEngine())


@pytest.mark.parametrize(
    "path",
    ["/c/camping?colour=Fern", "/c/camping?price_max=5", "/c/camping?q=tent", "/search?q=tent", "/collections/best"],
)
def test_lists_say_so_calmly_and_keep_the_way_open(get: Get, path: str):
    page = get(path)
    assert page.status_code == 503
    assert "Temporarily unavailable" in page.text and 'href="/c/camping"' in page.text
    assert "engine" not in page.text


def test_a_search_that_failed_is_tried_again_without_typing(get: Get):
    page = get("/search?q=%22tent%22")
    assert "Search is temporarily unavailable. Please try again in a moment." in page.text
    assert 'value="&#34;tent&#34;"' in page.text
    assert "This list is temporarily unavailable." in get("/c/camping?q=tent").text


def test_a_swap_gets_the_news_in_place(get: Get):
    page = get("/c/camping?colour=Fern", HX_Request="true", HX_Boosted="true", HX_Target="div#listing")
    assert page.status_code == 503
    assert "<html" not in page.text and "Please try again" in page.text
    assert page.headers["Retry-After"] == "5"


def cards(page: str) -> list[tuple[str, str]]:
    """Address and the whole of each card, in order."""
    return re.findall(r'<li class="card">\s*<a href="([^"]*)">(.*?)</li>', page, re.DOTALL)


def total(page: str) -> list[str]:
    return re.findall("<strong>.*?</strong> products?", page)


PATHS = [
    f"/c/{category}{parameters}"
    for category in ("camping", "camping/tents", "camping/mugs", "gifts")
    for parameters in ("", "?sort=price-asc", "?sort=price-desc", "?sort=newest", "?sort=name")
]


@pytest.mark.parametrize(
    "path", [*PATHS, "/c/camping?p=2", "/c/camping?pageSizeOverride=5&p=2", "/c/camping?made-up=1"]
)
def test_a_category_shows_the_same_products_in_the_same_order_without_filters(
    app: Flask, get: Get, engine: SearchEngine, path: str
):
    plain = get(path)
    assert plain.status_code == 200 and cards(plain.text)
    assert "<details open" not in plain.text
    app.extensions[EXTENSION] = replace(app.extensions[EXTENSION], search_engine=engine)
    empty_caches(app)
    searched = get(path)
    assert plain.headers["X-Robots-Tag"] == searched.headers["X-Robots-Tag"]
    # The first four pictures of a page are loaded at once; nothing else depends on the place.
    assert [c[0] for c in cards(searched.text)] == [c[0] for c in cards(plain.text)]
    assert cards(searched.text) == cards(plain.text)
    assert re.findall("<strong>.*?</strong> products?", searched.text) == re.findall(
        "<strong>.*?</strong> products?", plain.text
    )


def test_only_the_first_pages_of_a_category_are_shown(get: Get, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("app.domain.search.listings.browsing.WINDOW", 6)
    second = get("/c/camping?p=2")
    assert len(cards(second.text)) == 2
    assert "p=3" not in second.text
    assert get("/c/camping?p=3").status_code == 503
    assert get("/c/camping?p=99").status_code == 404


TENTS = "/c/camping/tents?pageSizeOverride=50"


def test_a_plain_listing_is_cached_for_seconds_and_gone_once_search_answers(
    app: Flask, get: Get, engine: SearchEngine, clock: StoppedClock, site_id: int
):
    def rename() -> None:
        with app.app_context(), transaction():
            product = db.session.scalars(select(Product).where(Product.site_id == site_id, Product.sku == "S-5")).one()
            product.name += " renamed"

    assert "renamed" not in get(TENTS).text
    rename()
    assert "renamed" not in get(TENTS).text
    clock.move(seconds=10)
    assert "renamed" in get(TENTS).text
    app.extensions[EXTENSION] = replace(app.extensions[EXTENSION], search_engine=engine)
    assert "<details open" in get(TENTS).text


def test_a_category_that_is_cached_stays_as_it_is(app: Flask, get: Get, engine: SearchEngine):
    away = app.extensions[EXTENSION]
    app.extensions[EXTENSION] = replace(away, search_engine=engine)
    before = get("/c/camping").text
    app.extensions[EXTENSION] = away
    assert get("/c/camping").text == before


def test_a_list_that_was_exchanged_in_place_stays_as_page_and_so_do_its_filters(
    app: Flask, get: Get, engine: SearchEngine
):
    away, path = app.extensions[EXTENSION], "/c/camping?colour=Fern"
    app.extensions[EXTENSION] = replace(away, search_engine=engine)
    for target in ("div#listing", "aside#filters"):
        get(path, HX_Request="true", HX_Target=target)
    app.extensions[EXTENSION] = away
    assert get(path).status_code == 200
    assert "Show 4 products" in get(path, HX_Request="true", HX_Target="aside#filters").text


@pytest.mark.parametrize("path", ["/", "/p/tent-5", "/pages/delivery", "/search"])
def test_everything_else_works(get: Get, path: str):
    assert get(path).status_code == 200
