"""Help: what people would like to do, found by words and followed to its page, and the tasks of a page beside it."""

from __future__ import annotations

import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.e2e.test_from_rebuild_to_shop import sign_in
from tests.waiting import until

SIZES = [(1280, 800), (390, 844)]
on_both = pytest.mark.parametrize("page", SIZES, indirect=True, ids=["wide", "phone"])


def expect_accessible(page: Page) -> None:
    found = Axe().run(page)
    assert not found.violations_count, f"{page.url}: {found.generate_report()}"
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "nothing scrolls sideways"


@on_both
def test_a_task_is_searched_opened_and_followed_to_its_page(page: Page) -> None:
    sign_in(page)
    page.goto("/admin/help")
    expect(page.get_by_role("heading", level=1)).to_have_text("What would you like to do?")
    expect_accessible(page)
    page.get_by_role("searchbox").press_sequentially("adding synon")
    tasks = page.get_by_role("region", name="Tasks")
    expect(tasks.get_by_role("link").first).to_have_text("Add a synonym")
    expect(page.get_by_role("region", name="In the documentation")).to_be_visible()
    expect_accessible(page)
    tasks.get_by_role("link", name="Add a synonym").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Add a synonym")
    picture = page.get_by_role("main").get_by_role("img")
    picture.scroll_into_view_if_needed()
    width = int(picture.get_attribute("width") or 0)
    until(lambda: picture.evaluate("image => image.naturalWidth") == width)
    expect_accessible(page)
    page.get_by_role("link", name="Open Synonyms").click()
    expect(page).to_have_url(re.compile(r"/admin/search/synonyms$"))


@on_both
def test_the_tasks_of_a_page_stay_beside_it_while_one_works(page: Page) -> None:
    sign_in(page)
    page.goto("/admin/search/synonyms")
    page.get_by_role("button", name="Help", exact=True).press("Enter")
    beside = page.get_by_role("complementary", name="Help with this page")
    beside.locator("summary").first.press("Enter")
    expect(beside.get_by_role("listitem").first).to_contain_text("choose Synonyms, then Add a synonym")
    expect_accessible(page)
    page.get_by_role("main").press("Tab")
    expect(beside).to_be_visible()
    beside.get_by_role("button", name="Close help").press("Enter")
    expect(beside).to_be_hidden()
    opens = page.get_by_role("button", name="Help", exact=True)
    expect(opens).to_be_focused()
    opens.press("Enter")
    beside.get_by_role("link").first.press("Escape")
    expect(beside).to_be_hidden()
    expect(opens).to_be_focused()
