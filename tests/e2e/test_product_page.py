"""The page of a product in a real browser: a variant is chosen, the drawer of the basket opens, a bar stays at the foot
of a phone, and the browser remembers what it looked at."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from tests.processes import RunningShop

WIDE, PHONE = (1280, 800), (390, 844)
FLEECE, GANSEY, PULLOVER = "/p/grit-fleece-mens", "/p/curlew-gansey", "/p/sheepfold-pullover"
TENT = "/p/hollow-way-3"  # It has three pictures.
on_a_phone = pytest.mark.parametrize("page", [PHONE], indirect=True, ids=["phone"])
on_both = pytest.mark.parametrize("page", [WIDE, PHONE], indirect=True, ids=["wide", "phone"])


@pytest.fixture(autouse=True, scope="module")
def _stocked(stocked: None) -> None:
    """Every test here looks at a product."""


@pytest.fixture
def without_scripts(browser: Browser, shop: RunningShop) -> Iterator[Page]:
    context = browser.new_context(base_url=shop.address, java_script_enabled=False)
    yield context.new_page()
    context.close()


def expect_accessible(page: Page) -> None:
    found = Axe().run(page)
    assert not found.violations_count, f"{page.url}: {found.generate_report()}"


def add(page: Page) -> None:
    page.locator("#add").get_by_role("button", name="Add to basket").click()
    expect(page.get_by_role("dialog", name="Added to your basket")).to_be_visible()


@on_both
def test_a_chosen_variant_changes_code_stock_and_address_in_place_and_by_keyboard(page: Page) -> None:
    page.goto(FLEECE)
    page.evaluate("window.mark = 1")
    sku = page.locator("#add [name=sku]")
    first = sku.input_value()
    page.get_by_role("radio", name=re.compile("^Moss")).focus()
    page.keyboard.press("ArrowRight")
    expect(sku).not_to_have_value(first)
    expect(page).to_have_url(re.compile(rf"{FLEECE}\?variant={sku.input_value()}$"))
    expect(page.get_by_text("Code: ")).to_have_text(f"Code: {sku.input_value()}")
    expect(page.get_by_role("radio", name=re.compile("^Charcoal"))).to_be_checked()
    expect(page.get_by_role("radio", name=re.compile("^Charcoal"))).to_be_focused()
    page.get_by_role("radio", name=re.compile("^XL")).check()
    expect(page.get_by_role("group", name=re.compile("^Size"))).to_contain_text("Size: XL")
    expect(page.get_by_role("group", name=re.compile("^Colour"))).to_contain_text("Colour: Charcoal")
    assert page.evaluate("window.mark === 1")
    page.reload()
    expect(page.get_by_role("radio", name=re.compile("^XL"))).to_be_checked()


def test_a_variant_is_chosen_without_scripts(without_scripts: Page) -> None:
    page = without_scripts
    page.goto(FLEECE)
    page.get_by_role("radio", name=re.compile("^Rust")).check()
    page.get_by_role("group", name=re.compile("^Colour")).get_by_role("button").click()
    expect(page).to_have_url(re.compile("variant="))
    expect(page.get_by_role("group", name=re.compile("^Colour"))).to_contain_text("Colour: Rust")


def test_a_shop_that_is_busy_keeps_the_page_and_says_so(page: Page) -> None:
    page.goto(FLEECE)
    page.route(
        "**/p/**?variant=*",
        lambda route: route.fulfill(
            status=503, content_type="text/html", body='<div class="note bad" role="alert">Busy.</div>'
        ),
    )
    page.get_by_role("radio", name=re.compile("^Rust")).check()
    expect(page.get_by_role("alert")).to_have_text("Busy.")
    expect(page.get_by_role("heading", level=1)).to_be_visible()


@on_both
def test_the_drawer_takes_the_focus_and_returns_it(page: Page) -> None:
    page.goto(GANSEY)
    drawer = page.get_by_role("dialog", name="Added to your basket")
    button = page.locator("#add").get_by_role("button")
    for leave in ("Keep shopping", "Close", "Escape"):
        button.focus()
        page.keyboard.press("Enter")
        expect(drawer.get_by_role("heading", level=2)).to_be_focused()
        expect(drawer).to_contain_text("Curlew gansey")
        if leave == "Escape":
            page.keyboard.press("Escape")
        else:
            drawer.get_by_role("button", name=leave).click()
        expect(drawer).to_be_hidden()
        expect(button).to_be_focused()
    expect(page.locator("#basket-link .count")).to_have_text("3")


@on_both
def test_the_drawer_leads_to_the_basket_and_to_the_checkout_and_fits_the_screen(page: Page) -> None:
    page.goto(PULLOVER)
    add(page)
    page.keyboard.press("Escape")
    page.goto(GANSEY)
    add(page)
    drawer = page.get_by_role("dialog")
    expect(drawer.locator("li").first).to_contain_text("Curlew gansey")
    expect(drawer.locator("li").last).to_contain_text("Sheepfold pullover")
    expect(drawer.get_by_role("link", name="Check out")).to_be_in_viewport()
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    expect_accessible(page)
    drawer.get_by_role("link", name="Go to basket").click()
    expect(page.get_by_role("heading", name="Your basket", level=1)).to_be_visible()
    page.go_back()
    expect(drawer).to_be_hidden()
    add(page)
    drawer.get_by_role("link", name="Check out").click()
    expect(page).to_have_url(re.compile("/checkout$"))


def test_a_click_beside_the_drawer_closes_it(page: Page) -> None:
    page.goto(GANSEY)
    add(page)
    page.mouse.click(40, 500)
    expect(page.get_by_role("dialog")).to_be_hidden()


@on_a_phone
def test_the_bar_stays_at_the_foot_while_the_button_is_out_of_view_and_not_over_the_footer(page: Page) -> None:
    page.goto(GANSEY)
    bar = page.locator(".buy-bar")
    page.locator("#add .button").scroll_into_view_if_needed()
    expect(bar).to_be_hidden()
    page.get_by_role("heading", name="Details").evaluate("heading => heading.scrollIntoView()")
    expect(bar).to_be_visible()
    box = bar.bounding_box()
    assert box and (box["x"], box["width"], round(box["y"] + box["height"])) == (0, 390, 844)
    bar.get_by_role("button", name="Add for £145.00").click()
    drawer = page.get_by_role("dialog", name="Added to your basket")
    expect(drawer).to_contain_text("Quantity: 1")
    drawer.get_by_role("button", name="Keep shopping").click()
    expect(bar.get_by_role("button")).to_be_focused()
    page.locator(".foot").evaluate("foot => foot.scrollIntoView()")
    expect(bar).to_be_hidden()


@on_a_phone
def test_the_bar_follows_the_chosen_variant_and_leaves_while_something_is_typed(page: Page) -> None:
    page.goto(FLEECE)
    page.get_by_role("radio", name=re.compile("^Rust")).check()
    expect(page).to_have_url(re.compile("variant="))
    page.get_by_role("heading", name="Details").evaluate("heading => heading.scrollIntoView()")
    bar = page.locator(".buy-bar")
    expect(bar).to_contain_text("Rust, ")
    page.locator("#q").evaluate("field => field.focus({ preventScroll: true })")
    expect(bar).to_be_hidden()


def test_a_wide_screen_has_no_bar(page: Page) -> None:
    page.goto(GANSEY)
    page.locator(".foot").scroll_into_view_if_needed()
    page.mouse.wheel(0, -300)
    expect(page.locator(".buy-bar")).to_be_hidden()


@on_both
def test_what_the_browser_looked_at_stands_below_the_product_the_latest_first(page: Page) -> None:
    row = page.locator("#recently-viewed")
    page.goto(GANSEY)
    expect(page.get_by_role("heading", level=1)).to_have_text("Curlew gansey")
    expect(row).to_be_hidden()
    page.goto(PULLOVER)
    expect(row.locator(".name")).to_have_text(["Curlew gansey"])
    page.goto(FLEECE)
    expect(row.locator(".name")).to_have_text(["Sheepfold pullover", "Curlew gansey"])
    expect_accessible(page)
    page.goto("/basket")
    expect(page.get_by_text("Your basket is empty.")).to_be_visible()
    expect(row.locator(".name")).to_have_count(3)
    row.get_by_role("button", name="Clear").click()
    expect(row).to_be_hidden()
    page.goto(GANSEY)
    expect(page.locator("#buy")).to_be_visible()
    expect(row).to_be_hidden()


def test_arrow_keys_that_are_pressed_quickly_lose_no_step(page: Page) -> None:
    page.goto("/p/coffin-ultralight")
    page.locator(".frames a").first.click()
    place = page.locator("#zoom .place")
    expect(place).to_have_text("1 of 3")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(place).to_have_text("3 of 3")
    page.keyboard.press("ArrowLeft")
    expect(place).to_have_text("2 of 3")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@on_both
def test_the_page_has_no_finding_and_is_no_wider_than_the_screen(page: Page, scheme: str) -> None:
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    page.goto(FLEECE)
    expect_accessible(page)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def place_in_picture(page: Page, x: float, y: float) -> tuple[float, float]:
    """Return where a place of the screen lies in the shown picture, in parts of its size."""
    return tuple(
        page.locator(".reel img").first.evaluate(
            """(image, [x, y]) => {
              const box = image.getBoundingClientRect();
              const fit = Math.min(box.width / image.naturalWidth, box.height / image.naturalHeight);
              const at = (place, start, room, size) => (place - start - (room - size) / 2) / size;
              const across = at(x, box.left, box.width, image.naturalWidth * fit);
              return [across, at(y, box.top, box.height, image.naturalHeight * fit)];
            }""",
            [x, y],
        )
    )


@on_both
def test_a_press_enlarges_the_pressed_place_and_the_keyboard_the_middle(page: Page) -> None:
    page.goto(TENT)
    page.locator(".frames a").first.click()
    picture = page.locator(".reel img").first
    expect(picture).to_be_in_viewport(ratio=1)
    box = picture.bounding_box()
    assert box
    x, y = box["width"] * 0.6, box["height"] * 0.5
    before, width = place_in_picture(page, x, y), box["width"]
    page.mouse.click(x, y)
    assert place_in_picture(page, x, y) == pytest.approx(before, abs=0.01)
    magnifier = page.get_by_role("button", name="Show larger")
    expect(magnifier).to_have_attribute("aria-pressed", "true")
    page.mouse.click(x, y)
    expect(magnifier).to_have_attribute("aria-pressed", "false")
    magnifier.focus()
    page.keyboard.press("Enter")
    middle = width / 2, box["height"] / 2
    assert place_in_picture(page, *middle) == pytest.approx((0.5, 0.5), abs=0.01)
    page.keyboard.press("ArrowRight")
    assert place_in_picture(page, *middle)[0] > 0.55
    expect(page.locator("#zoom .place")).to_have_text("1 of 3")
    expect_accessible(page)
