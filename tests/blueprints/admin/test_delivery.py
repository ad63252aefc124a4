"""Settings › Delivery: saved, refused, arranged and undone; and orders that are delivered, in the admin."""

from __future__ import annotations

import pytest
from flask import Flask
from sqlalchemy import select

from app.domain.delivery.declaration import COLLECTION_ONLY, Delivery, DeliveryPayment, RateKind
from app.domain.delivery.deliveries import delivery_of
from app.domain.delivery.fields import RateStep
from app.domain.orders.models import Order
from app.domain.sites.accounts import Role
from app.domain.sites.models import AuditEntry, Site
from app.extensions import db
from app.transaction import transaction
from tests.blueprints.admin.conftest import SignedIn
from tests.factories import make_order, make_product
from tests.page_client import PageClient

PATH = "/admin/settings/delivery"
BASE = {
    "collection": "on",
    "weightUnit": "g",
    "defaultWeight": "500",
    "paymentInstructions": "Account 123",
    "revision": "0",
}
POST = {
    "methods/0/name": " Standard  delivery ",
    "methods/0/rate": "flat",
    "methods/0/steps/0/price": "3.95",
    "methods/0/freeFrom": "50",
    "methods/0/countries": "GB",
    "methods/0/days": "2–3 working days",
    "methods/0/payment": "inAdvance",
}
COURIER = {
    "methods/1/name": "Courier",
    "methods/1/rate": "weight",
    "methods/1/steps/0/upTo": "2.5",
    "methods/1/steps/0/price": "8",
    "methods/1/steps/2/upTo": "",
    "methods/1/steps/2/price": "12.50",
    "methods/1/addCountry": "group:European Union",
    "methods/1/payment": "onDelivery",
}


@pytest.fixture
def ada(signed_in: SignedIn) -> PageClient:
    page = signed_in(Role.ADMIN)
    page.get(PATH)
    return page


def stored(app: Flask, site_id: int) -> Delivery:
    with app.app_context():
        return delivery_of(site_id)


def test_methods_are_saved_tidied_and_noted(app: Flask, ada: PageClient, site_id: int) -> None:
    ada.post(PATH, BASE | POST | COURIER)
    saved = stored(app, site_id)
    post, courier = saved.methods
    assert (post.name, post.steps, post.free_from) == ("Standard delivery", (RateStep(None, 395),), 5_000)
    assert (post.countries, post.payment) == (("GB",), DeliveryPayment.IN_ADVANCE)
    assert (courier.rate, courier.steps) == (RateKind.WEIGHT, (RateStep(2_500, 800), RateStep(None, 1_250)))
    assert len(courier.countries) == 27 and courier.free_from is None
    with app.app_context():
        entry = db.session.scalars(select(AuditEntry)).one()
        assert (entry.action, entry.before["method Courier"]) == ("delivery.save", "")
        assert entry.after["method Standard delivery"] == (
            "£3.95, free from £50.00; to the United Kingdom; 2–3 working days; in advance, by bank transfer"
        )
        assert entry.after["method Courier"].startswith("up to 2500 g £8.00, above that £12.50; to the European Union")
    page = ada.get(PATH)
    assert page.value("methods/1/steps/0/upTo") == "2.5" and page.value("methods/0/freeFrom") == "50.00"


def test_saving_what_is_stored_notes_nothing(app: Flask, ada: PageClient) -> None:
    ada.post(PATH, BASE | {"paymentInstructions": ""})
    with app.app_context():
        assert db.session.scalars(select(AuditEntry)).all() == []


@pytest.mark.parametrize(
    ("changes", "fields"),
    [
        ({"methods/0/name": ""}, ["methods-0-name"]),
        ({"methods/0/steps/0/price": "dear"}, ["methods-0-steps-0-price"]),
        ({"methods/0/steps/0/price": ""}, ["methods-0-steps-0-price"]),
        ({"methods/0/countries": ""}, ["methods-0-countries"]),
        ({"methods/0/freeFrom": "-1"}, ["methods-0-freeFrom"]),
        ({"methods/0/days": "x" * 81}, ["methods-0-days"]),
        ({"methods/1/name": "standard delivery"}, ["methods-1-name"]),
        ({"methods/1/steps/0/upTo": "heavy"}, ["methods-1-steps-0-upTo"]),
        ({"methods/1/steps/0/price": "20"}, ["methods-1-steps-1-price"]),
        ({"paymentInstructions": " "}, ["paymentInstructions"]),
        ({"defaultWeight": "0"}, ["defaultWeight"]),
        ({"defaultWeight": "٣"}, ["defaultWeight"]),
        ({"methods/0/name": "", "methods/1/steps/0/upTo": "1e3"}, ["methods-1-steps-0-upTo", "methods-0-name"]),
    ],
)
def test_what_is_wrong_is_named_at_its_field_and_nothing_is_saved(
    app: Flask, ada: PageClient, site_id: int, changes: dict[str, str], fields: list[str]
) -> None:
    page = ada.post(PATH, BASE | POST | COURIER | changes, status=400)
    links = [link["href"] for link in page.all("a") if link.get("href", "").startswith("#f-")]
    assert links == [f"#f-{field}" for field in fields]
    assert stored(app, site_id) == COLLECTION_ONLY


def test_a_shop_offers_collection_or_delivery(app: Flask, ada: PageClient, site_id: int) -> None:
    neither = {name: text for name, text in BASE.items() if name != "collection"}
    page = ada.post(PATH, neither, status=400)
    assert "#f-collection" in [link.get("href") for link in page.all("a")]
    ada.post(PATH, neither | POST)
    assert not stored(app, site_id).collection


@pytest.mark.parametrize("rate", ["pigeon", ""])
def test_a_rate_that_is_none_is_refused(app: Flask, ada: PageClient, site_id: int, rate: str) -> None:
    ada.post(PATH, BASE | POST | {"methods/0/rate": rate}, status=400)
    assert stored(app, site_id) == COLLECTION_ONLY


def test_buttons_change_the_form_alone(app: Flask, ada: PageClient, site_id: int) -> None:
    def names(intent: str) -> list[str]:
        page = ada.post(f"{PATH}/arrange", BASE | POST | COURIER | {"intent": intent}, status=200)
        fields = page.all("input")
        return [f["value"] for f in fields if f.get("name", "").endswith("/name")]

    assert names("down:0") == ["Courier", " Standard  delivery "] == names("up:1")
    assert names("remove:0") == ["Courier"]
    assert names("add") == [" Standard  delivery ", "Courier", ""]
    for intent in ("countries:1", "steps:1", "up:99", "remove:x", ""):
        assert names(intent) == [" Standard  delivery ", "Courier"]
    assert stored(app, site_id) == COLLECTION_ONLY


def test_after_a_button_the_focus_is_where_people_go_on(ada: PageClient) -> None:
    def focused(sent: dict[str, str], intent: str) -> list[str]:
        page = ada.post(f"{PATH}/arrange", BASE | sent | {"intent": intent}, status=200)
        return [attributes.get("id", "") for _, attributes in page.tags if "data-focus" in attributes]

    assert focused(POST, "add") == ["f-methods-1-name"]
    assert focused(POST, "remove:0") == ["add-method-0"]
    assert focused(POST | COURIER, "remove:0") == []


def test_the_last_change_is_undone_and_an_old_page_overwrites_nothing(
    app: Flask, ada: PageClient, site_id: int
) -> None:
    ada.post(PATH, BASE | POST)
    page = ada.post(PATH, BASE | POST | {"methods/0/steps/0/price": "1"}, status=409)
    assert page.value("revision") == "1" and stored(app, site_id).methods[0].least_price == 395
    ada.post(f"{PATH}/undo", {"revision": "1"})
    assert stored(app, site_id) == COLLECTION_ONLY
    ada.post(f"{PATH}/undo", {"revision": "1"})
    assert stored(app, site_id) == COLLECTION_ONLY, "an undo of what is not the last change changes nothing"
    ada.post(f"{PATH}/undo", {"revision": "2"})
    assert stored(app, site_id).methods[0].name == "Standard delivery"


def test_merchandisers_do_not_see_the_page(signed_in: SignedIn) -> None:
    signed_in(Role.MERCHANDISER).get(PATH, status=403)


@pytest.fixture
def order_id(app: Flask, site_id: int) -> str:
    with app.app_context(), transaction():
        site = db.session.get_one(Site, site_id)
        order = make_order(site, make_product(site, "KETTLE", name="Kettle"), number=7)
        order.delivery_method, order.delivery_payment, order.delivery_price = "Standard", "inAdvance", 395
        order.delivery_recipient, order.delivery_line1, order.delivery_country = "Sam Sedge", "1 Long <Lane>", "GB"
        order.delivery_weight, order.total = 2_150, order.total + 395
        return order.id


def text(ada: PageClient, path: str) -> str:
    return ada.client.get(path, base_url=ada.base).text


def test_an_order_is_paid_sent_and_delivered(app: Flask, ada: PageClient, order_id: str) -> None:
    path = f"/admin/orders/{order_id}"
    ada.get(path)
    shown = text(ada, path)
    assert "1 Long &lt;Lane&gt;" in shown and "about 2.15 kg" in shown and "£3.95" in shown
    assert "To be paid" in shown and "To be paid" in text(ada, "/admin/orders")
    assert "Payment received" in shown and "To pay by bank transfer" in shown and "Sent…" not in shown
    ada.post(f"{path}/ready", {})
    assert "is to be paid before it is sent" in text(ada, path)
    ada.post(f"{path}/paid", {})
    shown = text(ada, path)
    assert "Order 7 is paid." in shown and "Sent…" in shown and "Payment not received after all" in shown
    ada.post(f"{path}/ready", {"by_email": "on"})
    shown = text(ada, path)
    assert "Order 7 is on its way." in shown and "“On its way” on its way" in shown and "Delivered" in shown
    ada.post(f"{path}/collect", {})
    with app.app_context():
        order = db.session.get_one(Order, order_id)
        assert (order.status, order.paid_by_transfer) == ("COLLECTED", True)
    assert "Delivered" in text(ada, "/admin/orders")


def test_delivery_that_costs_nothing_is_free(app: Flask, ada: PageClient, order_id: str) -> None:
    with app.app_context(), transaction():
        order = db.session.get_one(Order, order_id)
        order.delivery_price, order.total = 0, order.total - order.delivery_price
    shown = text(ada, f"/admin/orders/{order_id}")
    assert "Delivery: Standard" in shown and '<td class="n">Free</td>' in shown and "£0.00" not in shown


def test_a_cancelled_order_says_that_its_money_is_to_be_transferred_back(ada: PageClient, order_id: str) -> None:
    path = f"/admin/orders/{order_id}"
    ada.get(path)
    ada.post(f"{path}/paid", {})
    assert "delivery included," in text(ada, path)
    ada.post(f"{path}/cancel", {})
    assert "Transfer it back." in text(ada, path)
    ada.post(f"{path}/not-paid", {})
    assert "Transfer it back." not in text(ada, path) and "transferred back" in text(ada, path)


def test_a_packing_slip_has_address_method_and_weight(ada: PageClient, order_id: str) -> None:
    slip = text(ada, f"/admin/orders/{order_id}/packing-slip")
    assert "Sam Sedge<br>1 Long &lt;Lane&gt;<br>United Kingdom" in slip
    assert "Standard" in slip and "about 2.15 kg" in slip


def test_a_packing_slip_keeps_what_is_not_paid_in_the_shop(ada: PageClient, order_id: str) -> None:
    ada.get(path := f"/admin/orders/{order_id}/packing-slip")
    slip = text(ada, path)
    assert "Do not send before it is paid: £28.95 to be transferred" in slip and "To pay:" not in slip
    ada.post(f"/admin/orders/{order_id}/paid", {})
    assert "Do not send" not in text(ada, path)


def test_an_address_abroad_stands_as_its_post_reads_it(app: Flask, ada: PageClient, order_id: str) -> None:
    with app.app_context(), transaction():
        order = db.session.get_one(Order, order_id)
        order.delivery_city, order.delivery_postcode, order.delivery_country = "Berlin", "10115", "DE"
    for path in (f"/admin/orders/{order_id}", f"/admin/orders/{order_id}/packing-slip"):
        assert "<br>10115 Berlin<br>Germany" in text(ada, path)
