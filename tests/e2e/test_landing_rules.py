"""Landing rules from their editor to the shop, in a real browser."""

from __future__ import annotations

import time

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.test_from_rebuild_to_shop import sign_in
from tests.e2e.test_search_rule import WITHIN
from tests.processes import RunningShop


@pytest.fixture(autouse=True, scope="module")
def _stocked(shop: RunningShop, stocked: None) -> None:
    """Every test here looks at products."""


def open_editor(page: Page, category: str) -> None:
    sign_in(page)
    page.goto("/admin/merchandising")
    page.get_by_role("link", name="Shop", exact=True).first.click()
    page.locator("#tree").get_by_role("link", name=category, exact=True).click()
    page.get_by_role("link", name="Landing pages").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(f"Landing pages of {category}")


def until_headed(page: Page, address: str, heading: str) -> None:
    """Asked again and again, since each process of the shop takes the change up by itself."""
    deadline = time.monotonic() + WITHIN
    while page.goto(address) and page.get_by_role("heading", level=1).inner_text() != heading:
        assert time.monotonic() < deadline, page.get_by_role("heading", level=1).inner_text()


def test_a_category_gets_its_own_rules_and_a_value_is_excluded(page: Page):
    open_editor(page, "Stoves")
    page.get_by_label("Its own rules").check()
    page.get_by_role("button", name="Add a rule").click()
    expect(page.get_by_label("Values of", exact=True)).to_be_focused()
    page.keyboard.type("Brand")
    page.get_by_label("Minimum", exact=True).fill("many")
    page.get_by_role("button", name="Save", exact=True).last.click()
    expect(page.locator("#f-rules-0-minProducts-error")).to_contain_text("whole number")
    page.get_by_label("Minimum", exact=True).fill("1")
    page.get_by_label("Address", exact=True).fill("Makers")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#details-news")).to_contain_text("Saved.")
    expect(page.get_by_label("Its own rules")).to_be_checked()
    expect(page.get_by_label("Address", exact=True)).to_have_value("makers")
    rows = page.locator(".landing-values li:not(.head-row)")
    expect(rows.first).to_be_visible()
    value, before = rows.first.locator(".named").inner_text(), rows.count()
    address = rows.first.get_by_role("link").get_attribute("href")
    rows.first.get_by_role("button", name="Exclude").click()
    expect(page.locator("#rules")).to_contain_text("Not saved yet.")
    expect(page.locator(".landing-override summary")).to_contain_text(value)
    page.get_by_role("button", name="Save", exact=True).last.click()
    expect(rows.filter(has_text="Excluded")).to_contain_text(value)
    assert rows.count() == before and address and "/makers/" in address
    until_headed(page, address, "Page not found")


def test_another_threshold_shows_who_would_get_a_page(page: Page):
    open_editor(page, "Camping")
    rows = page.locator(".landing-values li:not(.head-row)")
    before = rows.count()
    page.get_by_label("Show values of at least").fill("1")
    expect(rows.filter(has_text="Would get a page").first).to_be_visible()
    assert rows.count() > before
    expect(page.get_by_label("Show values of at least")).to_be_focused()
    page.get_by_role("button", name="Use this minimum: 1").click()
    expect(page.get_by_label("Minimum", exact=True)).to_have_value("1")
    expect(page.get_by_label("Its own rules")).to_be_checked()
    page.get_by_label("Use the tree’s default rules").check()
    expect(page.get_by_label("Minimum", exact=True)).to_be_hidden()


@pytest.mark.parametrize("page", [(390, 800)], indirect=True, ids=["narrow"])
def test_a_value_gets_its_own_text_on_a_phone(page: Page):
    sign_in(page)
    page.goto("/admin/merchandising")
    page.get_by_role("link", name="Shop", exact=True).first.click()
    page.goto(page.url.partition("?")[0] + "/landing")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.get_by_role("button", name="Text or exclusion for a value").first.click()
    expect(page.get_by_label("Value", exact=False).and_(page.locator(":focus"))).to_have_count(1)
    page.keyboard.type("Gantry")
    page.get_by_label("Heading", exact=True).last.fill("Everything by Gantry")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.get_by_role("button", name="Save", exact=True).last.click()
    expect(page.locator("#details-news")).to_contain_text("Saved.")
    until_headed(page, "/c/outdoor/brand/gantry", "Everything by Gantry")
