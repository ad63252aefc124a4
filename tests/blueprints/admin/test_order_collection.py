"""An order on its way to the counter: its packing slip, and that it is ready to collect."""

from __future__ import annotations

from dataclasses import replace

import pytest
from flask import Flask

from app.domain.orders.models import Order, OrderMail
from app.domain.sites.accounts import Role
from app.domain.sites.models import Site
from app.extensions import db
from app.jobs import orders
from app.ports import EXTENSION
from app.transaction import transaction
from tests.blueprints.admin.account_mails import Post
from tests.blueprints.admin.conftest import SignedIn
from tests.factories import make_order, make_product
from tests.page_client import PageClient


@pytest.fixture
def ada(signed_in: SignedIn) -> PageClient:
    return signed_in(Role.ADMIN)


@pytest.fixture
def order_id(app: Flask, site_id: int) -> str:
    with app.app_context(), transaction():
        site = db.session.get_one(Site, site_id)
        order = make_order(site, make_product(site, "KETTLE", name="Kettle <b>"), number=7, note="At noon.")
        order.lines[0].options = {"Size": "Large"}
        return order.id


def text(ada: PageClient, path: str) -> str:
    return ada.client.get(path, base_url=ada.base).text


def test_an_order_is_marked_as_ready_and_its_customer_mailed(app: Flask, ada: PageClient, order_id: str) -> None:
    path = f"/admin/orders/{order_id}"
    ada.get(path)
    assert "Email sam@home.test that it is ready" in text(ada, path)
    ada.post(f"{path}/ready", {"by_email": "on"})
    shown = text(ada, path)
    assert "Order 7 is ready to collect." in shown and "“Ready to collect” on its way" in shown
    assert "Not ready yet" in shown and "Collected and paid" in shown
    with app.app_context():
        assert [(mail.kind, mail.email) for mail in db.session.query(OrderMail)] == [("ready", "sam@home.test")]


def test_staff_read_whether_a_mail_left_this_server(app: Flask, ada: PageClient, order_id: str) -> None:
    path = f"/admin/orders/{order_id}"
    ada.get(path)
    ada.post(f"{path}/ready", {"by_email": "on"})
    with app.app_context():
        assert orders.send_mail(db.session.query(OrderMail).one().id)
    shown = text(ada, path)
    assert "“Ready to collect” kept on this server, not sent" in shown, "mails are files here"
    assert "Order 7 is ready to collect; an email says so (kept on this server, not sent)" in shown
    app.extensions[EXTENSION] = replace(app.extensions[EXTENSION], mailer=Post())
    shown = text(ada, path)
    assert "“Ready to collect” sent" in shown and "kept on this server" not in shown


def test_without_the_tick_no_mail_is_sent(app: Flask, ada: PageClient, order_id: str) -> None:
    ada.get(f"/admin/orders/{order_id}")
    ada.post(f"/admin/orders/{order_id}/ready", {})
    with app.app_context():
        assert db.session.query(OrderMail).count() == 0 and db.session.query(Order).one().is_ready


def test_what_is_ready_has_its_own_list_and_still_awaits_collection(app: Flask, ada: PageClient, order_id: str) -> None:
    assert "Ready to collect" not in text(ada, "/admin/orders")
    ada.get("/admin/orders")
    ada.post(f"/admin/orders/{order_id}/ready", {})
    for status in ("ready", "submitted"):
        shown = text(ada, f"/admin/orders?status={status}")
        assert "Order 7" in shown and "Ready to collect" in shown
    ada.post(f"/admin/orders/{order_id}/not-ready", {})
    assert "is not ready yet" in text(ada, f"/admin/orders/{order_id}")
    assert "Order 7" not in text(ada, "/admin/orders?status=ready")


def test_a_collected_order_is_not_made_ready(app: Flask, ada: PageClient, order_id: str) -> None:
    ada.get(f"/admin/orders/{order_id}")
    ada.post(f"/admin/orders/{order_id}/collect", {})
    ada.post(f"/admin/orders/{order_id}/ready", {"by_email": "on"})
    assert "was collected already" in text(ada, f"/admin/orders/{order_id}")
    with app.app_context():
        assert [mail.kind for mail in db.session.query(OrderMail)] == ["collected"]


def test_a_cancelled_order_is_mailed_where_the_box_is_ticked(app: Flask, ada: PageClient, order_id: str) -> None:
    path = f"/admin/orders/{order_id}"
    ada.get(path)
    assert "Email sam@home.test that it is cancelled" in text(ada, path)
    ada.post(f"{path}/cancel", {"by_email": "on"})
    assert "“Cancelled” on its way" in text(ada, path)
    with app.app_context():
        assert [mail.kind for mail in db.session.query(OrderMail)] == ["cancelled"]


def test_a_packing_slip_says_what_is_packed_for_whom_and_what_is_to_pay(ada: PageClient, order_id: str) -> None:
    ada.get(f"/admin/orders/{order_id}/packing-slip")
    slip = text(ada, f"/admin/orders/{order_id}/packing-slip")
    assert "Packing slip, order 7" in slip and "Sam Sedge" in slip and "At noon." in slip
    assert "Kettle &lt;b&gt;" in slip and "Size: Large" in slip and "To pay:" in slip and "£25.00" in slip
    assert "sam@home.test" not in slip, "paper lies about"


def test_a_basket_or_an_order_of_another_shop_has_no_packing_slip(app: Flask, ada: PageClient, site_id: int) -> None:
    with app.app_context(), transaction():
        basket = make_order(db.session.get_one(Site, site_id), status="OPEN").id
    ada.get("/admin/orders")
    for order_id in (basket, "none"):
        answer = ada.client.get(f"/admin/orders/{order_id}/packing-slip", base_url=ada.base)
        assert answer.status_code == 404
