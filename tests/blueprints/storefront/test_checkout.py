"""The checkout over HTTP."""

from __future__ import annotations

import hmac
import re

import pytest
from flask import Flask

from app.domain.catalogue.models import Product
from app.domain.orders import lifecycle, limits
from app.domain.orders.models import Order
from app.domain.shared.author import Author
from app.domain.sites.accounts import Role
from app.domain.sites.models import SignInFailure, Site
from app.extensions import db
from app.transaction import transaction
from tests.blueprints.storefront import small_shop
from tests.blueprints.storefront.shopper import CONTACT, Shopper
from tests.blueprints.storefront.test_basket import change
from tests.domain.orders.till import pay_by_card
from tests.factories import make_agent, make_location, make_transaction, make_user
from tests.fakes.clock import StoppedClock


@pytest.fixture
def mia(app: Flask, site_id: int) -> Shopper:
    shopper = Shopper(app)
    shopper.add("S-7", 2)
    return shopper


def orders(app: Flask) -> list[tuple[str, int]]:
    with app.app_context():
        return [(order.status, order.total) for order in db.session.query(Order).order_by(Order.created_at)]


def stock(app: Flask, seo_name: str) -> int | None:
    with app.app_context():
        return db.session.query(Product).filter_by(seo_name=seo_name).one().stock


def test_an_order_is_placed_and_thanked_for(app: Flask, mia: Shopper) -> None:
    answer = mia.order(note="At noon, please.")
    assert answer.status_code == 303
    thanks = mia.get(answer.location)
    assert "<h1>Order 1 received</h1>" in thanks.text and "Thank you, Mia." in thanks.text
    assert "mia@home.test" in thanks.text and "£140.00" in thanks.text and "At noon, please." in thanks.text
    assert thanks.headers["Cache-Control"] == "no-store"
    assert (orders(app), stock(app, "tent-7"), mia.cookie("basket-count")) == ([("SUBMITTED", 14_000)], 1, "0")


def test_a_button_pressed_twice_gives_one_order(app: Flask, mia: Shopper) -> None:
    first, second = mia.order(), mia.order()
    assert first.location == second.location
    assert (orders(app), stock(app, "tent-7")) == ([("SUBMITTED", 14_000)], 1)
    assert mia.get("/checkout").location == first.location, "going back leads to the order"


def test_a_button_pressed_twice_before_the_first_answer_gives_one_order(app: Flask, mia: Shopper) -> None:
    hidden = dict(re.findall(r'name="(seen|form)" value="([\w-]+)"', mia.get("/checkout").text))
    basket = mia.cookie("basket") or ""
    first = mia.post("/checkout", CONTACT | hidden)
    mia.client.set_cookie("basket", basket, domain=mia.host)
    assert mia.post("/checkout", CONTACT | hidden).location == first.location
    assert (orders(app), stock(app, "tent-7")) == ([("SUBMITTED", 14_000)], 1)


def test_a_form_that_comes_back_with_words_is_the_same_form(mia: Shopper) -> None:
    page = mia.order(name="", form="f" * 43)
    assert f'name="form" value="{"f" * 43}"' in page.text


def test_who_planted_a_basket_does_not_read_who_ordered_from_it(app: Flask, mia: Shopper) -> None:
    planter = Shopper(app)
    planter.client.set_cookie("basket", mia.cookie("basket") or "", domain=planter.host)
    assert planter.get("/checkout").status_code == 200
    location, planted = mia.order().location, planter.cookie("basket")
    assert location != f"/order/{planted}" and mia.cookie("basket") == location.removeprefix("/order/")
    assert planter.get(f"/order/{planted}").status_code == 404
    assert planter.get("/checkout").location == "/basket"
    answer = planter.order()
    assert answer.status_code == 404 and "Mia" not in answer.text


def test_what_is_wrong_is_told_beside_the_field_and_nothing_is_lost(app: Flask, mia: Shopper) -> None:
    answer = mia.order(name="", email="mia@home", phone="", note="<b>Noon</b>")
    assert answer.status_code == 400
    assert "Your name is missing." in answer.text
    assert 'value="mia@home"' in answer.text and "&lt;b&gt;Noon&lt;/b&gt;" in answer.text
    assert 'aria-describedby="name-error" aria-invalid="true"' in answer.text
    assert orders(app) == [("OPEN", 0)]


def test_a_price_from_the_form_counts_for_nothing(app: Flask, mia: Shopper) -> None:
    mia.order(total="1", price="1", unit_price="1")
    assert orders(app) == [("SUBMITTED", 14_000)]


def test_a_new_price_must_be_seen_before_it_is_agreed_to(app: Flask, mia: Shopper) -> None:
    seen = mia.get("/checkout").text.split('name="seen" value="')[1].split('"')[0]
    change(app, "tent-7", price=9_900)
    answer = mia.post("/checkout", CONTACT | {"seen": seen, "phone": "020 7946 0000"})
    assert answer.status_code == 409
    assert "Check the new total" in answer.text and "£198.00" in answer.text and "020 7946 0000" in answer.text
    assert mia.order().status_code == 303
    assert orders(app) == [("SUBMITTED", 19_800)]


def test_who_orders_far_too_often_is_told_and_keeps_the_basket(app: Flask, mia: Shopper) -> None:
    change(app, "tent-7", stock=None)
    by_phone = {"email": "", "phone": "020 7946 0000"}
    for _ in range(limits.MOST_OPEN):
        assert mia.order(**by_phone).status_code == 303
        mia.add("S-7")
    answer = mia.order(note="At noon.", **by_phone)
    assert (answer.status_code, answer.headers["Retry-After"]) == (429, "3600")
    assert "Please get one of them first" in answer.text and "At noon." in answer.text
    assert 'role="alert"' in answer.text and orders(app)[-1] == ("OPEN", 0)


def test_nobody_has_a_mailbox_flooded_by_orders_from_many_addresses(app: Flask, mia: Shopper) -> None:
    change(app, "tent-7", stock=30)
    stranger = Shopper(app)
    for number in range(limits.MOST_AN_HOUR):
        stranger.client.environ_base |= {"REMOTE_ADDR": f"198.51.100.{number}"}
        stranger.add("S-7")
        assert stranger.order(email=f"V.ictim+{number}@home.test").status_code == 303
    before = stock(app, "tent-7")
    answer = mia.order(email="victim@home.test")
    assert (answer.status_code, answer.headers["Retry-After"]) == (429, "3601")
    assert "very many orders with this email address" in answer.text and 'role="alert"' in answer.text
    assert "Your order has not been placed" in answer.text and stock(app, "tent-7") == before
    with app.app_context():
        keys = [key for (key,) in db.session.query(SignInFailure.key) if "mail" in key]
        unkeyed = hmac.digest(b"", b"victim@home.test", "sha256").hex()
    assert len(keys) == limits.MOST_AN_HOUR and not any("victim" in key or unkeyed in key for key in keys)
    assert mia.order(email="", phone="020 7946 0000").status_code == 303


def test_one_address_orders_so_often_whoever_it_says_it_is(app: Flask, mia: Shopper) -> None:
    change(app, "tent-7", stock=None)
    for number in range(limits.MOST_OF_ADDRESS):
        assert mia.order(email=f"mia-{number}@home.test").status_code == 303
        mia.add("S-7")
    answer = mia.order(email="somebody@home.test")
    assert answer.status_code == 429 and "very many orders" in answer.text


def test_what_sold_out_meanwhile_leads_back_to_the_basket(app: Flask, mia: Shopper) -> None:
    seen = mia.get("/checkout").text.split('name="seen" value="')[1].split('"')[0]
    change(app, "tent-7", stock=1)
    answer = mia.post("/checkout", CONTACT | {"seen": seen})
    assert answer.status_code == 409
    assert "<h1>Your basket</h1>" in answer.text and "Only 1 left" in answer.text
    assert stock(app, "tent-7") == 1


def test_without_a_basket_there_is_nothing_to_check_out(app: Flask, site_id: int) -> None:
    nobody = Shopper(app)
    assert nobody.get("/checkout").location == "/basket"
    answer = nobody.post("/checkout", CONTACT)
    assert answer.status_code == 404 and "Your basket is empty." in answer.text


def test_an_order_is_shown_to_who_has_its_address_alone(app: Flask, mia: Shopper) -> None:
    token = mia.cookie("basket") or ""
    assert mia.get(f"/order/{token}").status_code == 404, "a basket is no order"
    location = mia.order().location
    assert Shopper(app).get(location).status_code == 200
    assert mia.get(location + "x").status_code == 404
    with app.app_context():
        small_shop.build("other.test", "Other shop")
    assert Shopper(app, "other.test").get(location).status_code == 404


@pytest.mark.parametrize(
    ("settle", "words"), [(lifecycle.collect, "was collected"), (lifecycle.cancel, "was cancelled")]
)
def test_the_page_of_an_order_tells_what_became_of_it(
    app: Flask, mia: Shopper, site_id: int, clock: StoppedClock, settle, words: str
) -> None:
    location = mia.order().location
    with app.app_context(), transaction():
        settle(Author(site_id, "Ben", clock), db.session.query(Order).one().id)
    assert words in mia.get(location).text


@pytest.mark.parametrize(
    ("tenders", "words"),
    [(("CARD",), "Paid by card<"), (("CASH",), "Paid in cash<"), (("CASH", "CARD"), "Paid by card and in cash<")],
)
def test_the_page_of_an_order_says_how_it_was_paid(
    app: Flask, mia: Shopper, clock: StoppedClock, tenders: tuple[str, ...], words: str
) -> None:
    page = mia.order().location
    with app.app_context():
        order = db.session.query(Order).one()
        pay_by_card(clock, order.id, order.total)
        with transaction():
            for tender in tenders:
                make_payment(order, tender_type=tender)
    shown = mia.get(page).text
    assert "it is paid" in shown and words in shown and "pay there" not in shown


def test_the_page_of_an_order_says_what_is_still_to_pay(app: Flask, mia: Shopper, clock: StoppedClock) -> None:
    page = mia.order().location
    with app.app_context():
        order = db.session.query(Order).one()
        pay_by_card(clock, order.id, order.total - 100)
    shown = " ".join(mia.get(page).text.split())
    assert "and pay the rest there" in shown and "Paid already" in shown
    assert "<dt>To pay on collection</dt> <dd>£1.00</dd>" in shown


def make_payment(order: Order, **more: object) -> None:
    site = db.session.get_one(Site, order.site_id)
    location = make_location(site)
    agent = make_agent(site, make_user(site, Role.POS_AGENT), location)
    make_transaction(agent, location, "SUCCEEDED", order_id=order.id, **more)


def test_names_are_shown_as_they_were_typed(mia: Shopper) -> None:
    page = mia.get(mia.order(name="<script>alert(1)</script> Moss").location).text
    assert "<script>alert" not in page and "&lt;script&gt;alert(1)&lt;/script&gt;" in page
