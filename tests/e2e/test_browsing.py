"""Finding the way in a real browser: the header, the menu of all categories, and the head of a category."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from tests.processes import RunningShop

CATEGORY = "/c/outdoor"
PHONE = (390, 844)
on_a_phone = pytest.mark.parametrize("page", [PHONE], indirect=True, ids=["phone"])


@pytest.fixture(autouse=True, scope="module")
def _stocked(stocked: None) -> None:
    """Every test here looks at products."""


@pytest.fixture(params=[(1280, 800), PHONE], ids=["wide", "phone"])
def without_scripts(browser: Browser, shop: RunningShop, request: pytest.FixtureRequest) -> Iterator[Page]:
    width, height = request.param
    context = browser.new_context(
        base_url=shop.address, java_script_enabled=False, viewport={"width": width, "height": height}
    )
    yield context.new_page()
    context.close()


def focused(page: Page) -> str:
    return str(page.evaluate("document.activeElement.textContent.trim()"))


def box(page: Page, selector: str) -> dict[str, float]:
    found = page.locator(selector).bounding_box()
    assert found
    return {**found, "bottom": found["y"] + found["height"], "middle": found["y"] + found["height"] / 2}


def expect_no_findings(page: Page, what: str) -> None:
    found = Axe().run(page)
    assert not found.violations_count, f"{what}: {found.generate_report()}"


def test_the_menu_of_categories_is_walked_by_the_keyboard(page: Page) -> None:
    page.goto("/")
    page.locator("#menu-button").press("ArrowDown")
    expect(page.locator("#all-categories")).to_be_visible()
    assert focused(page) == "Outdoor"
    page.keyboard.press("ArrowDown")
    assert focused(page) == "Clothing"
    expect(page.get_by_role("link", name="All Clothing")).to_be_visible()
    expect(page.get_by_role("link", name="All Outdoor")).to_be_hidden()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowRight")
    assert focused(page) == "All Outdoor"
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Tab")
    assert focused(page) == "Tents"
    page.keyboard.press("ArrowLeft")
    assert focused(page) == "Outdoor"
    page.keyboard.press("Escape")
    expect(page.locator("#all-categories")).to_be_hidden()
    expect(page.locator("#menu-button")).to_be_focused()
    page.keyboard.press("ArrowDown")
    for key in ("ArrowRight", "ArrowDown", "ArrowDown", "Enter"):
        page.keyboard.press(key)
    page.wait_for_url("**/c/outdoor/camping/tents")


def test_tab_leads_out_of_the_menu_which_closes(page: Page) -> None:
    page.goto("/")
    page.locator("#menu-button").press("ArrowDown")
    page.keyboard.press("End")
    page.keyboard.press("Tab")
    expect(page.locator("#all-categories")).to_be_hidden()
    expect(page.get_by_role("combobox", name="Search the shop")).to_be_focused()


def test_the_menu_opens_below_the_header_on_the_branch_of_the_page_and_follows_the_pointer(page: Page) -> None:
    page.goto("/c/home/kitchen")
    page.get_by_role("button", name="Categories").click()
    menu, header = box(page, "#all-categories"), box(page, ".top")
    assert 0 <= menu["y"] - header["bottom"] <= 16, "the row of categories stays in sight"
    expect(page.get_by_role("link", name="All Home")).to_be_visible()
    page.locator("#all-categories summary", has_text="Clothing").hover()
    expect(page.get_by_role("link", name="All Clothing")).to_be_visible()
    page.locator("#all-categories summary", has_text="Clothing").click()
    page.wait_for_url("**/c/clothing")


@on_a_phone
def test_on_a_phone_the_menu_is_a_drawer(page: Page) -> None:
    page.goto("/")
    page.get_by_role("button", name="Categories").click()
    expect(page.get_by_role("button", name="Close").first).to_be_focused()
    drawer = box(page, "#all-categories")
    assert (drawer["x"], drawer["y"], drawer["height"]) == (0, 0, 844)
    expect(page.get_by_role("link", name="Tents")).to_be_hidden()
    page.locator("#all-categories summary", has_text="Outdoor").click()
    page.locator("#all-categories summary", has_text="Clothing").click()
    expect(page.get_by_role("link", name="All Outdoor")).to_be_hidden()
    page.get_by_role("link", name="Walking boots").click()
    page.wait_for_url("**/c/clothing/footwear/boots")


def test_the_menu_works_without_scripts(without_scripts: Page) -> None:
    page = without_scripts
    page.goto("/")
    page.get_by_role("button", name="Categories").click()
    page.locator("#all-categories summary", has_text="Outdoor").click()
    page.locator("#all-categories").get_by_role("link", name="Tents").click()
    page.wait_for_url("**/c/outdoor/camping/tents")


@on_a_phone
@pytest.mark.parametrize("path", ["/", CATEGORY, "/search?q=tent"])
def test_on_a_phone_the_header_takes_one_line(page: Page, path: str) -> None:
    page.goto(path)
    middles = [box(page, part)["middle"] for part in ("#menu-button", ".brand", "#q", "#basket-link")]
    assert max(middles) - min(middles) < 4
    assert box(page, "header.top")["height"] < 72


@on_a_phone
@pytest.mark.parametrize("path", [CATEGORY, "/c/outdoor/camping/tents/season/4-season", "/search?q=tent"])
def test_on_a_phone_the_first_products_are_above_the_fold(page: Page, path: str) -> None:
    page.goto(path)
    assert box(page, ".card >> nth=0")["bottom"] < 844


@pytest.mark.parametrize("page", [(1280, 800), PHONE], indirect=True, ids=["wide", "phone"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_menu_and_filters_can_be_used_by_everybody(page: Page, scheme: str) -> None:
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    page.goto(CATEGORY)
    expect_no_findings(page, "a category")
    page.get_by_role("button", name="Categories").click()
    expect_no_findings(page, "the menu of categories")
    page.keyboard.press("Escape")
    filters = page.get_by_role("button", name=re.compile("^Filters"))
    if filters.is_visible():
        filters.click()
        page.locator("#f-colour-1").click()
        page.locator("[name=price_min]").fill("99999")
        expect(page.get_by_role("button", name="No products match")).to_be_visible()
        expect_no_findings(page, "filters that leave nothing")


@pytest.mark.parametrize("page", [(1280, 800), PHONE], indirect=True, ids=["wide", "phone"])
def test_the_header_goes_on_the_way_down_and_comes_back_on_the_way_up_or_with_the_focus(page: Page) -> None:
    page.goto("/")
    header = page.locator(".top")
    top = page.locator("main").evaluate("main => main.offsetTop")
    page.evaluate("scrollTo(0, 1200)")
    expect(header).not_to_be_in_viewport()
    page.evaluate("scrollBy(0, -200)")
    expect(header).to_be_in_viewport(ratio=1)
    expect(page.get_by_role("link", name="Basket")).to_be_in_viewport(ratio=1)
    page.evaluate("scrollBy(0, 400)")
    expect(header).not_to_be_in_viewport()
    page.locator("#q").evaluate("field => field.focus({ preventScroll: true })")
    expect(header).to_be_in_viewport(ratio=1)
    assert page.locator("main").evaluate("main => main.offsetTop") == top, "nothing moves below it"


@pytest.mark.parametrize("page", [(390, 664)], indirect=True, ids=["phone with bars"])
def test_a_phone_shows_picture_name_and_price_of_the_first_products_at_once(page: Page) -> None:
    page.goto("/")
    card = page.locator(".shelf .card").first
    for part in ("img", ".name", ".price"):
        expect(card.locator(part).first).to_be_in_viewport(ratio=1)
    expect_no_findings(page, "home on a phone")
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
