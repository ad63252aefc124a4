"""The home page, collections, pages of text, drawn pictures, hosts and addresses."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from flask import Flask

from app import ports
from app.adapters.null_engine import NullEngine
from app.blueprints.storefront.blueprint import WINDOW, empty_caches
from app.domain.catalogue.models import Product
from app.domain.catalogue.product_drawings import is_sign
from app.domain.merchandising.models import Node, Tree
from app.domain.sites.settings import change_settings
from app.extensions import db
from app.transaction import transaction
from tests.blueprints.storefront import small_shop
from tests.blueprints.storefront.conftest import Get


def test_the_home_page_leads_into_the_shop(get: Get):
    page = get("/").text
    assert "<h1>Welcome to Small shop</h1>" in page
    assert 'href="/c/camping"' in page
    assert "New in" in page and "Featured" in page
    assert "On sale" not in page, "its only product is featured, and shown there"
    assert 'href="/pages/delivery"' in page and 'href="/collections/best"' in page
    assert "/pages/draft" not in page and "/collections/old" not in page


def test_the_home_page_shows_no_product_twice(app: Flask, site_id: int, get: Get):
    with app.app_context():
        with transaction():
            for place, product in enumerate(db.session.query(Product).filter_by(site_id=site_id)):
                product.featured = place < 6
                product.compare_at_price = product.price * 2 if place % 4 == 0 else None
        small_shop.index(site_id)
    page = get("/").text
    rows = re.findall(r'<h2 id="shelf-\d">(.*?)</h2>(.*?)</section>', page, re.DOTALL)
    assert [heading for heading, _ in rows] == ["Featured", "New in", "On sale"]
    shown = [name for _, row in rows for name in re.findall(r'<span class="name">(.*?)</span>', row)]
    assert len(shown) == len(set(shown)) == 11


def test_the_drawing_of_a_category_is_searched_for_once(app: Flask, get: Get, site_id: int):
    first = get("/").text
    drawings = re.findall(r'<img src="(/picture/[^"]+)"', first)
    with app.app_context():
        shop = app.extensions[WINDOW].shop_at(ports.clock(), "shop.test")
    kept = [key for key in shop.drawn if key.startswith("picture of category ")]
    assert drawings and kept
    shop.drawn[kept[0]] = "/picture/kept.svg"
    assert "/picture/kept.svg" in get("/").text


def test_a_category_that_cannot_be_drawn_shows_its_first_product_and_without_search_a_sign(app: Flask, get: Get):
    def picture(page: str) -> str:
        found = re.search(r'<li><a href="/c/gifts"><img src="(/picture/[^"]+)"', page)
        assert found
        return found[1]

    first = re.search(r'<ul class="cards">.*?<img src="([^"]+)"', get("/c/gifts").text, re.DOTALL)
    assert first and picture(get("/").text) == picture(get("/search?q=zzzqqqxxx").text) == first[1]
    assert not is_sign(first[1])
    empty_caches(app)
    app.extensions[ports.EXTENSION] = replace(app.extensions[ports.EXTENSION], search_engine=NullEngine())
    assert is_sign(picture(get("/").text))


def test_categories_without_room_in_the_menu_are_behind_more(app: Flask, site_id: int, get: Get):
    assert 'class="drop more"' not in get("/").text
    with app.app_context(), transaction():
        tree = db.session.query(Tree).filter_by(site_id=site_id).one()
        for number in range(12):
            name = f"Category number {12 - number}"
            more = {"name": name, "slug": f"n{number}", "path": f"n{number}", "updated_at": small_shop.BEGAN}
            db.session.add(Node(site_id=site_id, tree_id=tree.id, position=50 + number, **more))
    bar = re.search(r'<nav class="roots".*?</nav>', get("/").text, re.DOTALL)
    assert bar
    shown, more = bar[0].split("<summary>More</summary>")
    names = re.compile(r'<a href="/c/[^"]+">([^<]+)</a>')
    assert names.findall(shown)[:3] == ["Camping", "Gifts", "Category number 12"]
    assert names.findall(more)[-1] == "Category number 1"
    assert len(names.findall(bar[0])) == 14


def test_a_collection_shows_its_products_in_its_own_order(get: Get):
    page = get("/collections/best").text
    assert re.findall(r'<span class="name">(.*?)</span>', page) == ["Moor tent 6", "Moor tent 4"]


def test_a_long_collection_goes_on_on_further_pages(app: Flask, site_id: int, get: Get):
    with app.app_context(), transaction():
        change_settings(site_id, {"listing-page-size": 1})
    second = get("/collections/best?p=2").text
    assert re.findall(r'<span class="name">(.*?)</span>', second) == ["Moor tent 4"]
    assert 'rel="prev"' in second and 'href="/collections/best"' in second
    assert get("/collections/best?p=3").status_code == 404


def test_a_page_shows_its_text(get: Get):
    page = get("/pages/delivery").text
    assert "<h1>Delivery in the rain</h1>" in page and "<p>By post.</p>" in page


@pytest.mark.parametrize("path", ["/collections/old", "/pages/draft", "/collections/none", "/pages/none", "/nowhere"])
def test_what_is_not_there_is_not_found_and_leads_back(get: Get, path: str):
    page = get(path)
    assert page.status_code == 404
    assert "Page not found" in page.text and 'href="/c/camping"' in page.text


def test_every_page_has_one_main_heading_and_unique_ids(get: Get):
    for path in ("/", "/c/camping", "/search?q=tent", "/search", "/p/tent-3", "/collections/best", "/pages/delivery"):
        page = get(path).text
        ids = re.findall(r' id="([^"]*)"', page)
        assert len(re.findall("<h1", page)) == 1, path
        assert len(ids) == len(set(ids)), path
        assert "style=" not in page and "<script>" not in page, path


@pytest.mark.parametrize(
    ("path", "form"),
    [
        ("/c/camping/", "/c/camping"),
        ("/c/camping/?colour=Fern&colour=A%26B", "/c/camping?colour=Fern&colour=A%26B"),
        ("/search/?q=tent", "/search?q=tent"),
        ("/p/tent-5/", "/p/tent-5"),
        ("/%0d%0aSet-Cookie:x/", "/%0D%0ASet-Cookie%3Ax"),
    ],
)
def test_a_trailing_slash_leads_to_the_one_form(get: Get, path: str, form: str):
    answer = get(path)
    assert answer.status_code == 301
    assert answer.headers["Location"] == form


def test_a_path_that_looks_like_a_host_stays_a_path(app: Flask, get: Get):
    answer = app.test_client().get("/x", base_url="http://shop.test", environ_overrides={"PATH_INFO": "//evil.test/"})
    assert answer.headers["Location"] == "/evil.test"


@pytest.mark.parametrize("host", ["shop.test", "SHOP.test", "www.shop.test:8000", "shop.test."])
def test_every_host_of_a_shop_answers(get: Get, host: str):
    assert get("/", host=host).status_code == 200


@pytest.mark.parametrize(
    "host", ["evil.test", "shop.test.evil.test", "127.0.0.1", "shop", "xn--shp-0na.test", "[::1]:80"]
)
@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/c/camping",
        "/p/tent-5",
        "/search?q=x",
        "/nowhere",
        "/picture/tent/4f7942-1.svg",
        "/admin/sign-in",
        "/v1/category/1",
    ],
)
def test_an_unknown_host_is_not_found_and_not_repeated(get: Get, host: str, path: str):
    page = get(path, host=host)
    assert page.status_code == 404
    assert "evil" not in page.text and "Small shop" not in page.text


def test_only_health_answers_to_any_host(get: Get):
    assert get("/healthz", host="evil.test").status_code == 200


@pytest.mark.parametrize(("path", "surface_reads_it"), [("/admin/sign-in", False), ("/v1/nowhere", False), ("/", True)])
def test_only_pages_with_its_theme_read_the_shop(app: Flask, get: Get, path: str, surface_reads_it: bool):
    get("/healthz")
    assert not app.extensions[WINDOW]._shops
    get(path)
    assert bool(app.extensions[WINDOW]._shops) is surface_reads_it


def test_unknown_hosts_leave_nothing_behind(app: Flask, get: Get):
    for number in range(50):
        get("/", host=f"h{number}.test")
    assert len(app.extensions[WINDOW]._shops) <= 1


def test_a_shopper_gets_no_cookie(get: Get):
    page = get("/c/camping")
    assert "Set-Cookie" not in page.headers


def test_drawn_pictures_are_kept_for_a_year(get: Get):
    picture = get("/picture/tent/4f7942-1.svg?v=1")
    assert picture.mimetype == "image/svg+xml"
    assert picture.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    assert "#" in picture.text and "<script" not in picture.text
    assert picture.headers["Content-Security-Policy"].startswith("default-src 'none'; style-src 'unsafe-inline'")
    assert get("/picture/tent/4f7942-1.svg?v=1", **{"If-None-Match": picture.headers["ETag"]}).status_code == 304


@pytest.mark.parametrize("path", ["/picture/none/4f7942-1.svg", "/picture/tent/red.svg", "/picture/tent/4f7942-99.svg"])
def test_only_known_pictures_are_drawn(get: Get, path: str):
    assert get(path).status_code == 404


@pytest.mark.parametrize("host", ["a..b", "x" * 250, "shop.test:port", ".test"])
@pytest.mark.parametrize("path", ["/", "/admin/login", "/static/admin/base.css"])
def test_a_host_that_is_none_is_answered_calmly(app: Flask, host: str, path: str):
    answer = app.test_client().get(path, headers={"Host": host})
    assert answer.status_code == 404
    assert "shop.test" not in answer.text
