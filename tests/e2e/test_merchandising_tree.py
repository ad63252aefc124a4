"""The tree of categories in a real browser: by keys and by dragging."""

from __future__ import annotations

import time

from playwright.sync_api import Locator, Page, expect

from tests.e2e.test_from_rebuild_to_shop import SECONDS_UNTIL_FOUND, sign_in
from tests.e2e.test_taxonomy_editor import item, names, row, said


def fresh_tree(page: Page, name: str, *categories: str) -> None:
    sign_in(page)
    page.goto("/admin/merchandising/new")
    page.get_by_role("textbox", name="Name").fill(name)
    page.get_by_role("button", name="Add tree").click()
    expect(page.get_by_label("Find a category")).to_be_visible()
    page.get_by_label("Names, one category a line").fill("\n".join(categories))
    page.get_by_role("button", name="Add", exact=True).click()
    said(page, f"Added {len(categories)} categories.")


def shop_tree(page: Page) -> None:
    """The tree that shoppers browse, once its scripts are there."""
    sign_in(page)
    page.goto("/admin/merchandising")
    page.get_by_role("row").filter(has_text="Primary").get_by_role("link").first.click()
    expect(page.get_by_label("Find a category")).to_be_visible()


def panel(page: Page) -> Locator:
    return page.locator("#panel")


def test_categories_are_added_moved_renamed_and_deleted_by_keys_and_dragging(page: Page) -> None:
    fresh_tree(page, "Winter", "Tents", "Stoves", "Lamps")
    expect(item(page, "Lamps")).to_be_focused()
    page.keyboard.press("Alt+ArrowUp")
    said(page, "Moved “Lamps”.")
    assert names(page) == ["Tents", "Lamps", "Stoves"]
    expect(item(page, "Lamps")).to_be_focused()
    page.keyboard.press("Alt+ArrowRight")
    expect(page.locator("#tree ul")).to_have_count(1)
    expect(item(page, "Lamps")).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(item(page, "Tents")).to_be_focused()
    assert names(page) == ["Tents", ".Lamps", "Stoves"]
    expect(panel(page).get_by_role("heading")).to_have_text("Tents")

    row(page, "Stoves").drag_to(row(page, "Tents"))
    said(page, "Moved “Stoves”.")
    assert names(page) == ["Tents", ".Lamps", ".Stoves"]
    page.keyboard.press("n")
    page.keyboard.type("Gas")
    panel(page).get_by_role("button", name="Add", exact=True).click()
    said(page, "Added “Gas”.")
    expect(item(page, "Gas")).to_be_focused()
    assert names(page) == ["Tents", ".Lamps", ".Stoves", "..Gas"]
    page.keyboard.press("F2")
    page.keyboard.type("Fuel")
    page.keyboard.press("Enter")
    said(page, "Renamed to “Fuel”; its address stays.")
    expect(item(page, "Fuel")).to_be_focused()
    page.keyboard.press("m")
    page.get_by_label("Find the category to move it to").fill("tents lam")
    page.get_by_role("dialog").get_by_role("button", name="Lamps").click()
    said(page, "Moved “Fuel”.")
    assert names(page) == ["Tents", ".Lamps", "..Fuel", ".Stoves"]
    row(page, "Lamps").get_by_role("link").click()
    page.keyboard.press("Delete")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("1 category below it")
    dialog.get_by_role("button", name="Delete category").click()
    said(page, "Deleted “Lamps”.")
    expect(item(page, "Tents")).to_be_focused()
    assert names(page) == ["Tents", ".Stoves"]


def test_a_move_in_the_shop_says_which_addresses_change(page: Page) -> None:
    shop_tree(page)
    row(page, "Walking").get_by_role("link").click()
    before = names(page)
    page.keyboard.press("Alt+ArrowLeft")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("to /c/walking, and with it those of 6 categories below.")
    page.keyboard.press("Escape")
    expect(item(page, "Walking")).to_be_focused()
    assert names(page) == before


def test_products_of_a_category_are_ordered_and_shoppers_see_them_so(page: Page, stocked: None) -> None:
    shop_tree(page)
    row(page, "Gifts").get_by_role("link").click()
    expect(panel(page).get_by_role("heading")).to_have_text("Gifts")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Gifts")
    page.wait_for_load_state()
    rows = page.locator("#products [data-row]")
    first, second = (rows.nth(place).get_by_role("link").inner_text() for place in (0, 1))
    rows.nth(1).locator("[data-grip]").drag_to(rows.nth(0), target_position={"x": 60, "y": 2})
    expect(page.locator("#products")).to_contain_text("Not saved yet.")
    expect(rows.nth(0).get_by_role("link")).to_have_text(second)
    page.get_by_label("Add products").fill("TENT-01")
    page.locator("#found").get_by_role("button").first.click()
    tent = rows.filter(has_text="TENT-01")
    name = tent.get_by_role("link").inner_text()
    tent.get_by_role("button", name="to the top").click()
    expect(rows.nth(0).get_by_role("link")).to_have_text(name)
    rows.nth(0).get_by_role("button", name="to the top").focus()
    page.keyboard.press("Alt+ArrowDown")
    expect(rows.nth(1).get_by_role("link")).to_have_text(name)
    page.get_by_label("Meta title").fill("Presents for the hills")
    expect(page.locator("#result-preview")).to_contain_text("Presents for the hills")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("Saved. Search shows it in a few seconds.")).to_be_visible()
    deadline = time.monotonic() + SECONDS_UNTIL_FOUND
    while shown(page)[:3] != [second, name, first]:
        assert time.monotonic() < deadline, shown(page)[:3]


def shown(page: Page) -> list[str]:
    page.goto("/c/gifts")
    return page.locator("main .name").all_inner_texts()
