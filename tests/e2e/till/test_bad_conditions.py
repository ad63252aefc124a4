"""Payments on a device whose clock is an hour wrong, whose session an admin ends meanwhile, or whose network is slow
and loses a part of what it carries. The books agree with the screen in the end."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.e2e.test_from_rebuild_to_shop import sign_in
from tests.e2e.till.books import Books
from tests.e2e.till.conftest import PASSWORD, PHONE, sign_in_to_till
from tests.e2e.till.selling import (
    CANDLES,
    go,
    hand_over,
    installed,
    is_paid,
    lose_network,
    next_sale,
    order,
    pay_order,
    unlock,
)
from tests.e2e.till.test_card_payments import Payment, sign_in_again
from tests.e2e.till.test_web_server_dies import hold_until_paid
from tests.e2e.till.unreliable_network import network_before
from tests.processes import RunningShop

HOUR = 3_600_000  # Milliseconds.
CLOCK = """
(() => {
  const Right = Date;
  window.wrong = Number(%d);
  window.Date = class extends Right {
    constructor(...given) { super(...(given.length ? given : [Right.now() + window.wrong])); }
    static now() { return Right.now() + window.wrong; }
  };
})();
"""
SLOW = {"offline": False, "latency": 300, "downloadThroughput": 90_000, "uploadThroughput": 40_000}
ANSWERED = re.compile(r"/v1/(pos|basket)")


@pytest.fixture
def books(shop: RunningShop) -> Books:
    return Books(shop)


def agree(books: Books, page: Page) -> None:
    books.check()
    books.check_device(page)


@pytest.mark.parametrize("wrong", [HOUR, -HOUR], ids=["fast", "slow"])
def test_a_clock_an_hour_wrong_changes_no_payment(phone: BrowserContext, books: Books, wrong: int) -> None:
    """It is set during a payment, too: by two hours the other way."""
    phone.add_init_script(CLOCK % wrong)
    page = installed(sign_in_to_till(phone.new_page()))
    payment = Payment(page).begin(76_10)
    page.reload()
    payment = Payment(unlock(page)).waits()
    page.evaluate("window.wrong = -window.wrong")
    payment.hold("visa")
    locked = page.get_by_role("heading", name="Locked")
    expect(locked.or_(page.get_by_role("heading", name="Paid"))).to_be_visible()
    if locked.is_visible():
        unlock(page)
    payment.is_paid()
    payment.next_sale()

    lose_network(page)
    pay_order(page, CANDLES)
    hand_over(page, "£18.00")
    is_paid(page)
    page.evaluate("window.wrong = -window.wrong")
    phone.set_offline(False)
    books.wait_for_log(page)
    books.paid, books.orders_paid = [("CARD", 76_10), ("CASH", 18_00)], 1
    agree(books, page)
    for one in books.payments():
        made = datetime.fromisoformat(one["created_at"]).replace(tzinfo=UTC)
        assert abs(made - datetime.now(UTC)) < timedelta(minutes=3)


def test_a_device_that_is_removed_in_mid_payment_goes_on_after_signing_in(
    till: Page, books: Books, api: Callable[..., dict[str, Any]]
) -> None:
    order(till, CANDLES)
    go(till, "/till/pay")
    till.get_by_role("button", name="Part of the amount").click()
    till.get_by_role("textbox", name="Part to pay now").fill("5")
    till.get_by_role("button", name="Take this part").click()
    till.get_by_role("button", name="Cash", exact=True).click()
    hand_over(till, "£5.00")
    till.get_by_role("button", name="Card", exact=True).click()
    payment = Payment(till).waits()
    for device in api("GET", "/v1/auth/devices")["items"]:
        if not device["current"]:
            api("DELETE", f"/v1/auth/devices/{device['id']}")
    payment.hold("visa")
    expect(till.get_by_text("This session was ended")).to_be_visible()
    sign_in_again(till)
    hold_until_paid(payment)
    books.paid, books.orders_paid = [("CASH", 5_00), ("CARD", 13_00)], 1
    agree(books, till)


@pytest.fixture
def office(browser: Browser, shop: RunningShop) -> Iterator[Page]:
    """The admin's page of the demo agent, who is enabled in the end."""
    with browser.new_context(base_url=shop.address) as context:
        page = context.new_page()
        page.set_default_timeout(20_000)
        sign_in(page, "admin@demo.test")
        page.goto("/admin/pos/agents")
        page.get_by_role("link", name="Agnes Agent").first.click()
        yield page
        if page.get_by_role("button", name="Enable").is_visible():
            page.get_by_role("button", name="Enable").click()


def test_an_agent_who_is_disabled_in_mid_sale_finds_it_again(till: Page, office: Page, books: Books) -> None:
    order(till, CANDLES)
    go(till, "/till/pay")
    office.get_by_role("button", name="Disable", exact=True).click()
    office.get_by_role("button", name="Disable agent").click()
    expect(office.get_by_role("button", name="Enable")).to_be_visible()
    till.get_by_role("button", name="Card", exact=True).click()
    expect(till.get_by_text("This session was ended")).to_be_visible()
    till.get_by_role("textbox", name="E-mail").fill("agent@demo.test")
    till.get_by_role("textbox", name="Password").fill(PASSWORD)
    till.get_by_role("button", name="Sign in").click()
    expect(till.get_by_role("alert").filter(has_text=re.compile("."))).to_be_visible()

    office.get_by_role("button", name="Enable").click()
    expect(office.get_by_role("button", name="Disable", exact=True)).to_be_visible()
    sign_in_again(till)
    till.get_by_role("button", name="Card", exact=True).click()
    payment = Payment(till).waits()
    hold_until_paid(payment)
    books.paid, books.orders_paid = [("CARD", 18_00)], 1
    agree(books, till)


def test_a_slow_network_that_loses_a_fifth_costs_time_and_no_money(
    browser: Browser, shop: RunningShop, books: Books
) -> None:
    chance = random.Random(30)
    with network_before(shop.port) as network:
        context = browser.new_context(base_url=network.address, viewport=PHONE, has_touch=True, is_mobile=True)
        context.set_default_timeout(20_000)
        page = installed(sign_in_to_till(context.new_page()))
        context.new_cdp_session(page).send("Network.emulateNetworkConditions", SLOW)
        network.loses_request = lambda request: bool(ANSWERED.search(request)) and chance.random() < 0.07
        network.loses_answer = lambda request: bool(ANSWERED.search(request)) and chance.random() < 0.13
        payment = Payment(page)
        payment.type_amount(76_20)
        page.get_by_role("button", name="Card", exact=True).click()
        hold_until_paid(payment)
        next_sale(page)
        pay_order(page, CANDLES)
        hand_over(page, "£20.00")
        is_paid(page)
        network.is_good()
        books.wait_for_log(page)
        books.paid, books.orders_paid = [("CARD", 76_20), ("CASH", 18_00)], 1
        agree(books, page)
        context.close()
