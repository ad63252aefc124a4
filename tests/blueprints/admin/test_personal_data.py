"""An admin looks at what is kept about a person, hands it over and erases it."""

from __future__ import annotations

import json

import pytest
from flask import Flask
from sqlalchemy import select

from app.domain.orders.models import Order
from app.domain.orders.purge import CONTACT_KEPT, CONTACT_KEPT_AT_MOST, UNTOUCHED
from app.domain.pos.purge import ADDRESSES_KEPT
from app.domain.sites.accounts import Role
from app.domain.sites.models import AuditEntry, Site, User
from app.extensions import db
from app.transaction import transaction
from tests.factories import make_agent, make_location, make_order, make_site, make_transaction, make_user
from tests.page_client import PageClient
from tests.statements import statements

PAGE, ERASE, EXPORT = "/admin/personal-data", "/admin/personal-data/erase", "/admin/personal-data/export"
SAM = "sam@home.test"


@pytest.fixture
def admin(signed_in) -> PageClient:
    browser: PageClient = signed_in(Role.ADMIN)
    browser.get(PAGE)
    return browser


def order(app: Flask, status: str = "COLLECTED", **more: object) -> str:
    with app.app_context(), transaction():
        return make_order(db.session.get_one(Site, 1), status=status, **more).id


def test_all_of_a_person_is_shown_with_what_becomes_of_it(app: Flask, admin: PageClient) -> None:
    order(app, contact_phone="0123 456 789")
    admin.post(PAGE, {"who": "Sam@Home.test"}, status=200)
    html = admin.client.post(PAGE, data={"who": SAM, "csrf_token": admin.token}, base_url=admin.base).text
    assert "Orders and baskets" in html
    assert "0123 456 789" in html
    assert "the link to the order page stops working" in html


def test_the_download_is_everything_as_json_and_is_noted(app: Flask, admin: PageClient) -> None:
    order(app)
    sent = {"who": SAM, "csrf_token": admin.token}
    answer = admin.client.post(EXPORT, data=sent, base_url=admin.base)
    assert answer.headers["Content-Disposition"].startswith('attachment; filename="personal-data-')
    assert json.loads(answer.text)["orders"]["records"][0]["contactEmail"] == SAM
    with app.app_context():
        entry = db.session.scalars(select(AuditEntry)).one()
        assert (entry.action, SAM in entry.summary) == ("personal_data.export", False)


def test_erasing_takes_a_typed_confirmation(app: Flask, admin: PageClient) -> None:
    order_id = order(app)
    page = admin.post(ERASE, {"who": SAM, "confirmation": "yes"}, status=400)
    assert "Nothing was erased. Type the text exactly as shown." in page.texts["a"]
    admin.post(ERASE, {"who": SAM, "confirmation": SAM})
    assert "Erased permanently." in admin.client.get(PAGE, base_url=admin.base).text
    with app.app_context():
        assert db.session.get_one(Order, order_id).contact_name == "Erased"


def test_an_order_is_erased_by_its_number(app: Flask, admin: PageClient) -> None:
    order_id = order(app, number=77, contact_email="", contact_phone="0123 456 789")
    admin.post(PAGE, {"who": "77"}, status=200)
    admin.post(ERASE, {"who": "77", "confirmation": "77"})
    with app.app_context():
        assert db.session.get_one(Order, order_id).contact_phone == ""


def test_what_is_open_is_named_with_a_way_there(app: Flask, admin: PageClient) -> None:
    order_id = order(app, "SUBMITTED", number=77)
    page = admin.post(PAGE, {"who": SAM}, status=200)
    assert f"/admin/orders/{order_id}" in [link.get("href") for link in page.all("a")]
    assert not [form for form in page.all("form") if form.get("action") == ERASE]
    page = admin.post(ERASE, {"who": SAM, "confirmation": SAM}, status=409)
    assert "Order 77 is awaiting collection" in page.texts["li"] + page.texts["a"]


@pytest.mark.parametrize(("who", "status"), [("", 400), ("sam", 400), ("no@body.test", 404), ("4711", 404)])
def test_nobody_found_is_said(admin: PageClient, who: str, status: int) -> None:
    for path in (PAGE, EXPORT, ERASE):
        page = admin.post(path, {"who": who, "confirmation": who}, status=status)
        assert page.value("who") == who


def test_a_colleague_is_closed_and_signed_out(app: Flask, admin: PageClient, signed_in) -> None:
    colleague = signed_in(Role.MERCHANDISER)
    colleague.get("/admin/")
    address = "merchandiser@shop.test"
    admin.post(ERASE, {"who": address, "confirmation": address})
    assert colleague.client.get("/admin/", base_url=colleague.base).status_code == 302
    with app.app_context():
        assert not db.session.scalar(select(User.id).where(User.email == address))
    admin.get("/admin/users")
    admin.get("/admin/activity")


@pytest.mark.parametrize(
    ("address", "why"),
    [("admin@shop.test", "You cannot erase yourself"), ("superadmin@shop.test", "only be changed by a superadmin")],
)
def test_nobody_erases_themselves_or_who_stands_above(admin: PageClient, address: str, why: str) -> None:
    page = admin.post(ERASE, {"who": address, "confirmation": address}, status=409)
    assert why in page.texts["li"]


def test_who_works_for_another_shop_too_is_left_to_a_superadmin(app: Flask, admin: PageClient, signed_in) -> None:
    with app.app_context(), transaction():
        elsewhere = make_user(make_site("other.localhost", "Other"), Role.ADMIN, email="oz@shop.test")
        make_agent(db.session.get_one(Site, 1), elsewhere)
    sent = {"who": "oz@shop.test", "confirmation": "oz@shop.test"}
    page = admin.post(ERASE, sent, status=409)
    assert "only a superadmin can erase them" in page.texts["li"]
    above = signed_in(Role.SUPERADMIN)
    above.post(ERASE, sent)


def test_the_page_names_the_days_that_the_purge_uses(admin: PageClient) -> None:
    kept = admin.get(PAGE).texts["li"]
    for days in (CONTACT_KEPT, CONTACT_KEPT_AT_MOST, UNTOUCHED, ADDRESSES_KEPT):
        assert f" {days.days} days" in kept


def test_the_page_asks_little_however_much_is_kept(app: Flask, admin: PageClient) -> None:
    def request_status() -> int:
        with statements(app) as seen:
            admin.post(PAGE, {"who": SAM}, status=200)
        return len(seen)

    order(app)
    few = request_status()
    for _ in range(30):
        order(app)
    assert request_status() == few <= 60


def test_pages_of_erased_people_still_open(app: Flask, admin: PageClient) -> None:
    order_id = order(app)
    with app.app_context(), transaction():
        site = db.session.get_one(Site, 1)
        user = make_user(site, Role.POS_AGENT, email="tom@shop.test", name="Tom Till")
        agent = make_agent(site, user, make_location(site))
        payment = make_transaction(agent, agent.locations[0], "SUCCEEDED", order_id=order_id).id
    for who in (SAM, "tom@shop.test"):
        admin.post(ERASE, {"who": who, "confirmation": who})
    for path in (f"/admin/orders/{order_id}", "/admin/orders", f"/admin/pos/transactions/{payment}", "/admin/users"):
        html = admin.client.get(path, base_url=admin.base).text
        assert "Tom Till" not in html, path
        assert "Sam Sedge" not in html, path
