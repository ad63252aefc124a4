"""The taxonomy editor while an answer is under way: what people do meanwhile is neither lost nor taken for more than it
is. Answers are held back, so that the order of things is certain."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Page, Route, expect

from tests.e2e.test_taxonomy_editor import bar, fresh_taxonomy, item, names, row, said


@pytest.fixture(autouse=True)
def intercepting(page: Page) -> None:
    """Chromium may let the first requests of a page pass that is loaded already when its first route is made."""
    page.route("**/intercepts-from-the-start", lambda route: route.abort())


@contextmanager
def held(page: Page, address: str) -> Iterator[Callable[[], None]]:
    """Requests to the address wait until what is given is called."""
    waiting: list[Route] = []
    is_held = True

    def hold(route: Route) -> None:
        if is_held:
            waiting.append(route)
        else:
            route.continue_()

    def answer() -> None:
        nonlocal is_held
        page.wait_for_timeout(100)
        for _ in range(200):  # A busy machine is no fault.
            if not waiting:
                page.wait_for_timeout(50)
        assert waiting, "nothing was asked"
        is_held = False
        for route in waiting:
            route.continue_()

    page.route(address, hold)
    yield answer
    page.unroute(address, hold)


def choose(page: Page, name: str) -> None:
    with page.expect_response("**/level?*"):
        row(page, name).get_by_role("link").click()
    expect(page.locator("#panel-heading")).to_have_text(name)
    expect(item(page, name)).to_be_focused()


def description(page: Page) -> str:
    return page.locator("#panel").get_by_label("Description").input_value()


def test_a_window_that_went_to_another_level_is_still_told_of_the_other(page: Page) -> None:
    fresh_taxonomy(page, "Two at once")
    choose(page, "Tents")
    second = page.context.new_page()
    second.goto(page.url)
    choose(second, "Lamps")
    second.keyboard.press("Insert")
    second.keyboard.type("From the other")
    second.keyboard.press("Enter")
    expect(item(second, "From the other")).to_be_focused()
    choose(page, "Stoves")
    said(page, "You changed this taxonomy in another window. This is how it is now.")
    assert names(page) == ["Tents", "Stoves", "Lamps", "From the other"]
    expect(item(page, "Stoves")).to_be_focused()
    second.close()


def test_what_is_typed_into_the_panel_while_an_edit_is_under_way_stays(page: Page) -> None:
    fresh_taxonomy(page, "Typed meanwhile")
    choose(page, "Lamps")
    with held(page, "**/draft") as answer:
        page.keyboard.press("Alt+ArrowUp")
        page.locator("#panel").get_by_label("Description").click()
        page.keyboard.type("To read")
        answer()
        said(page, "Moved “Lamps” among its neighbours.")
        page.keyboard.type(" by")
    assert description(page) == "To read by"
    page.keyboard.press("Control+Enter")
    expect(bar(page)).to_contain_text("3 unsaved changes")


def test_what_is_typed_into_the_panel_while_another_is_fetched_stays(page: Page) -> None:
    fresh_taxonomy(page, "Fetched meanwhile")
    choose(page, "Lamps")
    with held(page, "**/level?*") as answer:
        row(page, "Tents").get_by_role("link").click()
        page.locator("#panel").get_by_label("Description").click()
        page.keyboard.type("To read")
        answer()
        expect(item(page, "Lamps")).to_have_attribute("aria-selected", "true")
        page.keyboard.type(" by")
    assert description(page) == "To read by"
    expect(page.locator("#panel-heading")).to_have_text("Lamps")


def test_a_name_that_is_being_typed_is_neither_taken_nor_lost_when_an_answer_comes(page: Page) -> None:
    fresh_taxonomy(page, "Half a name")
    choose(page, "Stoves")
    with held(page, "**/draft") as answer:
        page.keyboard.press("Alt+ArrowDown")
        page.keyboard.press("Insert")
        page.keyboard.type("Tar")
        answer()
        said(page, "Moved “Stoves” among its neighbours.")
        page.keyboard.type("ps")
        expect(page.locator("#tree input")).to_have_value("Tarps")
        page.keyboard.press("Enter")
    expect(item(page, "Tarps")).to_be_focused()
    assert names(page) == ["Tents", "Lamps", "Stoves", "Tarps"]

    with held(page, "**/draft") as answer:
        page.keyboard.press("Alt+ArrowUp")
        page.keyboard.press("F2")
        page.keyboard.type("Fly")
        answer()
        said(page, "Moved “Tarps” among its neighbours.")
        page.keyboard.type("sheets")
        page.keyboard.press("Enter")
    said(page, "Renamed “Tarps” to “Flysheets”.")
    assert names(page) == ["Tents", "Lamps", "Flysheets", "Stoves"]


def test_an_arrow_key_that_follows_an_edit_is_not_taken_back_by_its_answer(page: Page) -> None:
    fresh_taxonomy(page, "Onwards")
    choose(page, "Tents")
    with held(page, "**/draft") as answer:
        page.keyboard.press("Alt+ArrowDown")
        page.keyboard.press("ArrowDown")
        expect(item(page, "Stoves")).to_be_focused()
        answer()
        said(page, "Moved “Tents” among its neighbours.")
    expect(item(page, "Stoves")).to_be_focused()
    expect(page.locator("#panel-heading")).to_have_text("Stoves")
    expect(item(page, "Stoves")).to_have_attribute("aria-selected", "true")


def test_a_level_that_was_passed_on_the_way_is_not_shown_after_the_edit(page: Page) -> None:
    fresh_taxonomy(page, "Passed")
    choose(page, "Tents")
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url) if "level=new-2" in request.url else None)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Delete")
    said(page, "Deleted the level “Stoves”.")
    page.wait_for_timeout(400)
    assert requests == []
    expect(page.locator("#panel-heading")).to_have_text("Lamps")
    expect(item(page, "Lamps")).to_be_focused()


def test_the_name_of_the_taxonomy_is_saved_only_by_its_button(page: Page) -> None:
    fresh_taxonomy(page, "Named with care")
    page.get_by_role("link", name="Name", exact=True).click()
    expect(page.locator("#panel-heading")).to_have_text("The taxonomy itself")
    page.locator("#panel").get_by_role("textbox", name="Name").fill("Nam")
    saved: list[str] = []
    page.on("request", lambda request: saved.append(request.url) if request.url.endswith("/details") else None)
    page.once("dialog", lambda dialog: dialog.dismiss())
    with page.expect_event("dialog"):
        row(page, "Tents").get_by_role("link").click()
    expect(page.locator("#panel").get_by_role("textbox", name="Name")).to_have_value("Nam")
    expect(item(page, "Tents")).to_have_attribute("aria-selected", "false")
    page.once("dialog", lambda dialog: dialog.accept())
    choose(page, "Tents")
    assert saved == []
    expect(page.get_by_role("heading", level=1)).to_have_text("Named with care")


def test_a_name_that_was_refused_is_not_left_unasked(page: Page) -> None:
    fresh_taxonomy(page, "Refused")
    page.get_by_role("link", name="Name", exact=True).click()
    panel = page.locator("#panel")
    panel.get_by_role("textbox", name="Name").fill("")
    panel.get_by_label("Description").fill("Kept")
    panel.get_by_role("button", name="Save name and description").click()
    expect(panel).to_contain_text("Couldn’t save")
    page.once("dialog", lambda dialog: dialog.dismiss())
    with page.expect_event("dialog"):
        row(page, "Tents").get_by_role("link").click()
    expect(panel.get_by_label("Description")).to_have_value("Kept")
    page.once("dialog", lambda dialog: dialog.accept())
    choose(page, "Tents")


def test_names_typed_below_a_level_are_added_when_somebody_goes_elsewhere(page: Page) -> None:
    fresh_taxonomy(page, "Below")
    choose(page, "Tents")
    page.locator("#panel").get_by_text("Add below").click()
    page.locator("#add-names").fill("Domes\nTipis")
    page.locator("#panel").get_by_label("Description").fill("To sleep in")
    choose(page, "Lamps")
    assert names(page) == ["Tents", ".Domes", ".Tipis", "Stoves", "Lamps"]
    choose(page, "Tents")
    assert description(page) == "To sleep in"
    page.locator("#panel").get_by_text("Add below").click()
    page.locator("#add-names").fill("  ")
    choose(page, "Lamps")
    expect(bar(page)).to_contain_text("3 unsaved changes")


def test_the_tree_goes_back_to_the_level_whose_form_was_refused(page: Page) -> None:
    fresh_taxonomy(page, "Refused")
    choose(page, "Tents")
    page.get_by_role("link", name="Attribute", exact=True).click()
    page.locator("#panel").get_by_role("textbox", name="Label for shoppers").fill("Size")
    row(page, "Lamps").get_by_role("link").click()
    expect(page.locator("#panel")).to_contain_text("Give the attribute a name")
    expect(item(page, "Tents")).to_have_attribute("aria-selected", "true")
    expect(item(page, "Lamps")).to_have_attribute("aria-selected", "false")


def test_the_focus_stays_in_the_panel_when_its_parts_are_replaced(page: Page) -> None:
    fresh_taxonomy(page, "By keyboard")
    choose(page, "Tents")
    page.get_by_role("link", name="Attribute", exact=True).press("Enter")
    expect(page.get_by_role("heading", name="New attribute")).to_be_focused()
    page.get_by_role("link", name="Cancel").press("Enter")
    expect(page.locator("#panel-heading")).to_be_focused()
    for name in ("Colour", "Size"):
        page.get_by_role("link", name="Attribute", exact=True).press("Enter")
        page.get_by_label("Text", exact=True).check()
        expect(page.locator("#values")).to_have_count(0)
        page.locator("#f-name").fill(name)
        page.get_by_role("button", name="Add the attribute").press("Enter")
        expect(page.locator("#attributes")).to_contain_text(name)
        expect(page.locator("#panel-heading")).to_be_focused()
    page.get_by_role("button", name="Move Size up").press("Enter")
    expect(page.locator("#attributes li").first).to_contain_text("Size")
    expect(page.get_by_role("button", name="Move Size down")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#attributes li").first).to_contain_text("Colour")
    expect(page.get_by_role("button", name="Move Size up")).to_be_focused()

    item(page, "Tents").focus()
    page.keyboard.press("Shift+Insert")
    page.keyboard.type("Domes")
    page.keyboard.press("Enter")
    expect(page.locator("#panel-heading")).to_have_text("Domes")
    page.locator("#panel .way").get_by_role("link", name="Tents").press("Enter")
    expect(page.locator("#panel-heading")).to_have_text("Tents")
    expect(page.locator("#panel-heading")).to_be_focused()


def test_the_button_that_deletes_does_not_stay_under_the_hand(page: Page) -> None:
    fresh_taxonomy(page, "Pressed twice")
    choose(page, "Lamps")
    expect(item(page, "Lamps")).to_be_focused()
    page.get_by_role("button", name="Delete", exact=True).press("Enter")
    expect(page.locator("#panel-heading")).to_have_text("Stoves")
    expect(page.locator("#panel-heading")).to_be_focused()
    page.keyboard.press("Enter")
    assert names(page) == ["Tents", "Stoves"]
    page.get_by_role("button", name="Move up", exact=True).press("Enter")
    said(page, "Moved “Stoves” among its neighbours.")
    expect(page.get_by_role("button", name="Move up", exact=True)).to_be_focused()
