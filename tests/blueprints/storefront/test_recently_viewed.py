"""The row of products that a browser looked at lately, which only the browser remembers."""

from __future__ import annotations

import re
from dataclasses import replace

from flask import Flask

from app import ports
from app.adapters.null_engine import NullEngine
from app.domain.catalogue.models import Product
from app.extensions import db
from app.transaction import transaction
from tests.blueprints.storefront import small_shop
from tests.blueprints.storefront.conftest import Get
from tests.blueprints.storefront.shopper import Shopper
from tests.statements import statements


def products(page: str) -> list[str]:
    return re.findall(r'<a href="/p/([^"]+)"', page)


def test_the_row_has_the_products_in_the_order_of_the_request_each_once(get: Get) -> None:
    row = get("/recently-viewed?sku=S-7&sku=S-12&sku=S-7&sku=S-4")
    assert row.status_code == 200
    assert products(row.text) == ["tent-7", "mug-12", "tent-4"], "what is sold out is shown too"
    assert "<html" not in row.text and "Recently viewed" in row.text


def test_what_is_not_sold_is_left_out_and_with_nothing_left_there_is_no_row(get: Get) -> None:
    assert products(get("/recently-viewed?sku=S-2&sku=none&sku=S-5").text) == ["tent-5"]
    for path in (
        "/recently-viewed",
        "/recently-viewed?sku=S-2",
        "/recently-viewed?sku=",
        f"/recently-viewed?sku={'x' * 500}",
    ):
        assert get(path).text.strip() == ""


def test_the_products_of_another_shop_are_none(app: Flask, get: Get) -> None:
    with app.app_context():
        other = small_shop.build("other.test", "Other shop")
        with transaction():
            db.session.query(Product).filter_by(site_id=other, sku="S-5").one().sku = "OTHER-5"
        small_shop.index(other)
    assert products(get("/recently-viewed?sku=OTHER-5", host="other.test").text) == ["tent-5"]
    assert products(get("/recently-viewed?sku=OTHER-5").text) == []


def test_the_row_is_for_no_search_engine_and_the_same_for_everybody(app: Flask, get: Get) -> None:
    row = get("/recently-viewed?sku=S-5")
    assert "noindex" in row.headers["X-Robots-Tag"]
    assert row.headers["Cache-Control"] == "private, max-age=60", "no proxy keeps what a browser looked at"
    assert "Set-Cookie" not in row.headers
    mia = Shopper(app)
    mia.add("S-7")
    assert mia.get("/recently-viewed?sku=S-5").text == row.text


def test_no_more_than_twelve_are_shown(get: Get, app: Flask, site_id: int) -> None:
    with app.app_context():
        with transaction():
            db.session.add_all(small_shop.product(site_id, number, "mugs") for number in range(13, 17))
        small_shop.index(site_id)
    path = "/recently-viewed?" + "&".join(f"sku=S-{number}" for number in range(3, 17))
    assert products(get(path).text) == [f"{'tent' if number < 10 else 'mug'}-{number}" for number in range(3, 15)]


def test_nothing_is_written_for_it(app: Flask, get: Get) -> None:
    with statements(app) as seen:
        get("/recently-viewed?sku=S-5&sku=S-7")
    assert [statement for statement in seen if not statement.startswith("SELECT")] == []
    assert len(seen) <= 1


def test_a_program_that_requests_many_is_refused(app: Flask, get: Get) -> None:
    answers = [get(f"/recently-viewed?sku=S-{number}").status_code for number in range(125)]
    assert answers[:100] == [200] * 100 and answers[-1] == 429


def test_pages_of_products_have_a_place_for_the_row_and_say_which_product_they_are(get: Get) -> None:
    page = get("/p/tent-3?variant=S-3-N").text
    assert '<section class="related" id="recently-viewed" hidden></section>' in page
    assert '<article class="product" data-sku="S-3">' in page


def test_while_search_does_not_answer_there_is_no_row(app: Flask, get: Get) -> None:
    app.extensions[ports.EXTENSION] = replace(app.extensions[ports.EXTENSION], search_engine=NullEngine())
    assert get("/recently-viewed?sku=S-5").status_code == 503
    assert get("/p/tent-5").status_code == 200
