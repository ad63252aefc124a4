"""From a word that finds nothing to the product that it finds in the shop, without leaving the Search section."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.e2e.test_from_rebuild_to_shop import sign_in, until_found


def test_a_word_that_finds_nothing_becomes_a_search_term(page: Page, stocked: None) -> None:
    sign_in(page)
    page.goto("/admin/search/test")
    page.get_by_label("Search words").fill("zorblegut")
    page.get_by_role("button", name="Test", exact=True).click()
    expect(page.get_by_text("Nothing is found")).to_be_visible()
    expect(page).to_have_url(re.compile(r"/admin/search/test\?q=zorblegut$"))
    page.get_by_role("link", name="Add to a product").click()
    add = page.locator("#add")
    expect(add.get_by_label("Search term")).to_have_value("zorblegut")
    add.get_by_label("Product").press_sequentially("a")
    page.locator("[data-pick]").first.click()
    name = page.locator("[data-picks] .help").inner_text()
    add.get_by_role("button", name="Preview").click()
    expect(page.locator("#try")).to_contain_text("0 → 1 found")
    add.get_by_role("button", name="Add", exact=True).click()
    expect(add).to_contain_text(f"“zorblegut” now finds {name}")
    expect(page.locator("#try")).to_be_empty()
    expect(page.locator("#results")).to_contain_text("zorblegut")
    until_found(page, "zorblegut", name)


def test_the_terms_of_a_row_are_edited_in_place(page: Page) -> None:
    sign_in(page)
    page.goto("/admin/search/terms")
    add = page.locator("#add")
    add.get_by_label("Search term").fill("quibblefrond")
    add.get_by_label("Product").press_sequentially("e")
    page.locator("[data-pick]").first.click()
    add.get_by_role("button", name="Add", exact=True).click()
    row = page.locator("#results tbody tr").filter(has_text="quibblefrond")
    row.get_by_role("link", name=re.compile("^Edit")).click()
    box = page.locator("#results textarea")
    expect(box).to_be_focused()
    box.fill("snorkwhistle, " + "x" * 51)
    box.press("Control+Enter")
    expect(page.locator("#results .error")).to_contain_text("51 characters")
    box.fill("snorkwhistle")
    box.press("Control+Enter")
    saved = page.locator("#results tbody tr").filter(has_text="snorkwhistle")
    expect(saved).to_contain_text("Saved.")
    expect(page.locator("#results textarea")).to_have_count(0)


def test_refused_terms_of_a_new_product_stay_to_be_corrected(page: Page) -> None:
    sign_in(page)
    page.goto("/admin/catalogue/product/new")
    for name, typed in (("name", "Glimmerpot"), ("sku", "GLIM-1"), ("price", "9.50")):
        page.locator(f"#f-{name}").fill(typed)
    box = page.locator("#f-searchTerms")
    box.fill("shinekettle, tea\ncup")
    page.get_by_role("button", name="Add the product").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Glimmerpot")
    expect(page).to_have_url(re.compile(r"/admin/catalogue/product/\d+$"))
    expect(box).to_have_value("shinekettle, tea\ncup")
    expect(page.locator("#shop-search .error")).to_contain_text("“tea cup” contains a line break")
    box.fill("shinekettle, tea cup")
    page.get_by_role("button", name="Save", exact=True).last.click()
    expect(page.locator("#details-news")).to_contain_text("Saved. Search shows it in a few seconds.")
    page.reload()
    expect(box).to_have_value("shinekettle, tea cup")
