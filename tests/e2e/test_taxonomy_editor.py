"""The taxonomy editor in a real browser: by keys, by dragging, in two windows, on a phone and without scripts."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.e2e.test_from_rebuild_to_shop import sign_in
from tests.processes import RunningShop

PHONE = (390, 844)


def fresh_taxonomy(page: Page, name: str) -> None:
    """In the editor of a new taxonomy with three levels that are not saved."""
    sign_in(page)
    page.goto("/admin/catalogue/taxonomy/new")
    page.get_by_role("textbox", name="Name").fill(name)
    page.locator("main button.primary").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(name)
    page.get_by_label("Names, one level a line").fill("Tents\nStoves\nLamps")
    page.get_by_role("button", name="Add", exact=True).click()
    expect(bar(page)).to_contain_text("1 unsaved change")
    expect(page.locator("#top-names")).to_have_value("")


def bar(page: Page) -> Locator:
    return page.locator("#bar")


def row(page: Page, name: str) -> Locator:
    return page.locator("#tree .leaf").filter(has_text=re.compile(f"^{name}")).first


def item(page: Page, name: str) -> Locator:
    return row(page, name).locator("xpath=..")


def names(page: Page) -> list[str]:
    """In tree order, each with a dot for every level above it."""
    script = """items => items.map(item => {
        let depth = 0;
        for (let at = item.parentElement.closest("li"); at; at = at.parentElement.closest("li")) depth += 1;
        return ".".repeat(depth) + item.querySelector("a").textContent;
    })"""
    found: list[str] = page.locator("#tree [role=treeitem]").evaluate_all(script)
    return found


def said(page: Page, text: str) -> None:
    """Wait for the message; one of a change that can be undone ends with the button."""
    expect(page.locator("#said")).to_have_text(re.compile(rf"^\s*{re.escape(text)}\s*(Undo)?\s*$"))


def test_a_tree_is_made_by_keys_and_dragging_and_saved(page: Page) -> None:
    fresh_taxonomy(page, "Camping kit")
    row(page, "Tents").get_by_role("link").click()
    expect(page.locator("#panel-heading")).to_have_text("Tents")
    expect(item(page, "Tents")).to_be_focused()
    page.keyboard.press("Insert")
    page.keyboard.type("Tarps")
    page.keyboard.press("Enter")
    expect(item(page, "Tarps")).to_be_focused()
    page.keyboard.press("F2")
    page.keyboard.type("Awnings")
    page.keyboard.press("Enter")
    said(page, "Renamed “Tarps” to “Awnings”.")
    expect(item(page, "Awnings")).to_be_focused()
    expect(page.locator("#panel-heading")).to_have_text("Awnings")

    row(page, "Awnings").drag_to(row(page, "Stoves"))
    said(page, "Moved “Awnings” below “Stoves”.")
    assert names(page) == ["Tents", "Stoves", ".Awnings", "Lamps"]
    page.keyboard.press("Control+z")
    said(page, "Undone: Moved “Awnings” below “Stoves”.")
    assert names(page) == ["Tents", "Awnings", "Stoves", "Lamps"]
    page.keyboard.press("Control+Shift+z")
    said(page, "Redone: Moved “Awnings” below “Stoves”.")

    page.reload()
    assert names(page) == ["Tents", "Stoves", ".Awnings", "Lamps"]
    expect(bar(page)).to_contain_text("4 unsaved changes")
    bar(page).get_by_role("link", name="Save…").click()
    page.get_by_role("button", name="Save the taxonomy").click()
    expect(bar(page)).to_contain_text("All changes saved")
    assert names(page) == ["Tents", "Stoves", ".Awnings", "Lamps"]


def test_a_field_that_was_made_larger_breaks_no_policy_when_it_is_drawn_anew(page: Page) -> None:
    fresh_taxonomy(page, "Resized")
    with page.expect_response("**/level?*"):  # Before it is asked for, what is typed would be sent first.
        row(page, "Tents").get_by_role("link").click()
    description = page.locator("#panel").get_by_label("Description")
    description.fill("For the night")
    description.evaluate("field => { field.style.height = '12rem'; }")  # As browsers do where its corner is dragged.
    page.locator("#panel").get_by_role("button", name="Apply").click()
    said(page, "Changed the description of “Tents”.")


def test_keys_pressed_quickly_are_done_in_their_order(page: Page) -> None:
    fresh_taxonomy(page, "Quick fingers")
    row(page, "Lamps").get_by_role("link").click()
    expect(page.locator("#panel-heading")).to_have_text("Lamps")
    for key in ("Alt+ArrowUp", "Alt+ArrowUp", "Alt+ArrowDown", "Alt+ArrowRight"):
        page.keyboard.press(key)
    said(page, "Moved “Lamps” below “Tents”.")
    assert names(page) == ["Tents", ".Lamps", "Stoves"]
    for _ in range(4):
        page.keyboard.press("Control+z")
    expect(bar(page)).to_contain_text("1 unsaved change")
    assert names(page) == ["Tents", "Stoves", "Lamps"]
    expect(item(page, "Lamps")).to_be_focused()


def test_search_shows_the_way_to_what_it_finds(page: Page) -> None:
    fresh_taxonomy(page, "Searched")
    row(page, "Tents").get_by_role("link").click()
    expect(page.locator("#panel-heading")).to_have_text("Tents")
    page.keyboard.press("Shift+Insert")
    page.keyboard.type("Bivouac bags")
    page.keyboard.press("Enter")
    expect(item(page, "Bivouac bags")).to_be_focused()
    page.keyboard.press("/")
    page.keyboard.type("bivo")
    expect(row(page, "Stoves")).to_be_hidden()
    expect(row(page, "Tents")).to_be_visible()
    page.keyboard.press("Enter")
    expect(item(page, "Bivouac bags")).to_be_focused()


def test_a_level_moves_to_one_that_is_found_by_its_name(page: Page) -> None:
    fresh_taxonomy(page, "Moved")
    expect(page.get_by_label("Find a level")).to_be_visible()  # The scripts are there.
    row(page, "Lamps").get_by_role("link").click()
    expect(page.locator("#panel-heading")).to_have_text("Lamps")
    page.keyboard.press("m")
    dialog = page.get_by_role("dialog", name="Move “Lamps”")
    dialog.get_by_role("searchbox").fill("sto")
    expect(dialog.get_by_role("button", name="Tents")).to_be_hidden()
    dialog.get_by_role("button", name="Stoves").click()
    said(page, "Moved “Lamps” below “Stoves”.")
    expect(dialog).to_be_hidden()
    assert names(page) == ["Tents", "Stoves", ".Lamps"]


def test_a_second_window_is_told_and_shows_what_the_first_did(page: Page) -> None:
    fresh_taxonomy(page, "Two windows")
    row(page, "Tents").get_by_role("link").click()
    expect(page.locator("#panel-heading")).to_have_text("Tents")
    second = page.context.new_page()
    second.goto(page.url)
    second.locator("#panel").get_by_role("textbox", name="Name", exact=True).fill("Typed with care")
    row(page, "Stoves").get_by_role("link").click()
    expect(page.locator("#panel-heading")).to_have_text("Stoves")
    page.keyboard.press("Delete")
    said(page, "Deleted the level “Stoves”.")
    second.locator("#panel").get_by_role("button", name="Apply").click()
    expect(second.locator("#said")).to_contain_text("in another window")
    assert names(second) == ["Tents", "Lamps"]
    expect(second.locator("#panel").get_by_role("textbox", name="Name", exact=True)).to_have_value("Typed with care")
    second.locator("#panel").get_by_role("button", name="Apply").click()
    said(second, "Renamed “Tents” to “Typed with care”.")
    second.close()


def test_going_to_another_level_takes_along_what_was_typed(page: Page) -> None:
    fresh_taxonomy(page, "Typing")
    row(page, "Tents").get_by_role("link").click()
    expect(page.locator("#panel-heading")).to_have_text("Tents")
    page.locator("#panel").get_by_label("Description").fill("To sleep in")
    row(page, "Lamps").get_by_role("link").click()
    expect(page.locator("#panel-heading")).to_have_text("Lamps")
    row(page, "Tents").get_by_role("link").click()
    expect(page.locator("#panel").get_by_label("Description")).to_have_value("To sleep in")


@pytest.mark.parametrize("page", [PHONE], indirect=True, ids=["phone"])
def test_on_a_phone_a_chosen_level_comes_into_view(page: Page) -> None:
    fresh_taxonomy(page, "On the way")
    row(page, "Lamps").get_by_role("link").click()
    expect(page.locator("#panel-heading")).to_have_text("Lamps")
    expect(page.locator("#panel-heading")).to_be_in_viewport()
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    page.get_by_role("link", name="To the tree").click()
    expect(page.locator("#tree")).to_be_in_viewport()


@pytest.fixture
def without_scripts(browser: Browser, shop: RunningShop) -> Iterator[Page]:
    context = browser.new_context(base_url=shop.address, java_script_enabled=False)
    yield context.new_page()
    context.close()


def test_everything_works_without_scripts(without_scripts: Page) -> None:
    page = without_scripts
    fresh_taxonomy(page, "Plain pages")
    levels = page.locator("#tree .leaf > a")
    row(page, "Lamps").get_by_role("link").click()
    page.get_by_role("button", name="Move up").click()
    expect(levels).to_have_text(["Tents", "Lamps", "Stoves"])
    page.get_by_role("button", name=re.compile("^Move in")).click()
    page.get_by_role("link", name="Move to…").click()
    page.get_by_role("button", name="Stoves").click()
    page.get_by_role("button", name="Undo").click()
    page.get_by_role("button", name="Delete", exact=True).click()
    expect(levels).to_have_text(["Tents", "Stoves"])
