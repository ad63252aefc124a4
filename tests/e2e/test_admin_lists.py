"""Lists of the admin by keyboard: the link that was followed keeps the focus in the list that comes."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.e2e.test_from_rebuild_to_shop import sign_in


def test_the_pager_keeps_the_focus_also_where_it_ends(page: Page) -> None:
    sign_in(page, "admin@demo.test")
    page.goto("/admin/orders")
    page.get_by_role("link", name="Next").press("Enter")
    expect(page).to_have_url(re.compile("p=2"))
    expect(page.get_by_text("Page 2 of 2")).to_be_visible()
    expect(page.get_by_role("link", name="Next", disabled=True)).to_be_focused()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Page 1 of 2")).to_be_visible()
    expect(page.get_by_role("link", name="Previous", disabled=True)).to_be_focused()


def test_a_tab_and_the_heading_that_chooses_an_order_keep_the_focus(page: Page) -> None:
    sign_in(page, "admin@demo.test")
    page.goto("/admin/orders")
    page.get_by_role("link", name=re.compile("^Collected")).press("Enter")
    tab = page.get_by_role("link", name=re.compile("^Collected"))
    expect(tab).to_have_attribute("aria-current", "page")
    expect(tab).to_be_focused()
    page.goto("/admin/catalogue/products")
    page.get_by_role("link", name="Stock").press("Enter")
    expect(page.locator("#by-stock")).to_have_attribute("aria-current", "true")
    expect(page.locator("#by-stock")).to_be_focused()
    for arrow in ("↑", "↓"):  # The heading of prices leads to the other direction each time.
        page.get_by_role("link", name="Price").press("Enter")
        expect(page.locator("#by-price")).to_contain_text(arrow)
        expect(page.locator("#by-price")).to_have_attribute("aria-current", "true")
        expect(page.locator("#by-price")).to_be_focused()


def test_a_button_stays_busy_until_its_own_form_is_answered(page: Page) -> None:
    sign_in(page)
    page.goto("/admin/search/synonyms")
    page.route("**/synonyms/*/delete*", lambda route: route.continue_() if route.request.method == "GET" else None)
    page.get_by_role("link", name=re.compile("^Delete")).first.click()
    page.get_by_role("button", name="Delete", exact=True).click()
    busy = page.get_by_role("button", name="Deleting…")
    expect(busy).to_be_disabled()
    page.evaluate("htmx.ajax('GET', '/admin/keys', { source: document.body, target: 'body', swap: 'none' })")
    expect(busy).to_be_disabled()
