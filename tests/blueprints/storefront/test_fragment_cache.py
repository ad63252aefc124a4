"""Fragments of pages that are cached, and what makes them be drawn anew."""

from __future__ import annotations

from flask import Flask
from markupsafe import Markup

from app.blueprints.storefront.blueprint import LISTING_CACHE, PAGE_CACHE, PackedMarkup
from app.domain.catalogue.models import Product
from app.extensions import db
from app.transaction import transaction
from tests.blueprints.storefront import small_shop
from tests.blueprints.storefront.conftest import Get
from tests.fakes.clock import StoppedClock


def test_packed_markup_is_the_same_and_smaller():
    html = '<li class="card">Zelt für 2 – €</li>' * 100
    packed = PackedMarkup.of(html)
    assert packed.html == Markup(html) and isinstance(packed.html, Markup)
    assert packed.size < len(html) / 8


def test_a_listing_is_drawn_anew_within_a_second_of_a_change_of_the_index(
    app: Flask, get: Get, site_id: int, clock: StoppedClock
):
    assert "Fell tent 9" in get("/c/gifts").text
    with app.app_context():
        with transaction():
            db.session.query(Product).filter_by(site_id=site_id, seo_name="tent-9").one().name = "Renamed tent"
        small_shop.index(site_id)
    clock.move(seconds=1)
    assert "Renamed tent" in get("/c/gifts").text


def test_invented_parameters_are_not_kept(app: Flask, get: Get):
    get("/c/camping")
    kept = [len(app.extensions[cache]) for cache in (LISTING_CACHE, PAGE_CACHE)]
    for number in range(60):
        get(f"/c/camping?junk{number}={number}&utm_x={number}")
    assert [len(app.extensions[cache]) for cache in (LISTING_CACHE, PAGE_CACHE)] == kept


def test_addresses_that_show_the_same_are_not_indexed_the_same(get: Get):
    """A parameter that is ignored, such as an order that does not exist, still keeps a page out of search engines."""
    whole = get("/c/camping")
    for query in ("sort=none", "price_min=x", "pageSizeOverride=24", "p=0"):
        beside = get(f"/c/camping?{query}")
        assert beside.headers["X-Robots-Tag"].startswith("noindex"), query
        assert '<meta name="robots" content="noindex' in beside.text, query
    assert get("/c/camping").headers["X-Robots-Tag"] == whole.headers["X-Robots-Tag"] == "index, follow"


def test_the_listing_alone_is_no_page_however_it_is_cached(get: Get):
    headers_read = {"HX_Request": "true", "HX_Target": "div#listing"}
    answers = [get("/c/camping", **headers) for headers in ({}, headers_read, {}, headers_read)]
    assert ["<html" in answer.text for answer in answers] == [True, False, True, False]
    robots = [answer.headers["X-Robots-Tag"] for answer in answers]
    assert robots == ["index, follow", "noindex, follow"] * 2


def test_shops_with_the_same_addresses_keep_apart(app: Flask, get: Get):
    with app.app_context():
        other_id = small_shop.build("other.test", "Other shop")
        with transaction():
            for product in db.session.query(Product).filter_by(site_id=other_id):
                product.name = f"Canary {product.sku}"
        small_shop.index(other_id)
    for _ in range(3):
        for path in ("/", "/c/camping", "/c/camping?colour=Fern", "/search?q=tent", "/p/tent-5"):
            assert "Canary" not in get(path).text, path
            assert "Small shop" not in get(path, host="other.test").text, path
    assert "Canary" in get("/c/camping", host="other.test").text
