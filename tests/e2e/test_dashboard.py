"""The dashboard in a real browser: a period is chosen, and figures lead to what is behind them."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.test_from_rebuild_to_shop import sign_in


@pytest.mark.parametrize("page", [(1280, 800), (390, 844)], ids=["wide", "phone"], indirect=True)
def test_a_figure_of_a_period_leads_to_its_orders_and_a_product_to_its_page(page: Page) -> None:
    sign_in(page, "admin@demo.test")
    page.get_by_role("link", name="90 days").click()
    expect(page).to_have_url(re.compile("days=90"))
    expect(page.get_by_role("link", name="90 days")).to_have_attribute("aria-current", "true")
    expect(page.get_by_role("img", name=re.compile("^Revenue by day"))).to_be_visible()
    page.locator("summary", has_text="Figures by day").click()
    expect(page.get_by_role("row", name=re.compile("so far")).first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "nothing is wider than the page"
    page.get_by_role("link", name="Revenue").click()
    expect(page.get_by_label("Placed from")).not_to_have_value("")
    expect(page.get_by_role("link", name=re.compile("^Order [0-9]+")).first).to_be_visible()
    page.go_back()
    product = page.locator("#top-products li a").first
    name = product.inner_text()
    product.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text(name)


def test_a_search_that_found_nothing_leads_to_a_new_synonym(page: Page) -> None:
    sign_in(page)
    words = page.locator("#not-found li").first
    word = words.locator(".two-lines").get_attribute("title") or ""
    words.get_by_role("link", name="Add synonym").click()
    expect(page.locator("#new-synonym [name=root]")).to_have_value(word)
    page.goto("/admin/")
    expect(page.get_by_role("link", name="Revenue")).to_have_count(0)
