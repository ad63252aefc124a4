"""Orders that are ticked in the list: marked as ready at once, and their packing slips on one page."""

from __future__ import annotations

import re

import pytest
from flask import Flask
from sqlalchemy import select

from app.domain.orders.models import Order
from app.domain.sites.accounts import Role
from app.domain.sites.models import AuditEntry, Site
from app.extensions import db
from app.transaction import transaction
from tests.blueprints.admin.conftest import SignedIn
from tests.factories import make_order, make_product, make_site
from tests.page_client import PageClient

LIST = "/admin/orders?status=submitted"


@pytest.fixture
def ids(app: Flask, site_id: int) -> dict[str, str]:
    """Orders by what they are: two that wait, one cancelled, and one of another shop."""
    with app.app_context(), transaction():
        site = db.session.get_one(Site, site_id)
        made = {
            "first": make_order(site, make_product(site, name="Kettle"), number=1, contact_name="Kit"),
            "second": make_order(site, make_product(site, name="Pot"), number=2, contact_name="Lou"),
            "cancelled": make_order(site, make_product(site, name="Cup"), "CANCELLED", number=3),
            "elsewhere": make_order(make_site("other.test"), number=4),
        }
        return {name: order.id for name, order in made.items()}


def ready_numbers(app: Flask) -> list[int | None]:
    with app.app_context():
        return list(db.session.scalars(select(Order.number).where(Order.ready_at.is_not(None)).order_by(Order.number)))


def post(browser: PageClient, address: str, orders: list[str]) -> str:
    html = browser.client.get("/admin/orders", base_url=browser.base).text
    token = html.partition('name="csrf_token" value="')[2].partition('"')[0]
    sent = {"csrf_token": token, "order": orders}
    return browser.client.post(address, data=sent, base_url=browser.base, follow_redirects=True).text


def test_ticked_orders_are_marked_ready_and_noted_each(app: Flask, ids: dict[str, str], signed_in: SignedIn) -> None:
    page = post(signed_in(Role.ADMIN), "/admin/orders/ready?status=submitted", [ids["first"], ids["second"]])
    assert "2 orders marked ready: 1, 2." in page and ready_numbers(app) == [1, 2]
    with app.app_context():
        noted = select(AuditEntry.subject_id).where(AuditEntry.action == "order.ready")
        assert sorted(db.session.scalars(noted)) == sorted([ids["first"], ids["second"]])


def test_what_cannot_be_done_is_reported_and_leaves_the_others(
    app: Flask, ids: dict[str, str], signed_in: SignedIn
) -> None:
    ada = signed_in(Role.ADMIN)
    post(ada, "/admin/orders/ready", [ids["second"]])
    page = post(ada, "/admin/orders/ready", list(ids.values()))
    assert "1 order marked ready: 1." in page and "Ready already: 2." in page
    assert "2 orders left unchanged." in page and "There is no such order on this site." in page
    assert ready_numbers(app) == [1, 2]


def test_without_scripts_no_second_box_decides_about_the_emails(ids: dict[str, str], signed_in: SignedIn) -> None:
    """What a disabled part of the form holds is not sent; the script enables it as it shows it."""
    html = signed_in(Role.ADMIN).client.get("/admin/orders").text
    hidden = re.search(r"<fieldset [^>]*data-with-selection hidden disabled>.*?</fieldset>", html, re.DOTALL)
    assert hidden and hidden[0].count('name="by_email"') == 1
    plain = html.replace(hidden[0], "")
    assert plain.count('name="by_email"') == 1


def test_their_packing_slips_are_one_page(ids: dict[str, str], signed_in: SignedIn) -> None:
    page = post(signed_in(Role.ADMIN), "/admin/orders/packing-slips", list(ids.values()))
    assert page.count('<section class="slip"') == 2 and "Kettle" in page and "Pot" in page
    assert "Order 3 was cancelled." in page and "1 of the ticked" in page


@pytest.mark.parametrize("address", ["/admin/orders/ready", "/admin/orders/packing-slips"])
@pytest.mark.parametrize(
    ("orders", "message"), [([], "Tick the orders first."), ([str(n) for n in range(101)], "At most 100 orders")]
)
def test_none_and_too_many_are_refused(
    app: Flask, ids: dict[str, str], signed_in: SignedIn, address: str, orders: list[str], message: str
) -> None:
    assert message in post(signed_in(Role.ADMIN), address, orders) and ready_numbers(app) == []


def test_an_order_paid_as_it_was_collected_says_so(app: Flask, site_id: int, signed_in: SignedIn) -> None:
    with app.app_context(), transaction():
        site = db.session.get_one(Site, site_id)
        order = make_order(site, make_product(site), "COLLECTED", number=9).id
    ada = signed_in(Role.ADMIN).client
    assert "Paid on collection" in ada.get("/admin/orders").text
    assert "Paid on collection" in ada.get(f"/admin/orders/{order}").text
