"""Suggestions below the search box, by keyboard, pointer and touch, in both themes, and the form without scripts."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, Route, expect

from tests.e2e.test_from_rebuild_to_shop import sign_in
from tests.processes import RunningShop

PHONE = (390, 844)
SUGGEST = re.compile(r"/search/suggest")
on_a_phone = pytest.mark.parametrize("page", [PHONE], indirect=True, ids=["phone"])


@pytest.fixture(autouse=True, scope="module")
def _stocked(stocked: None) -> None:
    """Every test here looks at products."""


@pytest.fixture
def without_scripts(browser: Browser, shop: RunningShop) -> Iterator[Page]:
    context = browser.new_context(base_url=shop.address, java_script_enabled=False)
    yield context.new_page()
    context.close()


def box(page: Page) -> Locator:
    return page.get_by_role("combobox", name="Search the shop")


def suggestions(page: Page) -> Locator:
    return page.get_by_role("listbox", name="Suggestions")


def options(page: Page, group: str) -> Locator:
    return page.get_by_role("group", name=group).get_by_role("option")


def type_words(page: Page, words: str) -> None:
    """Type into the box of a page, and wait until the list has what is suggested for the last letter: the list for
    fewer letters, which stands until then, would be replaced, and the active option with it."""
    whole = box(page).input_value() + words
    box(page).press_sequentially(words)
    expect(page.locator("#suggestions")).to_have_attribute("data-for", whole.lstrip())
    expect(suggestions(page).get_by_role("option").first).to_be_visible()
    expect(box(page)).to_have_attribute("aria-expanded", "true")


def active(page: Page) -> Locator:
    """The option that the box says is the active one."""
    return page.locator(f"#{box(page).get_attribute('aria-activedescendant')}")


def test_arrow_keys_go_through_the_options_and_back_to_the_box(page: Page) -> None:
    page.goto("/")
    type_words(page, "ten")
    every = suggestions(page).get_by_role("option")
    expect(every.nth(1)).to_be_visible()
    box(page).press("ArrowDown")
    expect(every.first).to_have_attribute("aria-selected", "true")
    expect(box(page)).to_have_attribute("aria-activedescendant", "suggestion-1")
    expect(box(page)).to_be_focused()
    box(page).press("ArrowDown")
    expect(every.nth(1)).to_have_attribute("aria-selected", "true")
    expect(every.first).to_have_attribute("aria-selected", "false")
    box(page).press("ArrowUp")
    box(page).press("ArrowUp")
    assert box(page).get_attribute("aria-activedescendant") is None
    box(page).press("ArrowUp")
    expect(every.last).to_have_attribute("aria-selected", "true")
    box(page).press("Home")
    assert box(page).get_attribute("aria-activedescendant") is None
    assert box(page).evaluate("box => box.selectionStart") == 0


def test_enter_opens_the_active_product(page: Page) -> None:
    page.goto("/")
    type_words(page, "ten")
    expect(options(page, "Products").first).to_be_visible()
    box(page).press("ArrowUp")
    name = options(page, "Products").last.locator(".name").inner_text()
    box(page).press("Enter")
    expect(page).to_have_url(re.compile("/p/"))
    expect(page.get_by_role("heading", level=1)).to_have_text(name)


def test_enter_without_an_active_option_searches_for_what_was_typed(page: Page) -> None:
    page.goto("/")
    type_words(page, "ten")
    box(page).press("Enter")
    expect(page).to_have_url(re.compile(r"/search\?q=ten$"))


def test_a_word_that_the_shop_lacks_is_searched_as_it_is_and_a_click_takes_the_spelling_that_is_offered(
    page: Page,
) -> None:
    page.goto("/")
    type_words(page, "tint ")
    expect(options(page, "Did you mean")).to_have_text(["tent"])
    box(page).press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("No results for “tint”")
    page.get_by_role("main").get_by_role("link", name="tent", exact=True).click()
    expect(page).to_have_url(re.compile(r"/search\?q=tent"))
    expect(page.get_by_role("heading", level=1)).to_have_text("Results for “tent”")


def test_escape_closes_the_list_then_empties_the_box(page: Page) -> None:
    page.goto("/")
    type_words(page, "ten")
    box(page).press("Escape")
    expect(suggestions(page)).to_be_hidden()
    expect(box(page)).to_have_attribute("aria-expanded", "false")
    expect(box(page)).to_have_value("ten")
    box(page).press("Escape")
    expect(box(page)).to_have_value("")


def test_tab_closes_the_list_and_goes_on(page: Page) -> None:
    page.goto("/")
    type_words(page, "ten")
    box(page).press("ArrowDown")
    box(page).press("Tab")
    expect(suggestions(page)).to_be_hidden()
    expect(page.get_by_role("button", name="Search", exact=True)).to_be_focused()
    expect(page).to_have_url(re.compile(r"/$"))


def test_how_many_suggestions_there_are_is_said(page: Page) -> None:
    page.goto("/")
    type_words(page, "ten")
    count = suggestions(page).get_by_role("option").count()
    expect(page.locator(".find [aria-live=polite]")).to_have_text(re.compile(rf"^{count} suggestions\."))


def test_options_are_named_with_what_a_shopper_sees(page: Page) -> None:
    page.goto("/")
    type_words(page, "tents")
    expect(page.get_by_role("option", name="Tents in Outdoor › Camping")).to_be_visible()
    expect(page.get_by_role("group", name="Products").get_by_role("option").first).to_have_accessible_name(
        re.compile(r"£[\d,.]+")
    )


def test_a_category_is_opened_by_a_click(page: Page) -> None:
    page.goto("/")
    type_words(page, "tents")
    options(page, "Categories").first.click()
    expect(page).to_have_url(re.compile("/c/outdoor/camping/tents$"))


def test_a_popular_search_is_made_and_remembered_by_this_browser_alone(page: Page) -> None:
    page.goto("/")
    box(page).click()
    first = options(page, "Popular searches").first
    expect(first).to_be_visible()
    words = first.inner_text()
    first.click()
    expect(page).to_have_url(re.compile(r"/search\?q="))
    expect(box(page)).to_have_value(words)
    page.goto("/")
    sent: list[str] = []
    page.on("request", lambda request: sent.append(f"{request.url} {request.post_data or ''}"))
    box(page).click()
    expect(options(page, "Recent searches").first).to_have_text(words)
    expect(options(page, "Popular searches").first).to_be_visible()
    assert not [one for one in sent if words.replace(" ", "+") in one or words in one]
    options(page, "Recent searches").get_by_text("Clear recent searches").click()
    expect(page.get_by_role("group", name="Recent searches")).to_have_count(0)
    expect(box(page)).to_be_focused()
    assert page.evaluate("localStorage.getItem('recent-searches')") is None


def test_recent_searches_are_cleared_by_keyboard(page: Page) -> None:
    page.goto("/search?q=tent")
    page.evaluate("localStorage.setItem('recent-searches', JSON.stringify(['<b>tent</b>', 'mug']))")
    page.goto("/")
    box(page).click()
    expect(options(page, "Recent searches")).to_have_text(["<b>tent</b>", "mug", "Clear recent searches"])
    for _ in range(3):
        box(page).press("ArrowDown")
    expect(active(page)).to_have_text("Clear recent searches")
    box(page).press("Enter")
    expect(page.get_by_role("group", name="Recent searches")).to_have_count(0)


def test_what_is_chosen_stays_when_popular_searches_come(page: Page) -> None:
    held: list[Route] = []
    page.goto("/search?q=tent")
    page.evaluate("localStorage.setItem('recent-searches', JSON.stringify(['<b>tent</b>', 'mug']))")
    page.route(re.compile(r"/suggest\??$"), lambda route: held.append(route))
    page.goto("/")
    with page.expect_request(re.compile(r"/suggest\??$")):
        box(page).click()
    expect(options(page, "Recent searches")).to_have_count(3)
    box(page).press("ArrowDown")
    box(page).press("ArrowDown")
    with page.expect_response(SUGGEST):
        for route in held:
            route.continue_()
    expect(page.get_by_role("group", name="Popular searches")).to_be_visible()
    expect(active(page)).to_have_text("mug")


def test_an_answer_that_comes_late_is_dropped(page: Page) -> None:
    held: list[Route] = []
    page.route(re.compile(r"suggest\?q=te$"), lambda route: held.append(route))
    page.goto("/")
    with page.expect_request(re.compile(r"suggest\?q=te$")):
        box(page).press_sequentially("te")
    type_words(page, "nts")
    expect(page.get_by_role("option", name="Tents in Outdoor › Camping")).to_be_visible()
    shown = suggestions(page).inner_text()
    for route in held:
        route.fulfill(body='<a role="option" id="late">Late</a>', content_type="text/html")
    with page.expect_response(SUGGEST):
        box(page).press("Backspace")
    expect(page.locator("#late")).to_have_count(0)
    assert shown


def test_words_without_suggestions_close_the_list(page: Page) -> None:
    page.goto("/")
    type_words(page, "te")
    with page.expect_response(SUGGEST):
        box(page).fill("qqqqzzzz")
    expect(suggestions(page)).to_be_hidden()


def test_nothing_moves_below_the_box(page: Page) -> None:
    page.goto("/")
    before = page.locator("main").bounding_box()
    type_words(page, "ten")
    assert page.locator("main").bounding_box() == before


@on_a_phone
def test_on_a_phone_the_list_is_as_wide_as_the_screen(page: Page) -> None:
    page.goto("/")
    type_words(page, "ten")
    place = suggestions(page).bounding_box()
    assert place and (place["x"], place["width"]) == (0, PHONE[0])
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE[0]
    options(page, "Products").first.click()
    expect(page).to_have_url(re.compile("/p/"))


def test_back_to_a_page_finds_the_list_closed(page: Page) -> None:
    page.goto("/")
    type_words(page, "tents")
    options(page, "Categories").first.click()
    expect(page).to_have_url(re.compile("/c/"))
    page.go_back()
    expect(page).to_have_url(re.compile(r"/$"))
    expect(suggestions(page)).to_be_hidden()


def test_without_scripts_the_box_is_a_plain_form(without_scripts: Page) -> None:
    page = without_scripts
    page.goto("/")
    search = page.get_by_role("searchbox", name="Search the shop")
    search.fill("tent")
    search.press("Enter")
    expect(page).to_have_url(re.compile(r"/search\?q=tent$"))
    expect(page.get_by_role("listbox")).to_have_count(0)


@pytest.mark.parametrize("page", [(1280, 800), PHONE], indirect=True, ids=["wide", "phone"])
def test_the_gallery_theme_shows_the_list_within_the_screen_and_closes_it(page: Page) -> None:
    sign_in(page, "admin@demo.test")
    page.goto("/admin/settings/themes/gallery/preview")
    expect(page.get_by_text("Preview of the theme “Gallery”.")).to_be_visible()
    type_words(page, "ten")
    expect(options(page, "Products").first).to_be_visible()
    place, screen = suggestions(page).bounding_box(), page.viewport_size
    assert place and screen and place["x"] >= 0 and place["x"] + place["width"] <= screen["width"]
    box(page).press("Escape")
    expect(suggestions(page)).to_be_hidden()
