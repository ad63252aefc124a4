"""No screen of the till hinders anybody: those that the tests of cards, cash and what is around the sale do not see."""

from __future__ import annotations

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.e2e.till.accessibility import expect_no_violations
from tests.e2e.till.selling import CANDLES, go, in_app, order
from tests.e2e.till.signing_in import PASSWORD, set_up_pin
from tests.e2e.till.test_unlock import authenticator, expect_heading, type_pin

LONG_NAME = "Waxed cotton jacket with a removable lining for unforeseeablythunderstormyafternoons"
DEAR = {"skuCode": "CANDLE-05", "name": LONG_NAME, "unitPrice": 999_999_99}
TWO_PLACES = """module.update({ phase: "location", locations: ["Market stall", argument].map((displayName, id) =>
  ({ id, displayName, address: { line1: "1 Long Acre", city: "Kendal" } })) })"""

POST = """() => {
  const form = Object.assign(document.createElement("form"), { method: "post", action: "/till" });
  document.body.append(form);
  form.submit();
}"""


@pytest.fixture(autouse=True)
def _stocked(stocked: None) -> None:
    """Products can be searched."""


def test_signing_in_unlocking_and_choosing_a_place_hinder_nobody(phone: BrowserContext) -> None:
    page = phone.new_page()
    page.goto("/till")
    expect(page.get_by_text("Till of Demo shop")).to_be_visible()
    expect_no_violations(page)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_text("Enter your password.")).to_be_visible()
    expect_no_violations(page)
    with authenticator(page, has_secret=True):
        page.get_by_role("textbox", name="E-mail").fill("agent@demo.test")
        page.get_by_role("textbox", name="Password").fill(PASSWORD)
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_role("button", name="Use fingerprint or face")).to_be_visible()
        page.get_by_role("button", name="Save PIN").click()
        expect(page.get_by_text("4 to 6 digits").last).to_be_visible()
        expect_no_violations(page)
        set_up_pin(page)
        expect_heading(page, "Market stall")
        page.reload()
        expect_heading(page, "Locked")
        type_pin(page, "9999")
        expect(page.get_by_role("alert").first).to_contain_text("attempts left")
        expect_no_violations(page)
    in_app(page, "state.js", TWO_PLACES, LONG_NAME)
    expect(page.get_by_role("button", name=LONG_NAME)).to_be_visible()
    expect_no_violations(page)


def test_starting_and_building_an_order_hinder_nobody(till: Page) -> None:
    expect_no_violations(till)
    till.get_by_role("button", name="New order").click()
    sections = till.get_by_role("list", name="Sections").get_by_role("button")
    expect(sections.first).to_be_visible()
    expect_no_violations(till)
    sections.nth(1).click()
    expect(till.get_by_role("list", name="Outdoor").get_by_role("button").first).to_be_visible()
    expect_no_violations(till)
    till.get_by_role("searchbox", name="Find a product").fill("jacket")
    till.get_by_role("list", name="Products found").get_by_role("button").first.click()
    choosing = till.get_by_role("dialog")
    choosing.get_by_role("button", name="Add to the order").click()
    expect(choosing.get_by_text("Choose colour")).to_be_visible()
    expect_no_violations(till)
    till.keyboard.press("Escape")
    till.get_by_role("button", name="Scan a barcode").click()
    till.get_by_role("textbox", name="Barcode").fill("12345678")
    till.get_by_role("button", name="Add", exact=True).click()
    expect(till.get_by_role("dialog").get_by_text("Nothing is sold under")).to_be_visible()
    expect_no_violations(till)
    till.keyboard.press("Escape")
    till.get_by_role("searchbox", name="Find a product").fill("")
    till.get_by_role("button", name="Charge").click()
    expect(till.get_by_text("Find or remove the code")).to_be_visible()
    expect_no_violations(till)
    for name in ("Discount", "Discard the order"):
        till.get_by_role("button", name=name).click()
        expect(till.get_by_role("dialog")).to_be_visible()
        expect_no_violations(till)
        till.keyboard.press("Escape")


def test_parked_orders_empty_lists_and_long_sums_hinder_nobody(till: Page) -> None:
    go(till, "/till/parked")
    expect(till.get_by_text("No order is parked.")).to_be_visible()
    expect_no_violations(till)
    go(till, "/till/waiting")
    expect(till.get_by_text("No sales are waiting.")).to_be_visible()
    expect_no_violations(till)
    till.context.set_offline(True)  # Prices and names are as they were put in.
    order(till, DEAR)
    go(till, "/till/order")
    expect(till.get_by_role("listitem", name=LONG_NAME)).to_be_visible()
    expect_no_violations(till)
    go(till, "/till/pay")
    expect(till.get_by_text("£999,999.99").first).to_be_visible()
    expect_no_violations(till)
    go(till, "/till/order")
    till.get_by_role("button", name="Park", exact=True).click()
    till.get_by_role("button", name="Parked orders").click()
    till.get_by_role("button", name="Name", exact=True).click()
    expect_no_violations(till)
    till.keyboard.press("Escape")
    expect(till.get_by_role("button", name="Resume")).to_be_visible()
    expect_no_violations(till)


def test_the_display_the_z_report_and_errors_hinder_nobody(till: Page) -> None:
    display = till.context.new_page()
    display.goto("/till/display")
    expect_no_violations(display)
    order(till, CANDLES)
    expect(display.get_by_text("To pay")).to_be_visible()
    expect_no_violations(display)
    display.evaluate(POST)  # No page of the till takes one.
    expect(display.get_by_role("link", name="Open the till")).to_be_visible()
    expect_no_violations(display)
    sale = in_app(till, "state.js", "return module.app().sale.id;")
    in_app(till, "sale.js", "await module.endSale(argument);", sale)
    till.get_by_role("link", name="Session").click()
    till.get_by_role("button", name="Close session").click()
    dialog = till.get_by_role("dialog")
    dialog.get_by_label("£20", exact=True).fill("1")
    dialog.get_by_role("button", name="Close session").click()
    expect_heading(till, "Z report")
    expect_no_violations(till)
