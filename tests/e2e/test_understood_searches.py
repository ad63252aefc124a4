"""A search that says a price, in a real browser: the filter is offered, applied and taken off again."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect


@pytest.fixture(autouse=True, scope="module")
def _stocked(stocked: None) -> None:
    """The test looks at products."""


@pytest.mark.parametrize("page", [(1280, 800), (390, 844)], indirect=True, ids=["wide", "phone"])
def test_a_price_in_a_search_is_offered_applied_and_taken_off(page: Page) -> None:
    page.goto("/search?q=rucksacks+under+%C2%A3100")
    offer = page.get_by_role("list", name="Filters that your search may mean").get_by_role("link")
    expect(offer).to_contain_text("Price: up to £100.00")
    found = int(offer.locator(".count").inner_text().split()[0].replace(",", ""))
    offer.click()
    chosen = page.get_by_role("list", name="Chosen filters")
    expect(chosen.get_by_role("link", name="Price: up to £100.00")).to_be_visible()
    expect(page.get_by_role("status").filter(has_text="product").first).to_contain_text(f"{found} product")
    expect(page.get_by_role("combobox", name="Search the shop")).to_have_value("rucksacks under £100")
    chosen.get_by_role("link", name="Price: up to £100.00").click()
    expect(offer).to_contain_text("Price: up to £100.00")
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
