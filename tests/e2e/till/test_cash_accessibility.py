"""The screens of cash, of sales without a network and of the work session."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.e2e.till.accessibility import expect_no_violations
from tests.e2e.till.selling import (
    CANDLES,
    TEALIGHTS,
    change_of,
    go,
    hand_over,
    is_paid,
    lose_network,
    next_sale,
    order,
    pay_order,
)


def test_no_screen_of_cash_hinders_anybody(till: Page) -> None:
    lose_network(till)
    pay_order(till, CANDLES)
    expect(change_of(till)).to_be_visible()
    expect_no_violations(till)
    hand_over(till, "£18.00")
    is_paid(till)
    expect_no_violations(till)
    next_sale(till)
    go(till, "/till/waiting")
    expect(till.get_by_role("listitem")).to_contain_text("Waiting")
    expect_no_violations(till)
    till.context.set_offline(False)
    expect(till.get_by_role("listitem")).to_contain_text("Sent")

    order(till, TEALIGHTS)
    go(till, "/till/pay")
    till.get_by_role("button", name="Part of the amount").click()
    till.get_by_role("textbox", name="Part to pay now").fill("5")
    till.get_by_role("button", name="Take this part").click()
    till.get_by_role("button", name="Cash", exact=True).click()
    hand_over(till, "£10.00")
    till.get_by_role("button", name="Take back").click()
    expect_no_violations(till)
    till.get_by_role("textbox", name="Reason").fill("A test")
    till.get_by_role("dialog").get_by_role("button", name="Take back £5.00").click()
    expect(till.get_by_role("dialog")).to_be_hidden()

    go(till, "/till/session")
    expect(till.get_by_role("button", name="X report")).to_be_visible()
    expect_no_violations(till)
    till.get_by_role("button", name="X report").click()
    expect(till.get_by_text("Expected")).to_be_visible()
    expect_no_violations(till)
    till.get_by_role("button", name="Close", exact=True).click()
    till.get_by_role("button", name="Close session").click()
    expect(till.get_by_role("dialog", name="Close session")).to_be_visible()
    expect_no_violations(till)
