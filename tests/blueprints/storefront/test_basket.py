"""The basket over HTTP."""

from __future__ import annotations

import re

import pytest
from flask import Flask
from sqlalchemy import select

from app.domain.catalogue.models import Product, ProductImage
from app.domain.orders.models import Order
from app.domain.search_statistics.models import SearchWordDay
from app.extensions import db
from app.jobs.search_statistics import drain
from app.transaction import transaction
from tests.blueprints.storefront import small_shop
from tests.blueprints.storefront.shopper import Shopper


@pytest.fixture
def mia(app: Flask, site_id: int) -> Shopper:
    return Shopper(app)


def change(app: Flask, seo_name: str, **changes: object) -> None:
    with app.app_context(), transaction():
        product = db.session.query(Product).filter_by(seo_name=seo_name).first()
        for name, value in changes.items():
            setattr(product, name, value)


def test_a_product_page_adds_what_it_shows(mia: Shopper) -> None:
    page = mia.get("/p/tent-3?variant=S-3-N").text
    assert '<input type="hidden" name="sku" value="S-3-N">' in page
    assert 'max="9"' in page
    answer = mia.add("S-3-N", 2)
    assert (answer.status_code, answer.location) == (303, "/basket?notice=added")
    basket = mia.get(answer.location).text
    assert "Added to your basket." in basket
    assert "Colour: Navy" in basket and "£60.00" in basket and 'href="/p/tent-3?variant=S-3-N"' in basket


def test_what_is_out_of_stock_has_no_button(mia: Shopper) -> None:
    page = mia.get("/p/tent-4").text
    assert "Sold out" in page and "Add to basket" not in page
    refused = mia.add("S-4")
    assert refused.status_code == 409
    assert "is sold out" in refused.text


def test_htmx_gets_the_news_alone_and_the_count_as_a_cookie(mia: Shopper) -> None:
    answer = mia.swap("/basket", {"sku": "S-5", "quantity": "3"})
    assert answer.status_code == 200
    assert answer.text.startswith('<div id="added"') and "That is all we have left." in answer.text
    assert mia.cookie("basket-count") == "1"
    assert mia.swap("/basket", {"sku": "S-4"}).text.startswith('<div id="added"')


def test_the_drawer_shows_what_was_added_first_then_what_else_there_is_and_the_total(mia: Shopper) -> None:
    mia.add("S-7", 2)
    drawer = mia.swap("/basket", {"sku": "S-3-N", "quantity": "3"}).text
    first, other = re.findall(r"<li>.*?</li>", drawer, re.DOTALL)
    assert "Fell tent 3" in first and "Size: Large, Colour: Navy" in " ".join(first.split())
    assert "Quantity: 3" in first and "£90.00" in first and "<img" in first
    assert "Fell tent 7" in other and "Quantity: 2" in other and "£140.00" in other
    assert "Total, 5 items" in drawer and "£230.00" in drawer
    assert 'href="/basket"' in drawer and 'href="/checkout"' in drawer and "Keep shopping" in drawer
    assert "Also in your basket" not in Shopper(mia.client.application).swap("/basket", {"sku": "S-5"}).text


def test_what_cannot_be_added_is_said_where_the_button_is(mia: Shopper) -> None:
    refusal = mia.swap("/basket", {"sku": "S-4"}).text
    assert 'role="status"' in refusal and "is sold out" in refusal and "<dialog" not in refusal


def test_the_token_is_for_no_script_and_no_other_site(mia: Shopper) -> None:
    cookies = mia.add("S-5").headers.getlist("Set-Cookie")
    (token,) = [cookie for cookie in cookies if cookie.startswith("basket=")]
    assert "HttpOnly" in token and "SameSite=Lax" in token and "Path=/" in token
    (count,) = [cookie for cookie in cookies if cookie.startswith("basket-count=")]
    assert "HttpOnly" not in count


def test_behind_https_the_browser_guards_the_cookie(app: Flask, mia: Shopper) -> None:
    app.config["SESSION_COOKIE_SECURE"] = True
    cookies = mia.add("S-5").headers.getlist("Set-Cookie")
    assert any(cookie.startswith("__Host-basket=") and "Secure" in cookie for cookie in cookies)


def test_quantities_are_changed_by_buttons_and_by_typing(mia: Shopper) -> None:
    mia.add("S-7")
    line = mia.line("Fell tent 7")
    assert mia.post(line, {"quantity": "1", "to": "2"}).location == "/basket"
    assert 'value="2"' in mia.get("/basket").text
    swapped = mia.swap(line, {"quantity": "3"})
    assert swapped.text.startswith('<div id="basket"') and "£210.00" in swapped.text
    assert mia.cookie("basket-count") == "3"
    assert "There are fewer in stock" in mia.swap(line, {"quantity": "50"}).text
    assert mia.post(line, {"quantity": "3", "to": "0"}).location == "/basket?notice=removed"
    assert "basket is empty" in mia.get("/basket").text
    assert mia.cookie("basket-count") == "0"


@pytest.mark.parametrize("quantity", ["", "x", "-1", "1.5", "100", "٣", "9" * 500])
def test_what_is_no_quantity_is_refused_in_words(mia: Shopper, quantity: str) -> None:
    mia.add("S-7")
    answer = mia.post(mia.line("Fell tent 7"), {"quantity": quantity})
    assert answer.status_code == 400
    assert "Please choose a number from 0 to 99." in answer.text
    assert mia.post("/basket", {"sku": "S-7", "quantity": quantity}).status_code == 400


def test_a_line_that_is_not_there_is_told_on_the_basket(app: Flask, mia: Shopper) -> None:
    other = Shopper(app)
    other.add("S-7")
    answer = mia.post(other.line("Fell tent 7"), {"quantity": "0"})
    assert answer.status_code == 404
    assert "no longer in your basket" in answer.text
    assert "Fell tent 7" in other.get("/basket").text


def test_a_line_with_all_that_is_left_says_so(app: Flask, mia: Shopper) -> None:
    mia.add("S-7", 2)
    assert "Only 2 left." not in mia.get("/basket").text
    change(app, "tent-7", stock=2)
    assert '<p class="hint">Only 2 left.</p>' in mia.get("/basket").text


def test_what_changed_since_is_told_in_words(app: Flask, mia: Shopper) -> None:
    for sku in ("S-5", "S-7", "S-9", "S-6"):
        mia.add(sku, 1)
    mia.add("S-7", 2)
    change(app, "tent-5", stock=0)
    change(app, "tent-7", stock=2)
    change(app, "tent-9", enabled=False)
    change(app, "tent-6", price=100)
    page = mia.get("/basket").text
    assert "Sold out since you chose it." in page
    assert "Only 2 left: please take fewer." in page
    assert "This is no longer sold." in page
    assert "The price was £60.00 when you chose it." in page
    assert 'href="/checkout"' not in page, "nobody can check out yet"
    assert mia.get("/checkout").location == "/basket?notice=fix"
    mia.post(mia.line("Fell tent 7"), {"to": "2"})
    mia.post(mia.line("Fell tent 5"), {"to": "0"})
    mia.post(mia.line("Fell tent 9"), {"to": "0"})
    assert 'href="/checkout"' in mia.get("/basket").text


def test_a_basket_is_the_shoppers_alone(mia: Shopper) -> None:
    mia.add("S-5")
    for path in ("/basket", "/checkout"):
        answer = mia.get(path)
        assert answer.headers["Cache-Control"] == "no-store"
        assert '<meta name="robots" content="noindex, follow">' in answer.text


def test_other_pages_are_the_same_for_everybody(app: Flask, mia: Shopper) -> None:
    mia.add("S-5")
    stranger = Shopper(app)
    for path in ("/", "/c/camping", "/p/tent-5"):
        assert mia.get(path).text == stranger.get(path).text


def test_a_basket_is_of_one_shop(app: Flask, mia: Shopper) -> None:
    with app.app_context():
        small_shop.build("other.test", "Other shop")
    mia.add("S-5")
    other = Shopper(app, "other.test")
    other.client.set_cookie("basket", mia.cookie("basket") or "", domain="other.test")
    assert "basket is empty" in other.get("/basket").text


@pytest.mark.parametrize("token", ["x", "x" * 3_000, "%00", "ü", '"<script>'])
def test_any_cookie_is_read_calmly(mia: Shopper, token: str) -> None:
    mia.client.set_cookie("basket", token, domain="shop.test")
    assert "basket is empty" in mia.get("/basket").text
    assert mia.add("S-5").status_code == 303


def test_a_forged_form_adds_nothing(app: Flask, mia: Shopper) -> None:
    app.config["WTF_CSRF_ENABLED"] = True
    forged = mia.post("/basket", {"sku": "S-5"}, Sec_Fetch_Site="cross-site")
    assert forged.status_code == 403
    assert mia.add("S-5").status_code == 303, "and the shop's own form needs no token"
    with app.app_context():
        assert db.session.query(Order).count() == 1


def test_pictures_are_the_small_ones(app: Flask, mia: Shopper, site_id: int) -> None:
    with app.app_context(), transaction():
        product = db.session.query(Product).filter_by(seo_name="tent-5").one()
        product.images = [ProductImage(site_id=site_id, file="a.webp", alt="", width=800, height=600)]
    mia.add("S-5")
    mia.add("S-7")
    page = mia.get("/basket").text
    assert f"/media/{site_id}/a-small.webp" in page
    assert re.search(r'src="/picture/tent/[^"]+"', page)


def test_a_variant_in_the_basket_shows_its_own_picture(app: Flask, mia: Shopper, site_id: int) -> None:
    with app.app_context(), transaction():
        product = db.session.query(Product).filter_by(seo_name="tent-3").one()
        product.images = [ProductImage(site_id=site_id, file=f"{f}.webp", width=800, height=600) for f in ("a", "b")]
        next(variant for variant in product.variants if variant.sku == "S-3-L").picture = "b.webp"
    mia.add("S-3-L")
    page = mia.get("/basket").text
    assert f"/media/{site_id}/b-small.webp" in page and "/a-small.webp" not in page


def test_a_basket_after_a_search_counts_for_it(app: Flask, mia: Shopper, site_id: int) -> None:
    results = "/search?q=fell+tent+7"
    assert 'href="/p/tent-7"' in mia.get(results).text
    mia.get("/p/tent-7", Referer=f"http://shop.test{results}")
    mia.add("S-7", 2)
    mia.order()
    with app.app_context():
        drain()
        counted = db.session.scalars(select(SearchWordDay).where(SearchWordDay.site_id == site_id)).one()
        assert (counted.clicked, counted.added_to_basket, counted.ordered, counted.revenue) == (1, 1, 1, 14_000)
