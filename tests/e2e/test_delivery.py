"""An order that is delivered, from the basket to the door: with and without scripts, and as the owner sees it."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.test_following_an_order import sign_in
from tests.e2e.test_purchase import PHONE, add_and_go_to_the_basket, open_a_product
from tests.processes import RunningShop


@pytest.fixture(autouse=True, scope="module")
def _stocked(stocked: None) -> None:
    """Something is bought here."""


@pytest.fixture(params=[True, False], ids=["scripts", "no scripts"])
def shopper(browser: Browser, shop: RunningShop, request: pytest.FixtureRequest) -> Iterator[Page]:
    width, height = PHONE
    context = browser.new_context(
        base_url=shop.address, java_script_enabled=request.param, viewport={"width": width, "height": height}
    )
    context.set_default_timeout(20_000)
    yield context.new_page()
    context.close()


def test_an_order_is_delivered(shopper: Page, page: Page) -> None:
    open_a_product(shopper)
    expect(shopper.get_by_text(re.compile("^Delivery from £3.95|^Free delivery of this product"))).to_be_visible()
    add_and_go_to_the_basket(shopper)
    shopper.get_by_role("link", name="Check out").click()
    expect(shopper.get_by_label("Address line 1")).to_be_hidden()
    shopper.get_by_label("Your name").fill("Robin Reed")
    shopper.get_by_label("Email address").fill("robin@home.test")
    shopper.get_by_label("Next working day").check()
    expect(shopper.get_by_role("button", name=re.compile("Place order"))).to_be_hidden()
    shopper.get_by_label("Address line 1").fill("1 Long Lane")
    shopper.get_by_label("Postcode").fill("12345")
    shopper.get_by_role("button", name="Continue").click()
    expect(shopper.locator("#postcode-error")).to_contain_text("no postcode of the United Kingdom")
    shopper.get_by_label("Town or city").fill("Kendal")
    shopper.get_by_label("Postcode").fill("la94tn")
    shopper.get_by_role("button", name="Continue").click()
    expect(shopper.get_by_role("heading", level=1)).to_have_text("Check your order")
    expect(shopper.locator(".reviewed")).to_contain_text("LA9 4TN")
    shopper.get_by_role("button", name=re.compile("Place order")).click()
    shopper.wait_for_url(re.compile("/order/"))
    expect(shopper.get_by_role("heading", name="How to pay")).to_be_visible()
    number = re.sub(r"\D", "", shopper.get_by_role("heading", level=1).inner_text())
    sign_in(page)
    page.goto(f"/admin/orders?q={number}")
    page.get_by_role("link", name=f"Order {number}", exact=True).click()
    page.get_by_role("button", name="Payment received").click()
    expect(page.get_by_text(f"Order {number} is paid.")).to_be_visible()
    page.get_by_role("button", name="Sent…").click()
    page.get_by_role("dialog").get_by_role("button", name="Sent").click()
    expect(page.get_by_text(f"Order {number} is on its way.")).to_be_visible()
    page.get_by_role("link", name="Packing slip").click()
    expect(page.locator(".slip-address")).to_contain_text("1 Long Lane")
    shopper.reload()
    expect(shopper.get_by_role("heading", level=1)).to_have_text(f"Order {number} is on its way")
