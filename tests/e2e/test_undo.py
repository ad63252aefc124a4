"""Undo in the message of a save, in a real browser: of a product and of a category, saved in place."""

from __future__ import annotations

from playwright.sync_api import Locator, Page, expect

from tests.e2e.test_from_rebuild_to_shop import sign_in
from tests.e2e.test_merchandising_tree import fresh_tree, panel, row
from tests.e2e.test_taxonomy_editor import said


def name(page: Page) -> Locator:
    return page.locator("#f-name")  # Its label has a star as well.


def change_name(page: Page, text: str) -> None:
    """Save another name in place; the message has the focus."""
    name(page).fill(text)
    page.keyboard.press("Control+Enter")
    expect(page.locator("#details-news .note")).to_contain_text("Saved.")
    expect(page.get_by_role("heading", level=1)).to_have_text(text)


def undo(page: Page) -> None:
    """Press Undo by keys, from the message on."""
    page.locator("#details-news").get_by_role("button", name="Undo").press("Enter")


def test_a_product_saved_in_place_is_undone_and_that_in_turn(page: Page) -> None:
    sign_in(page)
    page.goto("/admin/catalogue/products")
    page.get_by_role("table").get_by_role("rowheader").first.get_by_role("link").first.click()
    before = name(page).input_value()
    change_name(page, "A name by mistake")
    undo(page)
    expect(page.locator(".flash")).to_contain_text("Undone: Changed the product A name by mistake.")
    expect(name(page)).to_have_value(before)
    page.locator(".flash").get_by_role("button", name="Undo").click()
    expect(name(page)).to_have_value("A name by mistake")
    page.locator(".flash").get_by_role("button", name="Undo").click()
    expect(name(page)).to_have_value(before)


def test_a_category_is_undone_in_its_editor_and_in_its_tree(page: Page) -> None:
    fresh_tree(page, "Undone", "Spring", "Summer")
    row(page, "Spring").get_by_role("link").click()
    panel(page).get_by_role("button", name="Hide").click()
    said(page, "Hid “Spring” with all below it.")
    page.locator("#said").get_by_role("button", name="Undo").click()
    expect(page.locator(".flash")).to_contain_text("Undone: Hid the category Spring.")
    expect(panel(page).get_by_role("button", name="Hide")).to_be_visible()
    panel(page).get_by_role("link", name="Products, filters and texts").click()
    change_name(page, "Autumn")
    undo(page)
    expect(page.locator(".flash")).to_contain_text("Undone: Changed the category Autumn.")
    expect(name(page)).to_have_value("Spring")
