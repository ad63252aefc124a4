"""Delivery at checkout, without scripts: chosen, shown with its total, placed; and what pages say of it."""

from __future__ import annotations

import re

import pytest
from flask import Flask

from app import ports
from app.domain.delivery.deliveries import read_sent, save_delivery
from app.domain.orders.lifecycle import cancel, collect, mark_ready
from app.domain.orders.models import Order, OrderLine
from app.domain.orders.transfers import note_transfer
from app.domain.shared.author import Author
from app.extensions import db
from app.transaction import transaction
from app.web.order_links import order_path
from tests.blueprints.storefront.shopper import CONTACT, Shopper

STANDARD = {"name": "Standard", "steps": [{"upTo": None, "price": 395}], "freeFrom": 15_000, "countries": ["GB"]}
COURIER = {
    "name": "Courier",
    "rate": "weight",
    "steps": [{"upTo": 20_000, "price": 900}],
    "countries": ["GB", "FR"],
    "payment": "onDelivery",
    "days": "next day",
}
OFFERED = {
    "methods": [STANDARD, COURIER],
    "paymentInstructions": "Account 123",
    "weightAttribute": "weight",
    "weightUnit": "kg",
}
ADDRESS = {"line1": "1 Long Lane", "city": "Kendal", "postcode": "la94tn", "country": "GB"}
STANDARD_TO_HOME = {"method": "Standard", **ADDRESS}
HIDDEN = re.compile(r'<input type="hidden" name="(\w+)" value="([^"]*)"')


def offer(app: Flask, site_id: int, **changes: object) -> None:
    with app.app_context(), transaction():
        save_delivery(Author(site_id, "Ada", ports.clock()), None, read_sent(OFFERED | changes))


@pytest.fixture
def mia(app: Flask, site_id: int) -> Shopper:
    offer(app, site_id)
    shopper = Shopper(app)
    shopper.add("S-7", 1)
    return shopper


def orders(app: Flask) -> list[tuple[str, int, str]]:
    with app.app_context():
        return [(order.status, order.total, order.delivery_method) for order in db.session.query(Order)]


def placed_order(mia: Shopper, **typed: str) -> str:
    """Return the address of an order that was shown and then placed."""
    review = mia.order(**STANDARD_TO_HOME | typed)
    assert review.status_code == 200, review.text
    answer = mia.post("/checkout", dict(HIDDEN.findall(review.text)))
    assert answer.status_code == 303, answer.text
    return answer.location


def test_a_shop_that_delivers_nothing_says_nothing_of_it(app: Flask, site_id: int) -> None:
    mia = Shopper(app)
    mia.add("S-7", 1)
    for path in ("/checkout", "/basket", "/p/tent-7"):
        page = mia.get(path).text.replace("/pages/delivery", "").replace("Delivery in the rain", "")
        assert "eliver" not in page, path
    assert "Pay on collection" in mia.get("/checkout").text
    assert mia.order(**STANDARD_TO_HOME).status_code == 400, "what is not offered cannot be chosen"


def test_delivery_is_shown_with_its_total_before_the_order_is_placed(app: Flask, mia: Shopper) -> None:
    page = mia.get("/checkout").text
    assert "£3.95" in page and "Paid in advance, by bank transfer" in page and "Collect it in the shop" in page
    review = mia.order(**STANDARD_TO_HOME, note="Ring <twice>.")
    assert "<h1>Check your order</h1>" in review.text and "Place order · £73.95" in review.text
    assert "LA9 4TN<br>United Kingdom" in review.text and "Ring &lt;twice&gt;." in review.text
    assert orders(app) == [("OPEN", 0, "")]
    thanks = mia.get(mia.post("/checkout", dict(HIDDEN.findall(review.text))).location).text
    assert "<h1>Order 1 received</h1>" in thanks and "1 Long Lane" in thanks
    assert "Account 123" in thanks and "Amount: £73.95" in thanks and "Reference: Order 1" in thanks
    assert "ollect" not in re.sub(r"<(nav|footer|head)\b.*?</\1>", "", thanks, flags=re.DOTALL).replace(
        "/collections", ""
    )
    assert orders(app) == [("SUBMITTED", 7_395, "Standard")]


def test_what_was_typed_can_be_changed_before_the_order_is_placed(app: Flask, mia: Shopper) -> None:
    review = mia.order(**STANDARD_TO_HOME)
    form = mia.post("/checkout", {**dict(HIDDEN.findall(review.text)), "step": "change"})
    assert form.status_code == 200 and 'value="1 Long Lane"' in form.text and "<h1>Check out</h1>" in form.text
    assert re.search(r'value="Standard" checked', form.text)
    assert orders(app) == [("OPEN", 0, "")]


def test_collection_is_still_placed_at_once(app: Flask, mia: Shopper) -> None:
    assert mia.order().status_code == 303
    assert orders(app) == [("SUBMITTED", 7_000, "")]


def test_a_price_from_the_form_counts_for_nothing(app: Flask, mia: Shopper) -> None:
    placed_order(mia, price="1", total="1", delivery_price="0")
    assert orders(app) == [("SUBMITTED", 7_395, "Standard")]


def test_delivery_is_free_from_its_value_on(app: Flask, mia: Shopper) -> None:
    mia.add("S-7", 2)
    review = mia.order(**STANDARD_TO_HOME)
    assert "<dd>Free</dd>" in review.text and "Place order · £210.00" in review.text


def test_a_price_that_changed_meanwhile_must_be_seen_first(app: Flask, site_id: int, mia: Shopper) -> None:
    review = mia.order(**STANDARD_TO_HOME)
    dearer = STANDARD | {"steps": [{"upTo": None, "price": 495}]}
    offer(app, site_id, methods=[dearer, COURIER])
    answer = mia.post("/checkout", dict(HIDDEN.findall(review.text)))
    assert answer.status_code == 409 and "Check the new total" in answer.text and "£4.95" in answer.text
    assert 'value="1 Long Lane"' in answer.text and orders(app) == [("OPEN", 0, "")]


@pytest.mark.parametrize(
    ("typed", "field", "words"),
    [
        ({"line1": ""}, "line1", "Address line 1 is missing."),
        ({"line1": "x" * 101}, "line1", "100"),
        ({"city": " "}, "city", "The town or city is missing."),
        ({"postcode": "12345"}, "postcode", "no postcode of the United Kingdom"),
        ({"postcode": ""}, "postcode", "The postcode is missing."),
        ({"country": "FR", "postcode": "75001"}, "country", "does not deliver to France"),
        ({"country": "XX"}, "country", "does not deliver to XX"),
        ({"country": ""}, "country", "Choose the country."),
        ({"recipient": "y" * 101}, "recipient", "100"),
        ({"method": "Pigeon"}, "method", "“Pigeon” is not offered any more."),
    ],
)
def test_what_is_wrong_stands_at_its_field_and_nothing_is_placed(
    app: Flask, mia: Shopper, typed: dict[str, str], field: str, words: str
) -> None:
    answer = mia.order(**STANDARD_TO_HOME | typed)
    assert answer.status_code == 400 and "Your order has not been placed." in answer.text
    [error] = re.findall(rf'<p class="hint bad" id="{field}-error">(.*?)</p>', answer.text)
    assert words in error and f'href="#{field}"' in answer.text
    assert orders(app) == [("OPEN", 0, "")]


def test_the_focus_and_the_title_say_that_nothing_was_placed(mia: Shopper) -> None:
    page = mia.get("/checkout").text
    assert "autofocus" not in page and "<title>Check out" in page
    for wrong in ({"line1": ""}, {"seen": "x" * 24}):
        page = mia.order(**STANDARD_TO_HOME | wrong).text
        assert page.count('role="alert" tabindex="-1" autofocus') == 1 and "<title>Error: Check out" in page


def test_problems_of_contact_and_address_are_named_at_once(mia: Shopper) -> None:
    answer = mia.order(**STANDARD_TO_HOME | {"name": "", "line1": ""})
    assert "Your name is missing." in answer.text and "Address line 1 is missing." in answer.text


def listed_countries(page: str) -> list[tuple[str, str]]:
    """The countries that a page lists, each with " selected" where it is."""
    return [(name, chosen) for chosen, name in re.findall(r'<option value="[^"]*"( selected)?>([^<]*)</option>', page)]


def test_a_country_that_not_every_method_serves_names_those_that_do(mia: Shopper) -> None:
    page = mia.get("/checkout").text
    everywhere = [("Choose a country", ""), ("United Kingdom", ""), ("France (by Courier)", "")]
    assert listed_countries(page) == everywhere
    assert page.index('id="city"') < page.index('id="country"') < page.index('id="postcode"')
    unsaid = mia.order(**STANDARD_TO_HOME | {"country": "", "line1": ""}).text
    assert listed_countries(unsaid)[:1] == [("United Kingdom", " selected")], "the only one of the chosen method"
    assert ("France (by Courier)", " selected") in listed_countries(
        mia.order(**STANDARD_TO_HOME | {"country": "FR"}).text
    )


def test_the_countries_of_the_chosen_method_come_first_and_another_is_refused_at_once(mia: Shopper) -> None:
    def choose(**typed: str) -> str:
        answer = mia.post("/checkout", {**STANDARD_TO_HOME, "step": "change", **typed})
        assert answer.status_code == 200 and "has not been placed" not in answer.text
        return answer.text.partition('id="country-field"')[2].partition('id="postcode"')[0]

    to_france = choose(country="FR")
    assert re.findall(r'optgroup label="([^"]+)"', to_france) == ["By Standard", "Not by Standard"]
    assert listed_countries(to_france) == [("United Kingdom", ""), ("France (by Courier)", " selected")]
    assert 'role="alert">“Standard” does not deliver to France. Choose another' in to_france
    for served in (choose(country="FR", method="Courier"), choose(country="FR", method=""), choose(country="")):
        assert "country-error" not in served
    assert "optgroup" not in choose(method="Courier") + choose(method="") + choose(method="Gone", country="FR")


def test_another_delivery_for_a_basket_that_was_emptied_meanwhile_leads_to_the_basket(app: Flask, mia: Shopper) -> None:
    with app.app_context(), transaction():
        db.session.query(OrderLine).delete()
    changed = {**STANDARD_TO_HOME, "step": "change"}
    answer = mia.swap("/checkout", changed)
    assert answer.status_code == 204 and answer.headers["HX-Redirect"] == "/basket?notice=fix"
    assert mia.post("/checkout", changed).status_code == 200


def test_the_only_country_is_chosen_and_methods_that_are_not_offered_add_none(app: Flask, site_id: int) -> None:
    offer(app, site_id, weightAttribute="", defaultWeight=21_000)
    mia = Shopper(app)
    mia.add("S-7", 1)
    assert listed_countries(mia.get("/checkout").text) == [("United Kingdom", " selected")]


def test_a_basket_that_is_too_heavy_is_not_offered_a_method_and_reads_why(app: Flask, site_id: int) -> None:
    offer(app, site_id, weightAttribute="", defaultWeight=21_000)
    mia = Shopper(app)
    mia.add("S-7", 1)
    page = mia.get("/checkout").text
    assert "Up to 20 kg, and your basket weighs 21 kg." in page and 'value="Courier" disabled' in page
    assert mia.order(method="Courier", **ADDRESS).status_code == 400


def test_who_must_choose_a_delivery_is_not_offered_collection(app: Flask, site_id: int, mia: Shopper) -> None:
    offer(app, site_id, collection=False)
    page = mia.get("/checkout").text
    assert "Collect it in the shop" not in page and "Place order" not in page and "Continue" in page
    answer = mia.order()
    assert answer.status_code == 400 and "Choose how you want to get your order." in answer.text
    assert "Collection in the shop" not in mia.get("/basket").text
    assert "Collect it in the shop" not in mia.get("/p/tent-7").text


def test_a_page_of_a_product_and_the_basket_say_what_delivery_costs(mia: Shopper) -> None:
    page = mia.get("/p/tent-7").text
    assert "Delivery from £3.95, free from £150.00</strong>, to the United Kingdom." in page
    assert "when you collect it, or by bank transfer before we send it, or when it is delivered." in page
    assert "<dd>from £3.95, free from £150.00</dd>" in mia.get("/basket").text


def test_only_a_method_that_never_costs_anything_is_called_free(app: Flask, site_id: int, mia: Shopper) -> None:
    small = {"upTo": 8_000, "price": 495}
    offer(app, site_id, methods=[STANDARD | {"rate": "value", "steps": [small, {"upTo": None, "price": 0}]}])
    page = mia.get("/p/tent-7").text
    assert "Free delivery" not in page and "Delivery from £4.95, free from £150.00</strong>" in page
    offer(
        app,
        site_id,
        methods=[{**STANDARD, "rate": "value", "steps": [small, {"upTo": None, "price": 0}], "freeFrom": None}],
    )
    assert "Delivery from £4.95, free above £80.00</strong>" in mia.get("/p/tent-7").text
    offer(app, site_id, methods=[STANDARD | {"steps": [{"upTo": None, "price": 0}]}])
    assert "Free delivery</strong>" in mia.get("/p/tent-7").text


def test_a_page_says_that_delivery_of_its_product_alone_is_free_and_to_where(
    app: Flask, site_id: int, mia: Shopper
) -> None:
    offer(app, site_id, methods=[COURIER, STANDARD | {"freeFrom": 6_000}])
    assert "Free delivery of this product</strong>, to the United Kingdom." in mia.get("/p/tent-7").text
    offer(app, site_id, methods=[COURIER, STANDARD | {"freeFrom": 8_000}])
    page = mia.get("/p/tent-7").text
    assert "Free delivery" not in page and "Delivery from £3.95, free from £80.00</strong>" in page


def test_a_page_of_what_is_too_heavy_for_every_method_promises_no_delivery(
    app: Flask, site_id: int, mia: Shopper
) -> None:
    offer(app, site_id, methods=[COURIER | {"steps": [{"upTo": 10, "price": 100}]}])
    page = mia.get("/p/tent-7").text
    assert "<strong>Delivery from" not in page and "Collect it in the shop" in page


def test_a_page_of_what_is_sold_out_promises_nothing_and_leads_to_what_is_like_it(mia: Shopper) -> None:
    page = mia.get("/p/tent-4").text
    assert re.search(r"<button[^>]* disabled>Sold out</button>", page)
    assert "Delivery from" not in page and "Collect it in the shop" not in page and "<strong>Pay" not in page
    assert '<a href="#similar">See similar products</a>' in page and 'id="similar"' in page
    assert "#similar" not in mia.get("/p/tent-7").text


def test_the_basket_says_what_its_own_delivery_costs(app: Flask, site_id: int, mia: Shopper) -> None:
    light = COURIER | {"name": "Letter", "steps": [{"upTo": 10, "price": 100}]}
    offer(app, site_id, methods=[light, STANDARD | {"freeFrom": 7_000}])
    assert "<dt>or delivery</dt><dd>Free</dd>" in mia.get("/basket").text
    offer(app, site_id, methods=[light, COURIER])
    assert "<dt>or delivery</dt><dd>from £9.00</dd>" in mia.get("/basket").text, "it is too heavy for a letter"
    offer(app, site_id, methods=[light])
    assert "<dt>or delivery</dt><dd>Not for this basket</dd>" in mia.get("/basket").text


def test_the_account_to_pay_into_stays_with_the_order(app: Flask, site_id: int, mia: Shopper) -> None:
    location = placed_order(mia)
    offer(app, site_id, paymentInstructions="Account 456")
    assert "Account 456" in mia.get(location).text and "Account 123" not in mia.get(location).text
    offer(app, site_id, methods=[COURIER], paymentInstructions="")
    assert "Account 123" in mia.get(location).text, "the shop says no other"


NOT_YET = [("Paid", False), ("Sent", False), ("Delivered", False)]


def steps_of(page: str) -> list[tuple[str, bool]]:
    """The steps of an order on its page, each with whether it is done."""
    [steps] = re.findall(r'<ol class="steps">(.*?)</ol>', page, re.DOTALL)
    return [
        (label, bool(done))
        for done, label in re.findall(r'<li( class="done")?.*?<strong>(.*?)</strong>', steps, re.DOTALL)
    ]


def test_an_order_is_followed_to_the_door_and_a_link_shows_no_address(app: Flask, site_id: int, mia: Shopper) -> None:
    location = placed_order(mia)
    unpaid = mia.get(location).text
    assert "Awaiting payment" in unpaid and steps_of(unpaid) == [("Received", True), *NOT_YET]
    assert "We put it together once it is paid." in unpaid and "We are putting it together." not in unpaid
    with app.app_context():
        order_id = db.session.query(Order.id).scalar()
        link = order_path(site_id, order_id)
        with transaction():
            note_transfer(Author(site_id, "Ben", ports.clock()), order_id)
            assert db.session.get_one(Order, order_id).paid_at is not None
    paid = mia.get(location).text
    assert "To be sent" in paid and "How to pay" not in paid and "We are putting it together." in paid
    with app.app_context(), transaction():
        mark_ready(Author(site_id, "Ben", ports.clock()), order_id)
    assert "<h1>Order 1 is on its way</h1>" in mia.get(location).text
    linked = mia.get(link).text
    assert "On its way" in linked and "Long Lane" not in linked and "Mia" not in linked
    assert mia.get(f"/orders/{location.rpartition('/')[2]}/collect.ics").status_code == 404
    with app.app_context(), transaction():
        collect(Author(site_id, "Ben", ports.clock()), order_id)
    arrived = steps_of(mia.get(location).text)
    assert arrived == [("Received", True), ("Paid", True), ("Sent", True), ("Delivered", True)]


def test_who_paid_by_transfer_for_a_cancelled_order_gets_the_money_back(app: Flask, site_id: int, mia: Shopper) -> None:
    location = placed_order(mia)
    with app.app_context(), transaction():
        ben, order_id = Author(site_id, "Ben", ports.clock()), db.session.query(Order.id).scalar()
        note_transfer(ben, order_id)
        cancel(ben, order_id)
    assert "You owe nothing; we transfer back the money that you paid." in mia.get(location).text


def test_a_button_pressed_twice_gives_one_order(app: Flask, mia: Shopper) -> None:
    hidden = dict(HIDDEN.findall(mia.order(**STANDARD_TO_HOME).text))
    first, second = (mia.post("/checkout", CONTACT | hidden) for _ in range(2))
    assert first.location == second.location and len(orders(app)) == 1
