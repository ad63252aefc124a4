"""A shopper in a real browser, on a large screen and a phone, with and without scripts."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, Request, expect

from tests.processes import RunningShop

WIDE, PHONE = (1280, 800), (390, 844)
CATEGORY = "/c/outdoor"
FETCHED = ("document", "fetch", "xhr")
SHOW = re.compile(r"Show [\d,]* ?products?")
on_a_phone = pytest.mark.parametrize("page", [PHONE], indirect=True, ids=["phone"])


@pytest.fixture(autouse=True, scope="module")
def _stocked(stocked: None) -> None:
    """Every test here looks at products."""


@pytest.fixture
def without_scripts(browser: Browser, shop: RunningShop) -> Iterator[Page]:
    width, height = PHONE
    context = browser.new_context(
        base_url=shop.address, java_script_enabled=False, viewport={"width": width, "height": height}
    )
    yield context.new_page()
    context.close()


def products(page: Page) -> int:
    return int(re.sub(r"\D", "", page.get_by_role("status").first.inner_text()))


def loaded_once(page: Page, path: str) -> None:
    """Open a page and mark it: the mark is gone when the browser loads another page."""
    page.goto(path)
    page.evaluate("window.mark = 1")


def still_the_same_page(page: Page) -> bool:
    return page.evaluate("window.mark === 1")


def test_filters_work_in_place_and_in_the_history(page: Page) -> None:
    loaded_once(page, CATEGORY)
    before = products(page)
    page.locator("#f-colour-1").click()
    expect(page).to_have_url(re.compile(r"\?colour="))
    expect(page.locator("#f-colour-1")).to_have_attribute("aria-current", "true")
    assert 0 < products(page) < before
    assert page.evaluate("document.activeElement.id") == "f-colour-1"
    page.go_back()
    expect(page).to_have_url(re.compile(rf"{CATEGORY}$"))
    expect(page.get_by_role("status").first).to_contain_text(str(before))
    assert still_the_same_page(page)


def test_a_price_is_typed_and_a_chip_takes_it_away(page: Page) -> None:
    loaded_once(page, CATEGORY)
    page.locator("[name=price_max]").fill("50")
    page.keyboard.press("Enter")
    chip = page.get_by_role("list", name="Chosen filters").get_by_role("link", name="Price: up to £50.00")
    expect(chip).to_be_visible()
    chip.click()
    expect(chip).to_be_hidden()
    assert still_the_same_page(page)


def test_a_new_order_begins_with_the_cheapest(page: Page) -> None:
    loaded_once(page, CATEGORY)
    page.get_by_text("Sort: Featured").click()
    page.get_by_role("link", name="Price, low to high").click()
    expect(page.get_by_text("Sort: Price, low to high")).to_be_visible()
    shown = page.locator(".card .price strong").all_inner_texts()
    prices = [float(text.replace("£", "").replace(",", "")) for text in shown]
    assert prices == sorted(prices)
    assert still_the_same_page(page)


@pytest.fixture
def requested(page: Page) -> list[str]:
    """The pages and parts of pages that the browser fetches, without the counts of the sheet of filters."""
    paths: list[str] = []

    def note(request: Request) -> None:
        if request.resource_type in FETCHED and not request.headers.get("hx-target", "").endswith("#filters"):
            paths.append(request.url)

    page.on("request", note)
    return paths


def open_sheet(page: Page) -> None:
    loaded_once(page, CATEGORY)
    expect(page.locator("#filters")).to_be_hidden()
    page.get_by_role("button", name="Filters").click()
    expect(page.locator("#filters")).to_be_visible()


def show_products(page: Page) -> None:
    page.get_by_role("button", name=SHOW).click()


def expect_one_page(page: Page) -> None:
    """The listing was swapped alone: no second page is drawn inside the first."""
    for part in ("h1", "header.top", "#listing"):
        expect(page.locator(part)).to_have_count(1)
    expect(page.locator("#listing").locator("h1, header")).to_have_count(0)


@on_a_phone
def test_the_sheet_stages_choices_and_applies_them_by_one_request(page: Page, requested: list[str]) -> None:
    open_sheet(page)
    requested.clear()
    page.locator("#f-colour-1").click()
    page.locator("#f-colour-2").click()
    page.locator("#filters [name=price_max]").fill("80")
    expect(page.locator("#f-colour-1")).to_have_attribute("aria-current", "true")
    assert requested == []
    show_products(page)
    expect(page.locator("#filters")).to_be_hidden()
    expect(page).to_have_url(re.compile(r"\?colour=\w+&colour=\w+&price_max=80$"))
    expect(page.get_by_role("button", name="Filters (3)")).to_be_visible()
    expect_one_page(page)
    assert len(requested) == 1 and still_the_same_page(page)


@on_a_phone
def test_in_the_sheet_typed_ends_wait_for_the_button(page: Page) -> None:
    open_sheet(page)
    page.locator("#filters [name=price_max]").fill("80")
    page.keyboard.press("Enter")
    expect(page.locator("#filters")).to_be_visible()
    show_products(page)
    expect(page).to_have_url(re.compile(rf"{CATEGORY}\?price_max=80$"))
    expect(page.get_by_role("button", name="Filters (1)")).to_be_visible()
    expect_one_page(page)
    assert still_the_same_page(page)


@on_a_phone
def test_a_sheet_that_is_closed_forgets_what_was_staged(page: Page, requested: list[str]) -> None:
    open_sheet(page)
    requested.clear()
    page.locator("#f-colour-1").click()
    page.keyboard.press("Escape")
    expect(page.locator("#filters")).to_be_hidden()
    page.get_by_role("button", name="Filters").click()
    expect(page.locator("#f-colour-1")).not_to_have_attribute("aria-current", "true")
    expect(page.get_by_role("button", name=SHOW)).to_be_visible()
    assert requested == []


@on_a_phone
def test_a_staged_choice_is_let_go_by_a_second_tap(page: Page, requested: list[str]) -> None:
    open_sheet(page)
    requested.clear()
    page.locator("#f-colour-1").click()
    page.locator("#f-colour-1").click()
    show_products(page)
    expect(page.locator("#filters")).to_be_hidden()
    assert requested == []


def first_brand_page(page: Page) -> str:
    """The address of the page of the first brand in the sheet, which stays there by a tap."""
    brand = page.locator("#filters a[data-facet-href]").first
    path = brand.get_attribute("href") or ""
    assert path.startswith(f"{CATEGORY}/brand/")
    brand.click()
    expect(brand).to_have_attribute("aria-current", "true")
    return path


@on_a_phone
def test_a_value_with_a_page_of_its_own_waits_in_the_sheet_and_its_page_is_opened_once_applied(page: Page) -> None:
    open_sheet(page)
    path = first_brand_page(page)
    expect(page.locator("#filters")).to_be_visible()
    assert still_the_same_page(page)
    show_products(page)
    page.wait_for_url(f"**{path}")
    expect(page.locator(".trail")).to_contain_text("Outdoor")
    page.get_by_role("button", name="Filters (1)").click()
    page.locator("#filters a[data-chosen]").click()
    expect(page.locator("#filters")).to_be_visible()
    show_products(page)
    page.wait_for_url(re.compile(rf"{CATEGORY}$"))


@on_a_phone
def test_on_a_page_of_its_own_typed_ends_lead_to_the_filtered_category(page: Page) -> None:
    open_sheet(page)
    first_brand_page(page)
    show_products(page)
    page.wait_for_url(f"**{CATEGORY}/brand/*")
    page.get_by_role("button", name="Filters").click()
    page.locator("#filters [name=price_min]").fill("20")
    page.locator("#filters [name=price_max]").fill("90")
    show_products(page)
    page.wait_for_url(re.compile(rf"{CATEGORY}\?manufacturer=\w+&price_min=20&price_max=90$"))
    expect(page.get_by_role("button", name="Filters (2)")).to_be_visible()


@on_a_phone
def test_beside_another_choice_a_value_with_a_page_of_its_own_is_a_filter(page: Page) -> None:
    open_sheet(page)
    page.locator("#f-colour-1").click()
    first_brand_page(page)
    show_products(page)
    expect(page).to_have_url(re.compile(rf"{CATEGORY}\?colour=\w+&manufacturer=\w+$"))
    assert still_the_same_page(page)


@on_a_phone
def test_a_choice_left_alone_that_has_a_page_of_its_own_leads_there(page: Page) -> None:
    open_sheet(page)
    brand = page.locator("#filters a[data-facet-href]").first
    path = brand.get_attribute("href") or ""
    page.locator("#f-colour-1").click()
    brand.click()
    page.locator("#f-colour-1").click()
    show_products(page)
    page.wait_for_url(f"**{path}")
    expect_one_page(page)
    assert not still_the_same_page(page)


@pytest.mark.parametrize("page", [WIDE, PHONE], indirect=True, ids=["wide", "phone"])
@pytest.mark.parametrize(
    "path", ["/", CATEGORY, "/search?q=tent", "/search?q=zzzzzz", f"/search?q={'W' * 150}", "/pages/none"]
)
def test_no_page_is_wider_than_the_screen(page: Page, path: str) -> None:
    page.goto(path)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_the_sort_menu_closes_by_escape_and_by_a_click_beside_it(page: Page) -> None:
    page.goto(CATEGORY)
    menu, button = page.locator(".sort"), page.get_by_text("Sort: Featured")
    for close in (lambda: page.keyboard.press("Escape"), lambda: page.get_by_role("heading", level=1).click()):
        button.click()
        expect(menu).to_have_attribute("open", "")
        close()
        expect(menu).not_to_have_attribute("open", "")
    button.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Escape")
    expect(page.locator(".sort summary")).to_be_focused()


def test_the_shop_follows_a_dark_screen(page: Page) -> None:
    page.emulate_media(color_scheme="dark")
    page.goto(CATEGORY)
    expect(page.locator("body")).to_have_css("background-color", "rgb(21, 26, 23)")
    page.emulate_media(color_scheme="light")
    expect(page.locator("body")).to_have_css("background-color", "rgb(250, 248, 244)")


@on_a_phone
def test_the_basket_has_a_name_on_phones(page: Page) -> None:
    page.goto(CATEGORY)
    expect(page.get_by_role("link", name="Basket", exact=True)).to_be_visible()
    box = page.locator("#basket-link .word").bounding_box()
    assert box and box["width"] > 20, "the word is there to be seen"


def test_from_the_front_page_to_a_product(page: Page) -> None:
    page.goto("/")
    page.get_by_role("combobox", name="Search the shop").fill("tent")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/search\?q=tent"))
    first = page.locator(".card a").first
    name = first.locator(".name").inner_text()
    first.click()
    expect(page).to_have_url(re.compile("/p/"))
    expect(page.get_by_role("heading", level=1)).to_have_text(name)


def test_everything_works_without_scripts(without_scripts: Page) -> None:
    page = without_scripts
    page.goto(CATEGORY)
    before = products(page)
    page.get_by_role("button", name="Filters").click()
    page.locator("#f-colour-1").click()
    page.wait_for_url(re.compile(r"\?colour="))
    assert 0 < products(page) < before
    page.get_by_role("button", name=re.compile("Filters")).click()
    page.locator("[name=price_max]").fill("100")
    page.get_by_role("button", name="Set").first.click()
    page.wait_for_url(re.compile(r"colour=.*price_max=100"))
