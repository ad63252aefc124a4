"""The way of a word through the Search section: searched in vain, seen, fixed, ranked, bought, counted."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.e2e.test_from_rebuild_to_shop import sign_in
from tests.processes import RunningShop
from tests.waiting import until

IN_VAIN = "wasserkocher"
FOUND = "kettle"


@pytest.fixture
def shopper(browser: Browser, shop: RunningShop, stocked: None) -> Iterator[Page]:
    """Somebody with a browser of their own."""
    context = browser.new_context(base_url=shop.address, viewport={"width": 390, "height": 844})
    context.set_default_timeout(10_000)
    yield context.new_page()
    context.close()


def until_seen(page: Page, address: str, seen: Callable[[], bool]) -> None:
    """The worker counts and the processes pick changes up by themselves."""
    until(lambda: page.goto(address) and seen(), 10)


def first_result(page: Page) -> str:
    return page.get_by_role("main").locator("a[href^='/p/']").first.get_attribute("href") or ""


def test_what_shoppers_do_not_find_is_seen_and_mended(page: Page, shopper: Page) -> None:
    shopper.goto(f"/search?q={IN_VAIN}")
    expect(shopper.locator("a[href^='/p/']").get_by_text(re.compile(FOUND, re.I))).to_have_count(0)
    sign_in(page)
    nothing = page.locator("#found-nothing")
    until_seen(page, "/admin/search/analytics?days=7", lambda: nothing.get_by_text(IN_VAIN).count() > 0)
    nothing.get_by_role("row", name=re.compile(IN_VAIN)).get_by_role("link", name="Add synonym").click()
    page.locator("#new-synonym [name=words]").fill(FOUND)
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.locator("#results")).to_contain_text(IN_VAIN)
    until_seen(shopper, f"/search?q={IN_VAIN}", lambda: FOUND in first_result(shopper))


def test_a_rule_pins_a_product_and_shows_a_banner(page: Page, shopper: Page) -> None:
    sign_in(page)
    page.goto("/search?q=lamp")
    last = page.get_by_role("main").locator("a[href^='/p/']").last.get_attribute("href") or ""
    page.goto(last)
    name = page.get_by_role("heading", level=1).inner_text()
    page.goto("/admin/search/ranking/new?term=lamp")
    page.get_by_label("Find a product").fill(name)
    held: list[Route] = []
    page.route(re.compile("ranking/new"), lambda route: held.append(route))
    page.locator("#found").get_by_role("button", name=f"Pin {name}", exact=True).click()
    page.get_by_label("Text", exact=True).fill("Lamps are new this week")
    expect(page.get_by_role("button", name="Add the rule")).to_be_disabled()  # Until the pin is in the form.
    held.pop().continue_()
    page.unroute(re.compile("ranking/new"))
    page.get_by_role("button", name="Add the rule").click()
    expect(page).to_have_url(re.compile(r"/admin/search/ranking"))
    until_seen(shopper, "/search?q=Lamp", lambda: first_result(shopper) == last)
    expect(shopper.get_by_text("Lamps are new this week")).to_be_visible()


def test_a_missing_product_is_explained_and_a_search_term_brings_it(page: Page, shopper: Page) -> None:
    sign_in(page)
    page.goto("/admin/catalogue/products")
    row = page.locator("main tbody tr").nth(3)
    name = row.get_by_role("link").first.inner_text().splitlines()[0]
    page.goto("/admin/search/terms?term=wobblethwack")
    page.get_by_role("searchbox", name="Product", exact=True).fill(name)
    page.locator("[data-picks] button").first.click()
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.locator("#add")).to_contain_text("wobblethwack")
    page.locator("#add").get_by_role("link", name="Test it").click()
    until_seen(page, page.url, lambda: page.get_by_text("1 product found").count() > 0)


def test_a_purchase_is_counted_for_the_search_that_led_to_it(page: Page, shopper: Page) -> None:
    word = "kettle"
    shopper.goto(f"/search?q={word}")
    shopper.get_by_role("main").locator("a[href^='/p/']").first.click()
    shopper.get_by_role("button", name="Add to basket").click()
    expect(shopper.locator("#added")).not_to_be_empty()
    shopper.goto("/checkout")
    shopper.get_by_label("Your name").fill("Sam Shopper")
    shopper.get_by_label(re.compile("Email", re.I)).fill("sam@shopper.test")
    shopper.get_by_role("button", name=re.compile("order", re.I)).click()
    expect(shopper.get_by_role("heading", level=1)).to_contain_text(re.compile("thank|order", re.I))
    sign_in(page)
    row = page.get_by_role("row", name=re.compile(word))
    until_seen(
        page,
        f"/admin/search/analytics/leads-to?days=7&q={word}",
        lambda: row.count() > 0 and "100.0%" in row.inner_text() and "£0.00" not in row.inner_text(),
    )
