"""An order that its shopper follows: placed, looked up elsewhere, ready; and the emails as the owner sees them."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.test_purchase import add_and_go_to_the_basket, open_a_product
from tests.processes import RunningShop


@pytest.fixture(autouse=True, scope="module")
def _stocked(stocked: None) -> None:
    """Something is bought here."""


def place_order(page: Page) -> str:
    """Return the number of a new order."""
    open_a_product(page)
    add_and_go_to_the_basket(page)
    page.goto("/checkout")
    page.get_by_label("Your name").fill("Rowan Reed")
    page.get_by_label("Email address").fill("rowan@home.test")
    page.get_by_role("button", name=re.compile("Place order")).click()
    page.wait_for_url(re.compile("/order/"))
    return re.sub(r"\D", "", page.get_by_role("heading", level=1).inner_text())


def sign_in(page: Page) -> None:
    page.goto("/admin/login")
    page.get_by_label("Email").fill("admin@demo.test")
    page.get_by_label("Password").fill("demo-password-1")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("/admin/?$"))


def test_an_order_is_found_on_a_phone_without_scripts_and_seen_to_be_ready(
    page: Page, browser: Browser, shop: RunningShop
) -> None:
    number = place_order(page)
    phone = browser.new_context(
        base_url=shop.address, java_script_enabled=False, viewport={"width": 390, "height": 844}, accept_downloads=True
    ).new_page()
    phone.goto("/")
    phone.get_by_role("contentinfo").get_by_role("link", name="Find your order").click()
    phone.get_by_label("Order number").fill(number)
    phone.get_by_label("Email address").fill("other@home.test")
    phone.keyboard.press("Enter")
    expect(phone.get_by_role("alert")).to_contain_text("No order has this number and this email address.")
    phone.get_by_label("Email address").fill("rowan@home.test")
    phone.keyboard.press("Enter")
    phone.wait_for_url(re.compile("/order/"))
    expect(phone.get_by_text("Awaiting collection")).to_be_visible()
    expect(phone.get_by_text("Rowan")).to_have_count(0)
    with phone.expect_download() as download:
        phone.get_by_role("link", name="Add to calendar").click()
    assert download.value.suggested_filename == f"order-{number}.ics"
    sign_in(page)
    page.goto(f"/admin/orders?q={number}")
    page.get_by_role("link", name=f"Order {number}").click()
    page.get_by_role("button", name="Ready to collect…").click()
    page.get_by_role("dialog").get_by_role("button", name="Ready to collect").click()
    expect(page.get_by_text(f"Order {number} is ready to collect.")).to_be_visible()
    phone.reload()
    expect(phone.locator(".stock")).to_have_text("Ready to collect")
    phone.context.close()


def test_the_owner_sees_each_email_and_sends_a_test(page: Page) -> None:
    sign_in(page)
    page.goto("/admin/settings/emails")
    page.get_by_role("navigation", name="Emails").get_by_role("link", name=re.compile("^Refund")).click()
    shown = page.frame_locator("iframe")
    expect(shown.get_by_role("heading", name="Refund for order 1024")).to_be_visible()
    page.get_by_text("As plain text").click()
    expect(page.locator("pre")).to_contain_text("See your order:")
    page.get_by_role("button", name="Send a test to admin@demo.test").click()
    expect(page.get_by_text("Written as a file: no mail server is set up.")).to_be_visible()
