"""Orders in the admin."""

from __future__ import annotations

from datetime import timedelta

import pytest
from flask import Flask
from sqlalchemy import event

from app.domain.catalogue.models import Product
from app.domain.orders.models import Order, OrderLine
from app.domain.sites.accounts import Role
from app.domain.sites.models import Site
from app.extensions import db
from app.transaction import transaction
from tests.blueprints.admin.conftest import SignedIn
from tests.factories import make_order, make_product
from tests.fakes.clock import StoppedClock
from tests.page_client import PageClient


@pytest.fixture
def ada(signed_in: SignedIn) -> PageClient:
    return signed_in(Role.ADMIN)


@pytest.fixture
def order_id(app: Flask, site_id: int) -> str:
    """Two kettles that were counted off the stock."""
    with app.app_context(), transaction():
        site = db.session.get_one(Site, site_id)
        order = make_order(site, make_product(site, "KETTLE", name="Kettle", stock=1), number=7, note="At noon.")
        order.lines[0].stock_taken = 2
        return order.id


def page_text(ada: PageClient, path: str) -> str:
    return ada.client.get(path, base_url=ada.base).text


def test_an_order_is_listed_and_shown_with_all_that_matters(ada: PageClient, order_id: str) -> None:
    ada.get("/admin/orders")
    assert "Order 7" in page_text(ada, "/admin/orders") and "Sam Sedge" in page_text(ada, "/admin/orders?q=sedge")
    ada.get(f"/admin/orders/{order_id}")
    text = page_text(ada, f"/admin/orders/{order_id}")
    assert "Kettle" in text and "£25.00" in text and "At noon." in text and "mailto:sam%40home.test" in text
    assert '<img class="thumb" src="/picture/' in text, "a line shows what shoppers saw"


def test_an_order_is_handed_over(app: Flask, ada: PageClient, order_id: str) -> None:
    ada.get(f"/admin/orders/{order_id}")
    ada.post(f"/admin/orders/{order_id}/collect", {})
    text = page_text(ada, f"/admin/orders/{order_id}")
    assert "Order 7 is collected and paid." in text and "The Admin" in text
    assert "Cancel this order" not in text
    ada.post(f"/admin/orders/{order_id}/cancel", {})
    assert "it cannot be cancelled" in page_text(ada, f"/admin/orders/{order_id}")


def test_a_wrong_press_is_taken_back(app: Flask, ada: PageClient, order_id: str) -> None:
    ada.get(f"/admin/orders/{order_id}")
    ada.post(f"/admin/orders/{order_id}/collect", {})
    assert "Back to awaiting collection" in page_text(ada, f"/admin/orders/{order_id}")
    ada.post(f"/admin/orders/{order_id}/reopen", {})
    text = page_text(ada, f"/admin/orders/{order_id}")
    assert (
        "Order 7 is awaiting collection again." in text
        and "Cancel this order" in text
        and "Back to awaiting collection" not in text
    )


def test_what_waits_for_weeks_is_shown_as_overdue(
    app: Flask, ada: PageClient, site_id: int, clock: StoppedClock, order_id: str
) -> None:
    with app.app_context(), transaction():
        db.session.query(Order).one().submitted_at = clock.now() - timedelta(days=13)
    assert "Overdue" not in page_text(ada, "/admin/orders")
    ada.get("/admin/orders?status=overdue")
    assert "Nothing is overdue" in page_text(ada, "/admin/orders?status=overdue")
    with app.app_context(), transaction():
        db.session.query(Order).one().submitted_at = clock.now() - timedelta(days=15)
    ada.get("/admin/orders?status=overdue")
    assert "Order 7" in page_text(ada, "/admin/orders?status=overdue")
    for path in ("/admin/orders", f"/admin/orders/{order_id}"):
        assert "Overdue" in page_text(ada, path)


def test_cancelling_says_what_goes_back_and_does_it_once(app: Flask, ada: PageClient, order_id: str) -> None:
    ada.get(f"/admin/orders/{order_id}")
    assert "2 × Kettle" in page_text(ada, f"/admin/orders/{order_id}")
    for _ in range(2):
        ada.post(f"/admin/orders/{order_id}/cancel", {})
    assert "was cancelled already" in page_text(ada, f"/admin/orders/{order_id}")
    with app.app_context():
        assert db.session.query(Product).one().stock == 3


def test_what_cannot_go_back_is_named(app: Flask, ada: PageClient, order_id: str) -> None:
    with app.app_context(), transaction():
        db.session.query(OrderLine).one().product_id = None
    ada.get(f"/admin/orders/{order_id}")
    ada.post(f"/admin/orders/{order_id}/cancel", {})
    assert "Not counted back into stock" in page_text(ada, f"/admin/orders/{order_id}")


@pytest.mark.parametrize(
    ("address", "result"),
    [
        ("?q=nobody", "No order matches"),
        ("?status=cancelled", "No order is in this state."),
        ("?status=cancelled&q=x", "No order of this state has"),
        ("?p=9", "Nothing on page 9"),
    ],
)
def test_a_list_without_orders_says_why(ada: PageClient, order_id: str, address: str, result: str) -> None:
    ada.get(f"/admin/orders{address}")
    assert result in page_text(ada, f"/admin/orders{address}")


def test_before_the_first_order_the_list_says_what_it_is_for(ada: PageClient) -> None:
    ada.get("/admin/orders")
    assert "No orders yet" in page_text(ada, "/admin/orders")


def test_orders_are_for_admins(signed_in: SignedIn, order_id: str) -> None:
    merchandiser = signed_in(Role.MERCHANDISER)
    merchandiser.get("/admin/orders", 403)
    assert "/admin/orders" not in page_text(merchandiser, "/admin/")


def test_a_name_is_shown_and_not_run(app: Flask, ada: PageClient, order_id: str) -> None:
    with app.app_context(), transaction():
        order = db.session.query(Order).one()
        order.contact_name, order.contact_email = "<img src=x onerror=alert(1)>", "a?b&c=<x>@home.test"
    for path in ("/admin/orders", f"/admin/orders/{order_id}"):
        ada.get(path)
        assert "<img src=x" not in page_text(ada, path)


def test_a_list_takes_the_same_statements_however_long_it_is(app: Flask, ada: PageClient, site_id: int) -> None:
    def statements() -> int:
        seen: list[str] = []

        def note(*call: object) -> None:
            seen.append(str(call[2]))

        with app.app_context():
            event.listen(db.engine, "before_cursor_execute", note)
            page_text(ada, "/admin/orders")
            event.remove(db.engine, "before_cursor_execute", note)
        return len(seen)

    with app.app_context(), transaction():
        make_order(db.session.get_one(Site, site_id))
    few = statements()
    with app.app_context(), transaction():
        for _ in range(30):
            make_order(db.session.get_one(Site, site_id))
    assert statements() == few
