"""From an edit of an attribute to products that follow: the panel, the review, the save and the worker's part."""

import re

from playwright.sync_api import Locator, Page, expect

from tests.e2e.test_from_rebuild_to_shop import sign_in

EDITOR = "/admin/catalogue/taxonomy/outdoor-and-home"
MATS = "outdoor-camping-mats"
WORKER_MS = 30_000


def value(page: Page, text: str) -> Locator:
    return page.locator(f'input[name=value][value="{text}"]')


def open_kind_of_mat(page: Page) -> None:
    page.goto(f"{EDITOR}?level={MATS}")
    page.locator("#attributes").get_by_role("link", name="Kind", exact=True).click()
    expect(page.get_by_role("heading", name="Kind", exact=True)).to_be_visible()


def test_a_value_that_products_hold_is_renamed_and_the_worker_brings_products_along(page: Page) -> None:
    sign_in(page)
    open_kind_of_mat(page)
    row = page.locator("[data-row]").filter(has=value(page, "Foam"))
    held = row.locator(".held").get_attribute("data-products")
    assert held and re.fullmatch(r"\d+ products?", held)
    value(page, "Foam").fill("Closed-cell foam")
    expect(row).to_contain_text(f"was “Foam”; {held} will be updated")
    page.get_by_role("button", name="Apply").last.click()
    expect(page.locator("#bar")).to_contain_text("1 unsaved change")

    page.get_by_role("link", name="Save…").click()
    expect(page.locator("#consequences")).to_contain_text(f"becomes “Closed-cell foam”: {held} will be updated")
    page.get_by_label("Note").fill("What the trade calls it")
    page.get_by_role("button", name="Save the taxonomy").click()

    # Nobody reloads the page: the banner follows the worker, and then the rebuild.
    number = held.split()[0]
    expect(page.locator("#banner-tasks")).to_contain_text(
        re.compile(f"{number} products? (has|have) the new words? now"), timeout=WORKER_MS
    )
    expect(page.locator("#banner-tasks")).to_contain_text("how complete products are", timeout=WORKER_MS)
    indexed = re.compile("Shoppers’ filters are up to date|Shoppers have the new filters")
    expect(page.locator("#reindex")).to_contain_text(indexed, timeout=60_000)

    page.goto("/admin/catalogue/products?attribute=mat-type&value=Closed-cell+foam")
    expect(page.locator("main tbody tr")).to_have_count(int(number))


def test_after_a_save_the_shop_rebuilds_by_itself_and_the_page_follows_it(page: Page) -> None:
    sign_in(page)
    page.goto(f"{EDITOR}?level={MATS}")
    page.locator("details.add-below summary").click()
    page.locator("#add-names").fill("Picnic mats")
    page.locator("details.add-below").get_by_role("button", name="Add", exact=True).click()
    expect(page.locator("#bar")).to_contain_text("1 unsaved change")
    page.get_by_role("link", name="Save…").click()
    page.get_by_role("button", name="Save the taxonomy").click()
    expect(page.locator("#reindex")).to_contain_text("follow by themselves in a few seconds")
    expect(page.get_by_role("button", name="Rebuild…")).to_have_count(0)
    indexed = re.compile(r"Shoppers have the new filters: \d+ products indexed")
    expect(page.locator("#reindex")).to_contain_text(indexed, timeout=60_000)
    page.goto("/admin/search")
    expect(page.locator("#recent tbody tr").first).to_contain_text("the shop itself")


def test_choosing_a_kind_of_value_shows_only_what_matters_and_undo_takes_it_back(page: Page) -> None:
    sign_in(page)
    open_kind_of_mat(page)
    page.get_by_label("Number", exact=True).check()
    expect(page.get_by_label("Minimum")).to_be_visible()
    expect(page.locator("#values")).to_have_count(0)
    page.get_by_label("Single choice").check()
    page.get_by_label("Add values").fill("inflatable\nHay\nstraw, reed")
    page.get_by_role("button", name="Add these values").click()
    expect(page.locator(".pasted")).to_contain_text("1 value left out, in the list already: “inflatable”.")
    page.get_by_role("button", name="Split at the commas").click()
    expect(value(page, "reed")).to_be_visible()
    value(page, "Hay").press("Alt+ArrowUp")
    page.get_by_label("Label for shoppers").fill("Kind of mat")
    expect(page.locator("#attribute-preview")).to_contain_text("Kind of mat")
    page.get_by_role("button", name="Apply").last.click()
    expect(page.locator("#bar")).to_contain_text("1 unsaved change")
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("#bar")).to_contain_text("All changes saved")


def test_a_problem_is_told_at_once_and_its_link_leads_to_the_field(page: Page) -> None:
    sign_in(page)
    page.goto(f"{EDITOR}?level={MATS}")
    page.get_by_role("textbox", name="Name", exact=True).fill("Tents")
    page.get_by_role("button", name="Apply").click()
    expect(page.locator("#problems")).to_contain_text("is the name of two levels side by side")
    page.goto(EDITOR)
    page.locator("#problems a.to-level").first.click()
    expect(page.locator("#f-name")).to_be_focused()
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("#problems")).not_to_contain_text("side by side")


def test_going_to_another_level_applies_what_the_form_holds_and_cancel_forgets_it(page: Page) -> None:
    sign_in(page)
    open_kind_of_mat(page)
    page.get_by_role("button", name="Remove Inflatable", exact=True).click()
    expect(page.locator("#values")).to_contain_text("would lose a value")
    page.get_by_role("link", name="Cancel").click()
    expect(page.get_by_role("heading", name="Attributes of this level")).to_be_visible()
    expect(page.locator("#bar")).to_contain_text("All changes saved")

    page.locator("#attributes").get_by_role("link", name="Kind", exact=True).click()
    page.get_by_role("button", name="Remove Inflatable", exact=True).click()
    expect(page.locator("#values")).to_contain_text("would lose a value")
    page.get_by_role("treeitem", name=re.compile("^Stoves")).get_by_role("link").click()
    expect(page.get_by_role("heading", name="Stoves")).to_be_visible()
    expect(page.locator("#bar")).to_contain_text("1 unsaved change")
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("#bar")).to_contain_text("All changes saved")
