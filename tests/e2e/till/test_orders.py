"""Orders at the till: found, scanned and browsed for, parked and resumed, checked by the shop, charged."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, Route, expect

from tests.e2e.till.measuring import scroll_all_products, store_products
from tests.e2e.till.signing_in import PASSWORD, PIN, sign_in_to_till
from tests.e2e.till.test_cash import TAP_TWICE
from tests.e2e.till.test_unlock import type_pin
from tests.processes import RunningShop
from tests.waiting import until

TUMBLERS, MUG, CLOG_IN_RUST_5 = "2946442800489", "2960754448870", "2923623661015"
KEYS = """
(keys) => keys.forEach((key) => document.activeElement.dispatchEvent(
  new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true })))
"""
IS_LOADED = """
async () => {
  const opened = indexedDB.open("till");
  const db = await new Promise((resolve) => { opened.onsuccess = () => resolve(opened.result); });
  const reading = db.transaction("catalogue").objectStore("catalogue").get("loaded");
  const loaded = await new Promise((resolve) => { reading.onsuccess = () => resolve(reading.result); });
  db.close();
  return Boolean(loaded?.at);
}
"""


@pytest.fixture(autouse=True)
def _stocked(stocked: None) -> None:
    """Products can be searched."""


@pytest.fixture
def order(till: Page) -> Page:
    """An empty order."""
    till.get_by_role("button", name="New order").click()
    expect(till.get_by_role("searchbox", name="Find a product")).to_be_visible()
    return till


def find(page: Page, words: str, product: str) -> Locator:
    page.get_by_role("searchbox", name="Find a product").fill(words)
    return page.get_by_role("list", name="Products found").get_by_role("button", name=product)


def line(page: Page, product: str) -> Locator:
    return page.get_by_role("list", name="Order").get_by_role("listitem", name=product)


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def scan(page: Page, code: str) -> None:
    """As a scanner types: a burst, and Enter. Keys of the driver come as slowly as a busy machine sends them."""
    page.evaluate(KEYS, [*code, "Enter"])


def expect_total(page: Page, amount: str) -> None:
    foot = page.get_by_role("contentinfo")
    expect(foot.get_by_text(amount, exact=True)).to_be_visible()
    expect(foot.get_by_text("not checked yet")).to_be_hidden()


def expect_payment(page: Page) -> None:
    expect(page.get_by_role("heading", name="Take payment")).to_be_visible()


def test_an_order_is_built_parked_resumed_and_charged(order: Page) -> None:
    find(order, "enamel tum", "Enamel tumbler set").click()
    expect(order.get_by_role("heading", name="Order")).to_be_focused()
    tumblers = line(order, "Enamel tumbler set")
    tumblers.get_by_role("button", name="More").click()
    expect(order.get_by_text("2 × Enamel tumbler set, total £64.00")).to_be_attached()
    expect(tumblers.get_by_role("button", name="More")).to_be_focused()
    find(order, "clog", "Clog").click()
    order.get_by_role("radio", name="Rust").check()
    press(order, "Add to the order")
    expect(order.get_by_role("alert").filter(has_text="Choose size.")).to_be_visible()
    order.get_by_role("radio", name="6", exact=True).check()
    order.get_by_role("textbox", name="Quantity").last.fill("3")
    press(order, "Add to the order")
    expect(line(order, "Clog")).to_contain_text("Colour: Rust, Size: 6")
    expect_total(order, "£181.00")
    line(order, "Clog").get_by_role("button", name="Fewer").click()
    expect_total(order, "£142.00")

    press(order, "Park")
    expect(order.get_by_role("list", name="Sections")).to_be_visible()
    expect(order.get_by_role("heading", name="Order")).to_be_focused()
    order.get_by_role("button", name="Parked orders").click()
    parked = order.get_by_role("listitem", name="Enamel tumbler set and 1 more")
    expect(parked).to_contain_text("£142.00")
    parked.get_by_role("button", name="Name").click()
    order.get_by_role("textbox", name="Name").fill("Blue coat")
    press(order, "Save")
    order.get_by_role("listitem", name="Blue coat").get_by_role("button", name="Resume").click()
    tumblers.get_by_role("button", name="Remove").click()
    expect(tumblers).to_be_hidden()
    expect(line(order, "Clog").get_by_role("button", name="Remove")).to_be_focused()
    expect_total(order, "£78.00")
    press(order, "Charge")
    expect_payment(order)


def test_a_scanned_code_that_nobody_knows_keeps_the_order_from_being_charged(order: Page) -> None:
    scan(order, TUMBLERS)
    expect(line(order, "Enamel tumbler set")).to_be_visible()
    scan(order, CLOG_IN_RUST_5)
    expect(line(order, "Clog")).to_contain_text("Colour: Rust, Size: 5")
    scan(order, MUG)
    order.get_by_role("radio").first.check()
    press(order, "Add to the order")
    expect(line(order, "Enamel camp mug")).to_be_visible()

    order.get_by_role("button", name="Scan a barcode").click()
    order.get_by_role("textbox", name="Barcode").fill("1234567890128")
    press(order, "Add")
    press(order, "Close")
    unknown = line(order, "Code 1234567890128")
    expect(unknown).to_contain_text("The shop sells nothing under this code.")
    press(order, "Charge")
    expect(order.get_by_role("alert").filter(has_text="Find or remove the code 1234567890128")).to_be_visible()

    order.reload()
    type_pin(order, PIN)
    unknown.get_by_role("button", name="Find it").click()
    expect(order.get_by_text("Choose the product with the code")).to_be_visible()
    find(order, "ash crook", "Ash crook").click()
    expect(unknown).to_be_hidden()
    expect(line(order, "Ash crook")).to_be_visible()
    expect_total(order, "£175.00")
    press(order, "Charge")
    expect_payment(order)


def test_what_is_sold_out_is_not_added_and_what_runs_short_is_said_at_its_line(order: Page) -> None:
    griddle = find(order, "camp griddle", "Camp griddle")
    expect(griddle).to_contain_text("Sold out")
    expect(griddle).to_be_disabled()
    crook = find(order, "ash crook", "Ash crook")
    expect(crook).to_contain_text("1 left")
    crook.click()
    expect_total(order, "£95.00")
    line(order, "Ash crook").get_by_role("button", name="More").click()
    expect(line(order, "Ash crook").get_by_role("alert")).to_contain_text("Only 1 of Ash crook")
    press(order, "Charge")
    expect(order.get_by_role("contentinfo").get_by_role("alert")).to_contain_text("Only 1 of Ash crook")
    line(order, "Ash crook").get_by_role("button", name="Fewer").click()
    expect_total(order, "£95.00")
    expect(line(order, "Ash crook").get_by_role("alert")).to_be_hidden()
    press(order, "Charge")
    expect_payment(order)


def test_an_answer_that_comes_after_other_words_were_typed_shows_nothing(order: Page) -> None:
    suggestions = re.compile(r"/v1/product/suggest\?q=ash")
    answered = order.request.get("/v1/product/suggest?q=ash").json()
    assert answered["products"]
    held: list[Route] = []
    order.route(suggestions, lambda route: held.append(route))
    with order.expect_request(suggestions):
        find(order, "ash", "Ash crook")
    clog = find(order, "clog", "Clog")
    expect(clog).to_be_visible()
    held[0].fulfill(json=answered)
    order.evaluate("new Promise(requestAnimationFrame)")
    expect(order.get_by_role("list", name="Products found").get_by_role("button", name="Ash crook")).to_be_hidden()
    expect(clog).to_be_visible()


def test_orders_are_built_without_a_network_and_checked_when_it_is_back(
    order: Page, set_price: Callable[[str, str], None]
) -> None:
    until(lambda: bool(order.evaluate(IS_LOADED)))
    order.context.set_offline(True)
    find(order, "CREPE", "Crêpe pan").click()
    find(order, "map lakes", "Fell map: Northern Lakes").click()
    expect(order.get_by_text(re.compile(r"Prices as of \d\d:\d\d; checked again before paying\."))).to_be_visible()
    expect(order.get_by_text("not checked yet")).to_be_visible()
    press(order, "Park")
    order.get_by_role("button", name="All products").click()
    expect(order.get_by_role("list", name="All products").get_by_role("button").nth(250)).to_be_attached()
    order.get_by_role("button", name="Parked orders").click()
    order.get_by_role("listitem", name="Crêpe pan and 1 more").get_by_role("button", name="Resume").click()
    expect(line(order, "Crêpe pan")).to_be_visible()

    set_price("MAP-04", "10.95")
    order.context.set_offline(False)
    expect(line(order, "Fell map: Northern Lakes")).to_contain_text("was £9.95")
    expect_total(order, "£55.95")
    press(order, "Charge")
    changed = order.get_by_role("dialog", name="Prices changed")
    expect(changed).to_contain_text("£10.95")
    press(order, "Use the new prices")
    expect_payment(order)
    order.go_back()
    expect(line(order, "Fell map: Northern Lakes")).to_be_visible()
    expect(order.get_by_text("was £9.95")).to_be_hidden()


@pytest.fixture
def set_price(shop: RunningShop, browser: Browser) -> Callable[[str, str], None]:
    """Change a product's price in the admin."""

    def set_price(sku: str, price: str) -> None:
        context = browser.new_context(base_url=shop.address)
        page = context.new_page()
        page.goto("/admin/login")
        page.get_by_label("Email").fill("admin@demo.test")
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Sign in").click()
        product = f"/v1/product/{sku}"
        page.goto(f"/admin/catalogue/product/{page.request.get(product).json()['id']}")
        page.locator("#f-price").fill(price)
        page.get_by_role("button", name="Save", exact=True).click()
        until(lambda: f"{page.request.get(product).json()['price'] / 100:.2f}" == price)
        context.close()

    return set_price


def test_a_discount_is_taken_off_by_the_shop_and_never_more_than_the_goods(order: Page) -> None:
    find(order, "enamel tum", "Enamel tumbler set").click()
    expect_total(order, "£32.00")
    press(order, "Discount")
    field = order.get_by_role("textbox", name="Discount")
    expect(field).to_be_focused()
    field.fill("40")
    press(order, "Apply")
    expect(field).to_have_accessible_description(re.compile("a discount cannot be more"))
    expect(field).to_be_focused()
    field.fill("2.50")
    press(order, "Apply")
    expect(order.get_by_role("button", name="Discount")).to_be_focused()
    expect(order.get_by_text("−£2.50")).to_be_visible()
    expect_total(order, "£29.50")
    order.context.set_offline(True)
    line(order, "Enamel tumbler set").get_by_role("button", name="More").click()
    expect(order.get_by_text("not checked yet")).to_be_visible()
    expect(order.get_by_role("contentinfo").get_by_text("£61.50", exact=True)).to_be_visible()
    order.context.set_offline(False)
    expect_total(order, "£61.50")
    press(order, "Discard the order")
    press(order, "Discard")
    expect_total(order, "£0.00")


def test_a_variant_is_added_once_however_often_it_is_pressed(order: Page) -> None:
    find(order, "clog", "Clog").click()
    order.get_by_role("radio", name="Rust").check()
    order.get_by_role("radio", name="6", exact=True).check()
    order.get_by_role("button", name="Add to the order").evaluate(TAP_TWICE)
    expect(order.get_by_role("dialog")).to_be_hidden()
    expect_total(order, "£39.00")
    expect(line(order, "Clog").get_by_role("textbox", name="Quantity")).to_have_value("1")


def test_categories_are_browsed_and_several_products_added_from_one(order: Page) -> None:
    for section in ("Outdoor", "Camping", "Tents"):
        press_section(order, section)
    tents = order.get_by_role("list", name="Tents")
    tents.get_by_role("button", name="Copse tarp").click()
    expect(line(order, "Copse tarp 3 × 3")).to_be_visible()
    press(order, "Browse")
    tents.get_by_role("button", name="Coffin Ultralight").click()
    expect(tents).to_be_visible()
    expect_total(order, "£388.00")


def press_section(page: Page, name: str) -> None:
    page.get_by_role("button", name=re.compile(rf"^{name}\b")).first.click()


def test_a_thousand_products_scroll_smoothly(phone: BrowserContext) -> None:
    """The bound is lenient, for busy machines; measuring.py says more."""
    page = phone.new_page()
    page.goto("/till")
    store_products(page, 1_000)
    scrolled = scroll_all_products(sign_in_to_till(page), 1_000, pixels=240)
    assert scrolled.processor_of_a_frame < 40, scrolled
