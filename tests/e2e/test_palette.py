"""Find and the keyboard shortcuts, by keyboard alone."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.test_from_rebuild_to_shop import sign_in
from tests.processes import RunningShop


@pytest.fixture(autouse=True, scope="module")
def _stocked(shop: RunningShop, stocked: None) -> None:
    """Every test here looks for what the demo shop has."""


def test_a_product_is_opened_by_keyboard_and_focus_stays_in_the_dialog(page: Page) -> None:
    sign_in(page)
    page.goto("/admin/catalogue/products")
    page.wait_for_load_state("load")
    page.keyboard.press("Control+k")
    dialog = page.get_by_role("dialog", name="Find")
    box = dialog.get_by_role("searchbox")
    expect(box).to_be_focused()
    page.keyboard.type("MUG-01")
    product = dialog.get_by_role("link").first
    expect(product).to_contain_text("MUG-01")
    page.keyboard.press("ArrowDown")
    expect(product).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(box).to_be_focused()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/admin/catalogue/product/\d+$"))


def test_enter_before_the_answer_opens_what_the_typed_words_find(page: Page) -> None:
    sign_in(page)
    page.goto("/admin/orders")
    page.wait_for_load_state("load")
    page.keyboard.press("Control+k")
    expect(page.get_by_role("dialog", name="Find").get_by_role("searchbox")).to_be_focused()
    page.keyboard.type("MUG-01")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/admin/catalogue/product/\d+$"))


def test_escape_closes_the_dialogs_and_gives_focus_back(page: Page) -> None:
    sign_in(page)
    page.goto("/admin/catalogue/products")
    page.wait_for_load_state("load")
    page.keyboard.press("/")
    search = page.locator("main").get_by_role("searchbox").first
    expect(search).to_be_focused()
    page.keyboard.press("Control+k")
    expect(page.get_by_role("dialog", name="Find")).to_be_visible()
    page.keyboard.type("tent")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(search).to_be_focused()
    page.locator("h1").click()
    page.keyboard.press("?")
    keys = page.get_by_role("dialog", name="Keyboard shortcuts")
    expect(keys).to_contain_text("Find a page, a product or another record")
    keys.get_by_role("button", name="Close").click()
    expect(keys).to_have_count(0)
