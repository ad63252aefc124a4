"""Orders that their shoppers follow: looked up by number and email address, and by the link in a mail."""

from __future__ import annotations

import re

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from app import ports
from app.blueprints.storefront import rate_limit
from app.domain.orders.lifecycle import cancel
from app.domain.orders.models import Order
from app.domain.shared.author import Author
from app.domain.sites.accounts import Role
from app.domain.sites.models import Site
from app.extensions import db
from app.transaction import transaction
from app.web.order_links import order_path
from tests.blueprints.storefront.shopper import Shopper
from tests.factories import WHEN, make_agent, make_location, make_order, make_site, make_transaction, make_user
from tests.fakes.clock import StoppedClock
from tests.page_client import check_page

FIND = "/orders/find"


@pytest.fixture
def order_id(app: Flask, site_id: int) -> str:
    with app.app_context(), transaction():
        site = db.session.get_one(Site, site_id)
        return make_order(site, number=1024, note="Ring twice.", contact_phone="020 7946 0000").id


def find(shopper: Shopper, number: str = "1024", email: str = "sam@home.test") -> TestResponse:
    return shopper.post(FIND, {"number": number, "email": email})


def test_the_form_is_linked_from_every_page_and_never_stored(app: Flask, site_id: int) -> None:
    mia = Shopper(app)
    assert f'href="{FIND}"' in mia.get("/").text
    page = mia.get(FIND)
    assert "<h1>Find your order</h1>" in page.text and "csrf_token" not in page.text
    assert page.headers["Cache-Control"] == "no-store" and "noindex" in page.headers["X-Robots-Tag"]


def test_browsers_may_send_their_origin_with_the_form_whatever_it_answered(app: Flask, order_id: str) -> None:
    mia = Shopper(app)
    pages = mia.get(FIND), find(mia, number="twelve"), find(mia, number="7")
    assert [page.headers["Referrer-Policy"] for page in pages] == ["same-origin"] * 3


@pytest.mark.parametrize(
    ("number", "email"),
    [
        ("1024", "sam@home.test"),
        ("#1024", " SAM@Home.test "),
        (" Order 1024 ", "sam@home.test"),
        ("order #1024", "sam@home.test"),
    ],
)
def test_number_and_email_address_lead_to_the_order(app: Flask, order_id: str, number: str, email: str) -> None:
    mia = Shopper(app)
    answer = find(mia, number, email)
    assert answer.status_code == 303 and answer.headers["Cache-Control"] == "no-store"
    page = mia.get(answer.location)
    check_page(page.text)
    assert "Order 1024" in page.text and "Kettle" in page.text and "What happens next" in page.text
    assert page.headers["Referrer-Policy"] == "no-referrer" and "noindex" in page.headers["X-Robots-Tag"]


def test_who_followed_a_link_sees_nothing_that_was_typed(app: Flask, order_id: str) -> None:
    mia = Shopper(app)
    page = mia.get(find(mia).location).text
    for typed in ("Sam", "sam@home.test", "020 7946 0000", "Ring twice."):
        assert typed not in page


def test_a_wrong_address_and_an_unknown_number_have_one_answer(app: Flask, order_id: str) -> None:
    mia = Shopper(app)
    wrong, unknown = find(mia, email="eve@home.test"), find(mia, number="7")
    assert (wrong.status_code, unknown.status_code) == (404, 404)
    assert "No order has this number and this email address." in wrong.text
    assert wrong.text.replace("eve@home.test", "").replace("1024", "") == unknown.text.replace(
        "sam@home.test", ""
    ).replace('value="7"', 'value=""')


def test_a_basket_an_order_without_address_and_one_of_another_shop_are_unknown(app: Flask, site_id: int) -> None:
    with app.app_context(), transaction():
        site = db.session.get_one(Site, site_id)
        make_order(site, status="OPEN", number=1)
        make_order(site, number=2, contact_email="")
        make_order(make_site("other.test"), number=3)
    mia = Shopper(app)
    answers = [find(mia, "1"), find(mia, "2"), find(mia, "3")]
    assert [answer.status_code for answer in answers] == [404, 404, 404]


@pytest.mark.parametrize(
    ("number", "email", "said"),
    [
        ("", "sam@home.test", "Enter the number of your order"),
        ("twelve", "sam@home.test", "Enter the number of your order"),
        ("1024", "sam", "Enter the email address that you gave"),
        ("1024", f"{'s' * 290}@home.test", "Enter the email address that you gave"),
    ],
)
def test_what_is_no_number_or_address_is_said_at_its_field(
    app: Flask, order_id: str, number: str, email: str, said: str
) -> None:
    answer = find(Shopper(app), number, email)
    assert answer.status_code == 400 and said in answer.text and 'aria-invalid="true"' in answer.text


@pytest.mark.parametrize("number", ["twelve", "7"])
def test_the_focus_and_the_title_say_that_nothing_was_found(app: Flask, order_id: str, number: str) -> None:
    mia = Shopper(app)
    assert "autofocus" not in mia.get(FIND).text and "<title>Find your order" in mia.get(FIND).text
    page = find(mia, number).text
    assert page.count('role="alert" tabindex="-1" autofocus') == 1 and "<title>Error: Find your order" in page


def test_nobody_guesses_the_address_of_an_order(app: Flask, order_id: str, clock: StoppedClock) -> None:
    for number in range(rate_limit.OF_NUMBER.most):
        eve = Shopper(app)
        eve.client.environ_base["REMOTE_ADDR"] = f"192.0.{number}.7"
        assert find(eve, email=f"guess{number}@home.test").status_code == 404
    refused = find(Shopper(app))
    assert refused.status_code == 429 and refused.headers["Retry-After"] == "3600"
    assert "Too many orders were looked up. Try again in 60 minutes." in refused.text
    clock.move(hours=1)
    assert find(Shopper(app)).status_code == 303


def test_one_network_alone_keeps_nobody_from_the_orders_of_a_shop(app: Flask, order_id: str) -> None:
    eve = Shopper(app)
    eve.client.environ_base["REMOTE_ADDR"] = "203.0.113.99"
    for number in range(rate_limit.OF_CALLER.most):
        find(eve, str(number + 1))
    answers = [find(eve).status_code for _ in range(rate_limit.OF_NUMBER.most)]
    assert answers == [429] * rate_limit.OF_NUMBER.most
    assert find(Shopper(app)).status_code == 303


def test_orders_that_are_found_do_not_count_for_the_limit_of_their_number(app: Flask, order_id: str) -> None:
    answers = []
    for number in range(rate_limit.OF_NUMBER.most + 1):
        mia = Shopper(app)
        mia.client.environ_base["REMOTE_ADDR"] = f"192.0.{number}.7"
        answers.append(find(mia).status_code)
    assert answers == [303] * (rate_limit.OF_NUMBER.most + 1)


def test_nobody_tries_one_number_after_the_other(app: Flask, order_id: str) -> None:
    eve = Shopper(app)
    answers = [find(eve, str(number)).status_code for number in range(1, rate_limit.OF_CALLER.most + 2)]
    assert answers == [404] * rate_limit.OF_CALLER.most + [429]


def test_a_link_holds_until_the_contact_is_removed_and_on_its_site_alone(app: Flask, order_id: str) -> None:
    mia = Shopper(app)
    path = find(mia).location
    assert mia.get(path[:-1] + ("A" if path[-1] != "A" else "B")).status_code == 404
    with app.app_context():
        other = order_path(7_000, order_id)
        with transaction():
            db.session.get_one(Order, order_id).contact_email = ""
    assert mia.get(other).status_code == 404 and mia.get(path).status_code == 404


def test_the_calendar_file_names_the_day_and_the_place(app: Flask, order_id: str, clock: StoppedClock) -> None:
    mia = Shopper(app)
    path = find(mia).location.replace("/order/", "/orders/") + "/collect.ics"
    file = mia.get(path)
    assert file.headers["Content-Type"] == "text/calendar; charset=utf-8"
    assert 'filename="order-1024.ics"' in file.headers["Content-Disposition"]
    assert "SUMMARY:Collect order 1024 at" in file.text and file.text.endswith("END:VCALENDAR\r\n")
    with app.app_context(), transaction():
        order = db.session.get_one(Order, order_id)
        cancel(Author(order.site_id, "Ben", ports.clock()), order_id)
    assert mia.get(path).status_code == 404
    assert "/collect.ics" not in mia.get(find(mia).location).text


def calendar_of(mia: Shopper, order_page: str) -> tuple[str, str]:
    """The path by which the page of an order links its calendar file, and the file, unfolded."""
    path = re.search(r'href="(/orders/[^"]+/collect\.ics)"', mia.get(order_page).text)
    assert path is not None
    return path[1], mia.get(path[1]).text.replace("\r\n ", "")


def test_the_calendar_of_who_ordered_holds_no_key_to_what_was_typed(app: Flask, site_id: int) -> None:
    mia = Shopper(app)
    mia.add("S-7")
    page = mia.order().location
    token = page.rpartition("/")[2]
    path, file = calendar_of(mia, page)
    assert token not in path and token not in file
    assert token not in mia.get(f"/orders/{token}/collect.ics").text.replace("\r\n ", "")
    url = re.search(r"URL:https?://[^/]+(/order/\S+)", file)
    assert url is not None
    linked = mia.get(url[1])
    assert linked.status_code == 200 and "Mia" not in linked.text and "mia@home.test" not in linked.text


def test_an_order_without_email_address_has_a_calendar_that_names_no_page(app: Flask, site_id: int) -> None:
    mia = Shopper(app)
    mia.add("S-7")
    page = mia.order(email="", phone="020 7946 0000").location
    _, file = calendar_of(mia, page)
    assert "SUMMARY:Collect order" in file and "/order/" not in file and "URL:" not in file


def test_who_ordered_reads_whether_an_email_was_sent(app: Flask, site_id: int) -> None:
    mia = Shopper(app)
    mia.add("S-7")
    page = mia.get(mia.order().location).text
    assert "No email was sent." in page and 'href="/orders/find"' in page, "mails are files here"
    mia.add("S-7")
    assert "since you gave no email address" in mia.get(mia.order(email="", phone="020 7946 0000").location).text


def test_a_refund_is_seen_on_the_page_of_its_order(app: Flask, order_id: str) -> None:
    with app.app_context(), transaction():
        order = db.session.get_one(Order, order_id)
        site = db.session.get_one(Site, order.site_id)
        agent = make_agent(site, make_user(site, Role.POS_AGENT), location := make_location(site))
        paid = {"amount_in_pence": 2_500, "order_id": order_id, "refunded_amount": 2_500}
        make_transaction(agent, location, "REFUNDED", **paid)
        order.status, order.paid_amount, order.paid_at = "CANCELLED", 2_500, WHEN
    mia = Shopper(app)
    page = mia.get(find(mia).location).text
    assert "This order was cancelled. You owe nothing, and what you paid was given back." in page and "Refunded" in page
