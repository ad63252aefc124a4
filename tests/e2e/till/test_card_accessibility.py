"""The screens of a card payment, as axe sees them in a bright room and in a dark one."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.e2e.till.test_card_payments import CAPTURE, PRESENT, Payment


def check(page: Page) -> None:
    found = Axe().run(page)
    assert not found.violations_count, found.generate_report()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_screens_of_a_payment_are_accessible(till: Page, scheme: str) -> None:
    till.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    payment = Payment(till)
    payment.type_amount(100_000_000)
    check(till)
    till.get_by_role("link", name="Back").click()
    payment.begin(32_10)
    check(till)
    payment.hold("insufficient")
    expect(payment.status).to_contain_text("Declined")
    check(till)
    till.get_by_role("button", name="Try another card").click()
    payment.waits().hold("pin_required")
    expect(till.get_by_role("textbox", name="PIN on the reader")).to_be_focused()
    check(till)
    till.get_by_role("button", name="Cancel payment").click()
    expect(till.get_by_text("Nothing was charged")).to_be_visible()
    check(till)
    till.get_by_role("button", name="Part of the amount").click()
    check(till)
    till.get_by_role("button", name="Close").click()

    till.get_by_role("button", name="Card", exact=True).click()
    till.route(PRESENT, lambda route: route.abort())
    till.route(CAPTURE, lambda route: route.abort(), times=1)
    payment.waits().hold("visa")
    expect(payment.status).to_contain_text("We don't know yet")
    check(till)
    payment.waits()
    till.unroute(PRESENT)
    payment.hold("visa")
    payment.is_paid()
    expect(till.get_by_role("img", name="Receipt code")).to_be_visible()
    check(till)
