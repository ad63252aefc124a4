"""Two rankings compared: started by a merchandiser, seen and decided by a shopper, counted, and stopped."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.test_from_rebuild_to_shop import sign_in
from tests.processes import RunningShop
from tests.waiting import until

PATH, SEARCH = "/admin/search/comparisons", "/search?q=tent&pageSizeOverride=4"


@contextmanager
def another_shopper(browser: Browser, shop: RunningShop) -> Iterator[Page]:
    """A shopper with a browser of their own, which does not say that it is driven by a program."""
    agent = "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0"
    context = browser.new_context(base_url=shop.address, viewport={"width": 390, "height": 844}, user_agent=agent)
    yield context.new_page()
    context.close()


@pytest.fixture
def shopper(browser: Browser, shop: RunningShop, stocked: None) -> Iterator[Page]:
    with another_shopper(browser, shop) as page:
        yield page


def open_product(shopper: Page, path: str) -> None:
    shopper.locator(f"a[href='{path}']").first.click()
    expect(shopper.get_by_role("heading", level=1)).to_be_visible()


def cards(page: Page) -> list[str]:
    links = page.get_by_role("main").locator("a[href^='/p/']")
    return list(dict.fromkeys(link.get_attribute("href") or "" for link in links.all()))


def is_counted(page: Page) -> bool:
    page.goto(PATH)
    return page.locator("#running").get_by_text("0 present, 0 candidate 0 more").count() == 0


def test_shoppers_decide_between_two_rankings(page: Page, browser: Browser, shop: RunningShop, shopper: Page) -> None:
    sign_in(page)
    page.goto("/admin/search/ranking")
    page.get_by_role("link", name="Comparisons").click()
    page.get_by_label("Compare the present ranking with").select_option("rule")
    expect(page.get_by_label("Newness")).to_be_hidden()
    page.get_by_label("Search of the rule").fill("nothing like it")
    page.get_by_role("button", name="Start comparing").click()
    expect(page.get_by_role("alert")).to_contain_text("Type the search of a rule that is saved")
    page.get_by_label("Compare the present ranking with").select_option("ranking")
    page.get_by_label("Newness").select_option("high")
    page.get_by_label("Share of visits").select_option("100")
    page.get_by_role("button", name="Start comparing").click()
    expect(page.locator("#running")).to_contain_text("newness high")
    until(
        lambda: shopper.goto(SEARCH) and shopper.locator("a[href*='_by=both-']").count() > 0,
        10,
    )
    first = cards(shopper)
    shopper.reload()
    assert cards(shopper) == first, "a visit sees the same order again"
    shopper.locator("a[href*='_by=both-']").first.click()
    expect(shopper).to_have_url(re.compile("_by=both-"))
    assert not set(cards(shopper)) & set(first), "the next page goes on where the first ended"
    shopper.go_back()
    open_product(shopper, first[0])
    for _ in range(5):  # What fewer chose is not stored.
        with another_shopper(browser, shop) as other:
            other.goto(SEARCH)
            open_product(other, cards(other)[0])
    until(lambda: is_counted(page), 20)
    page.get_by_role("button", name="Stop…").click()
    page.get_by_role("dialog").get_by_role("button", name="Stop", exact=True).click()
    expect(page.get_by_role("row", name=re.compile("newness high"))).to_contain_text("No verdict")
