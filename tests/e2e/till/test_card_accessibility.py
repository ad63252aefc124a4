"""The screens of a card payment hinder nobody."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.e2e.till.accessibility import expect_no_violations
from tests.e2e.till.test_card_payments import CAPTURE, PRESENT, Payment


def test_the_screens_of_a_payment_are_accessible(till: Page) -> None:
    payment = Payment(till)
    payment.type_amount(100_000_000)
    expect_no_violations(till)
    till.get_by_role("link", name="Back").click()
    payment.begin(32_10)
    expect_no_violations(till)
    payment.hold("insufficient")
    expect(payment.status).to_contain_text("Declined")
    expect_no_violations(till)
    till.get_by_role("button", name="Try another card").click()
    payment.waits().hold("pin_required")
    expect(till.get_by_role("textbox", name="PIN on the reader")).to_be_focused()
    expect_no_violations(till)
    till.get_by_role("button", name="Cancel payment").click()
    expect(till.get_by_text("Nothing was charged")).to_be_visible()
    expect_no_violations(till)
    till.get_by_role("button", name="Part of the amount").click()
    expect_no_violations(till)
    till.get_by_role("button", name="Close").click()

    till.get_by_role("button", name="Card", exact=True).click()
    till.route(PRESENT, lambda route: route.abort())
    till.route(CAPTURE, lambda route: route.abort(), times=1)
    payment.waits().hold("visa")
    expect(payment.status).to_contain_text("We don't know yet")
    expect_no_violations(till)
    payment.waits()
    till.unroute(PRESENT)
    payment.hold("visa")
    payment.is_paid()
    expect(till.get_by_role("img", name="Receipt code")).to_be_visible()
    expect_no_violations(till)
