"""The address of Test a search names the words and the product, whichever way one comes back to it."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.e2e.test_from_rebuild_to_shop import sign_in

TEST = "/admin/search/test"


def test_back_forward_and_reload_keep_the_words_and_the_product(page: Page, stocked: None) -> None:
    sign_in(page)
    page.goto(TEST)
    words, product = page.get_by_label("Search words"), page.get_by_label("Product (optional)")

    def is_shown(shown_words: str, sku: str) -> None:
        query = f"q={shown_words}" + (f"&product={sku}" if sku else "")
        expect(page).to_have_url(re.compile(re.escape(f"{TEST}?{query}") + "$"))
        expect(words).to_have_value(shown_words)
        expect(product).to_have_value(sku)
        expect(page.locator("#product-heading")).to_have_count(1 if sku else 0)

    words.fill("tent")
    page.get_by_role("button", name="Test", exact=True).click()
    is_shown("tent", "")
    product.press_sequentially("skylark")
    page.locator("[data-pick]").first.click()
    sku = product.input_value()
    page.get_by_role("button", name="Test", exact=True).click()
    is_shown("tent", sku)
    words.fill("jacket")
    words.press("Enter")
    is_shown("jacket", sku)
    page.go_back()
    is_shown("tent", sku)
    page.go_back()
    is_shown("tent", "")
    page.go_forward()
    is_shown("tent", sku)
    page.go_forward()
    is_shown("jacket", sku)
    page.reload()
    is_shown("jacket", sku)


def test_the_list_of_products_is_restored_without_another_step(page: Page, stocked: None) -> None:
    sign_in(page)
    page.goto("/admin/catalogue/products")
    words = page.locator("#main [name=q]").first
    for one in ("tent", "mug"):
        words.fill(one)
        expect(page).to_have_url(re.compile(f"q={one}$"))
    page.go_back()
    expect(page).to_have_url(re.compile("q=tent$"))
    expect(words).to_have_value("tent")
    page.go_forward()
    expect(page).to_have_url(re.compile("q=mug$"))
    expect(words).to_have_value("mug")
