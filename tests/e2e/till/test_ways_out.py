"""Payments that are not final, and sales that the shop refuses to finish, keep nobody from the rest of the till, and
lead nobody away from what they look at."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from playwright.sync_api import Locator, Page, expect

from tests.e2e.till.selling import (
    CANDLES,
    CASH,
    cash_of,
    go,
    hand_over,
    in_app,
    is_paid,
    lose_answers,
    pay_order,
    quick_payment,
    unlock,
)
from tests.e2e.till.test_card_payments import CAPTURE, CREATE, PRESENT, Payment

Api = Callable[..., dict[str, Any]]
SUBMIT = re.compile(r"/v1/basket/[^/]+/submit$")
COME_BACK = 'document.dispatchEvent(new Event("visibilitychange")); dispatchEvent(new Event("online"));'


def way_to_sale(page: Page) -> Locator:
    return page.get_by_role("complementary", name="Sale under way")


def link(page: Page, name: str) -> None:
    page.get_by_role("link", name=name).click()


def shows(page: Page, heading: str) -> None:
    expect(page.get_by_role("heading", name=heading, exact=True)).to_be_visible()


def test_while_a_card_is_not_known_the_rest_of_the_till_is_open(till: Page) -> None:
    till.route(CREATE, lambda route: route.abort())
    payment = Payment(till)
    payment.type_amount(51_10)
    till.get_by_role("button", name="Card", exact=True).click()
    expect(payment.status).to_contain_text("We don't know yet")
    link(till, "Back")
    expect(till.get_by_text("A payment is not final yet.")).to_be_visible()
    expect(till.get_by_role("button", name="Quick payment")).to_be_disabled()
    link(till, "Transactions")
    expect(way_to_sale(till)).to_contain_text("A payment is not final yet.")
    till.evaluate(COME_BACK)
    in_app(till, "payments.js", "await module.resumePayment({ leads: false });")
    shows(till, "Transactions")

    in_app(till, "session.js", "module.lock()")
    unlock(till)
    shows(till, "Take payment")
    link(till, "Back")
    link(till, "Help")
    till.unroute_all(behavior="ignoreErrors")
    till.evaluate(COME_BACK)
    link(till, "Go on with the sale")
    payment.waits().hold("visa")
    payment.is_paid()


def test_a_card_that_pays_while_the_agent_reads_something_leads_them_nowhere(till: Page) -> None:
    payment = Payment(till).begin(51_20)
    till.route(PRESENT, lambda route: (route.fetch(), route.abort()), times=1)
    till.route(CAPTURE, lambda route: route.abort())
    payment.hold("visa")
    expect(payment.status).to_contain_text("We don't know yet")
    link(till, "Back")
    link(till, "Help")
    till.unroute_all(behavior="ignoreErrors")
    till.evaluate(COME_BACK)
    expect(way_to_sale(till)).to_contain_text("The sale is paid.")
    shows(till, "Help")
    link(till, "Go on with the sale")
    payment.is_paid()


def test_while_cash_is_not_known_the_rest_of_the_till_is_open(till: Page, api: Api) -> None:
    lose_answers(till, CASH, times=None)
    quick_payment(till, 51_30)
    hand_over(till, "£51.30")
    shows(till, "We don't know yet")
    link(till, "Back")
    expect(till.get_by_role("button", name="Quick payment")).to_be_disabled()
    link(till, "Session")
    expect(way_to_sale(till)).to_contain_text("A payment is not final yet.")
    till.unroute_all(behavior="ignoreErrors")
    till.evaluate(COME_BACK)
    expect(way_to_sale(till)).to_contain_text("The sale is paid.")
    shows(till, "Session")
    link(till, "Go on with the sale")
    is_paid(till)
    assert cash_of(api, 51_30) == ["SUCCEEDED"]


def test_a_paid_sale_that_the_shop_refuses_is_set_aside_until_staff_have_looked(till: Page) -> None:
    refusal = {"status": 409, "code": "amount_mismatch", "detail": "Staff of the shop must look at it."}
    till.route(SUBMIT, lambda route: route.fulfill(status=409, json=refusal))
    pay_order(till, CANDLES)
    hand_over(till, "£18.00")
    expect(till.get_by_role("alert").filter(has_text="Staff of the shop must look at it.")).to_be_visible()
    link(till, "Back")
    link(till, "Go on with the sale")
    expect(till.get_by_role("link", name="Transactions")).to_be_visible()
    till.get_by_role("button", name="Set it aside").click()
    expect(till.get_by_text("The sale is under Parked orders.")).to_be_visible()
    expect(till.get_by_role("button", name="Quick payment")).to_be_enabled()

    go(till, "/till/session")
    till.get_by_role("button", name="Close session").click()
    expect(till.get_by_role("dialog").get_by_text("A sale is paid in part, maybe a parked one.")).to_be_visible()
    till.keyboard.press("Escape")
    till.unroute_all(behavior="ignoreErrors")
    go(till, "/till/parked")
    till.get_by_role("button", name="Resume").click()
    is_paid(till)
