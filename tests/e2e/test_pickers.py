"""Fields that offer what exists, in a real browser: colours of values, values of landing
pages, levels by their paths, products by lists of SKUs."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.e2e.test_from_rebuild_to_shop import sign_in
from tests.processes import RunningShop


@pytest.fixture(autouse=True, scope="module")
def _stocked(shop: RunningShop, stocked: None) -> None:
    """Every test here looks at products."""


@pytest.mark.parametrize(
    ("page", "value"), [((1280, 800), "Blue"), ((390, 844), "Moss")], ids=["wide", "narrow"], indirect=["page"]
)
def test_a_colour_is_picked_cleared_and_typed(page: Page, value: str) -> None:
    sign_in(page)
    page.goto("/admin/merchandising/1/filters")
    row = page.locator("[data-row=colour]")
    text = row.get_by_label("One value per line")
    before = text.input_value()
    picker = row.get_by_label(f"Colour of {value}", exact=True)
    clear = row.get_by_role("button", name=f"Clear the colour of {value}")
    expect(clear).to_have_attribute("aria-disabled", "true")
    picker.fill("#1f4fa3")
    assert text.input_value() == f"{before}\n{value} #1f4fa3"
    expect(row.locator(f'[data-value="{value}"] circle').first).to_have_attribute("fill", "#1f4fa3")
    expect(row.get_by_role("img", name=value)).to_be_visible()
    assert Axe().run(page, context="#filters").response["violations"] == []
    clear.focus()
    page.keyboard.press("Enter")
    assert text.input_value() == before
    expect(row.locator(f'[data-value="{value}"]')).to_contain_text("by its name")
    row.get_by_text("As text").click()
    text.fill(f"{before}\n{value} #0a2a5e")
    expect(picker).to_have_value("#0a2a5e")
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    page.get_by_role("button", name="Save", exact=True).last.click()
    expect(page.locator("#flashes")).to_contain_text("Saved.")
    page.goto("/admin/merchandising/1/filters")
    expect(page.get_by_label(f"Colour of {value}", exact=True)).to_have_value("#0a2a5e")


def test_another_display_brings_the_pickers_and_keeps_the_focus(page: Page) -> None:
    sign_in(page)
    page.goto("/admin/merchandising/1/filters")
    display = page.get_by_label("Display of Brand")
    display.focus()
    display.select_option("swatch")
    colours = page.locator("[data-row=manufacturer] details.filter-swatches")
    expect(colours.locator("[data-pick-colour]")).not_to_have_count(0)
    expect(display).to_be_focused()
    colours.locator("summary").first.click()
    expect(colours.locator("[data-pick-colour]").first).to_be_visible()


def test_a_landing_rule_offers_the_values_of_its_filter(page: Page) -> None:
    sign_in(page)
    page.goto("/admin/merchandising/1/landing")
    page.get_by_role("button", name="Add a rule").click()
    chosen = page.get_by_label("Values of", exact=True).last
    expect(chosen).to_be_focused()
    chosen.select_option(label="Colour")
    page.get_by_label("Minimum", exact=True).last.fill("7")
    rule = page.locator(".landing-rule").last
    expect(rule.locator("datalist option")).not_to_have_count(0)
    expect(page.get_by_label("Minimum", exact=True).last).to_have_value("7")
    rule.get_by_role("button", name="Text or exclusion for a value").click()
    value = page.get_by_label("Value", exact=False).and_(page.locator(":focus"))
    offered = value.evaluate("field => [...field.list.options].map(option => [option.value, option.label])")
    assert any(name == "Black" and label.endswith(" products") for name, label in offered)
    page.keyboard.type("Black")
    rule.get_by_role("button", name="Text or exclusion for a value").click()
    again = page.get_by_label("Value", exact=False).and_(page.locator(":focus"))
    assert "Black" not in again.evaluate("field => [...field.list.options].map(option => option.value)")


def test_a_level_is_typed_by_its_path_and_enter_adds_it(page: Page) -> None:
    sign_in(page)
    page.goto("/admin/merchandising/1")
    page.locator("#tree").get_by_role("link", name="Stoves", exact=True).click()
    page.get_by_role("link", name="Products, filters and texts").click()
    field = page.get_by_label("Taxonomy levels")
    path = field.evaluate(
        "field => [...field.list.options].map(option => option.value).find(path => path.includes(' › '))"
    )
    field.fill("Nowhere")
    page.keyboard.press("Enter")
    expect(page.locator("#f-source-levels-error")).to_contain_text("“Nowhere” is no level")
    expect(field).to_be_focused()
    field.fill(path.lower())
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name=f"Remove {path}", exact=True)).to_be_visible()
    expect(field).to_have_value("")
    expect(page.locator("#parts")).to_contain_text("Not saved yet.")


@pytest.mark.parametrize("page", [(1280, 800), (390, 844)], ids=["wide", "narrow"], indirect=True)
def test_a_list_of_skus_adds_its_products_at_once_by_keyboard(page: Page) -> None:
    sign_in(page)
    page.goto("/admin/catalogue/collection/new")
    lookup = page.get_by_label("Add products")
    lookup.fill("TENT-01, TENT-02; NOWHERE-1")
    found = page.locator("#found")
    expect(found.locator("img")).to_have_count(2)
    expect(found).to_contain_text("No product has the SKU NOWHERE-1.")
    assert Axe().run(page, context="#products").response["violations"] == []
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    page.keyboard.press("ArrowDown")
    expect(found.get_by_role("button", name="Add all 2")).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(found.locator(".menu-item").first).to_be_focused()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    expect(page.locator("#products [data-row]")).to_have_count(2)
    expect(page.get_by_label("Add products")).to_be_focused()
    page.get_by_label("Add products").fill("tent")
    expect(found.locator(".menu-item").first).to_be_visible()
    page.keyboard.press("Escape")
    expect(found.locator(".menu-item")).to_have_count(0)
    expect(page.get_by_label("Add products")).to_be_focused()


def test_the_product_of_a_golden_search_is_changed_by_its_picture(page: Page) -> None:
    sign_in(page)
    page.goto("/admin/search/golden")
    page.get_by_role("link", name="Edit “").first.click()
    product = page.locator("#f-edit-sku")
    product.fill("TENT-02")
    expect(page.locator("#f-edit-sku-found img").first).to_be_visible()
    product.fill("Skylark 2")
    expect(page.locator("#f-edit-sku-found [data-pick]").first).to_be_visible()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(product).to_have_value("TENT-02")


def test_levels_of_a_rule_are_chips_that_enter_adds_and_a_button_takes_out(page: Page) -> None:
    sign_in(page)
    page.goto("/admin/search/ranking/new?term=chips")
    field = page.get_by_label("Only where the other words name a level")
    chips = page.locator("#narrowing .chip")
    for path in ("Outdoor › Camping › Tents", "Outdoor › Camping › Stoves"):
        field.fill(path)
        field.press("Enter")
        expect(chips.last).to_contain_text(path)
        expect(field).to_be_focused()
        expect(field).to_have_value("")
    page.get_by_role("button", name="Remove Outdoor › Camping › Tents").press("Enter")
    expect(chips).to_have_count(1)
    expect(field).to_be_focused()
    assert Axe().run(page, context="#narrowing").response["violations"] == []


def test_the_look_up_of_a_test_closes_once_the_test_is_requested(page: Page) -> None:
    sign_in(page)
    page.goto("/admin/search/test")
    page.get_by_label("Search words").fill("tent")
    product = page.get_by_label("Product (optional)")
    product.press_sequentially("tent")
    found = page.locator("#f-product-found .found")
    expect(found).to_be_visible()
    product.press("Enter")
    expect(page.locator("#answer")).to_contain_text("tent")
    expect(found).to_have_count(0)
    product.fill("boot")
    expect(found).to_be_visible()


def test_the_summary_of_a_refused_product_names_its_fields_in_their_order(page: Page) -> None:
    sign_in(page)
    page.goto("/admin/catalogue/product/new")
    page.get_by_label("Stock", exact=True).fill("some")
    page.get_by_label("Price (GBP)").fill("dear")
    page.get_by_label("Rating", exact=True).fill("high")
    page.keyboard.press("Control+Enter")
    lines = page.locator("#details-news li")
    expect(lines.first).to_contain_text("ame")
    texts = [text for text in lines.all_inner_texts() if "“" in text]
    assert [text.partition(":")[0] for text in texts] == ["Price (GBP)", "Stock", "Rating"]
