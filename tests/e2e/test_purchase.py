"""A purchase in a real browser: with scripts, without, on a phone, and what the admin sees of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.processes import RunningShop

WIDE, PHONE = (1280, 800), (390, 844)
IN_STOCK = "/search?q=tent&inStock=true"


@pytest.fixture(autouse=True, scope="module")
def _stocked(stocked: None) -> None:
    """Every test here buys something."""


@pytest.fixture(params=[True, False], ids=["scripts", "no scripts"])
def shopper(browser: Browser, shop: RunningShop, request: pytest.FixtureRequest) -> Iterator[Page]:
    width, height = PHONE
    context = browser.new_context(
        base_url=shop.address, java_script_enabled=request.param, viewport={"width": width, "height": height}
    )
    context.set_default_timeout(10_000)
    yield context.new_page()
    context.close()


def open_a_product(page: Page) -> str:
    page.goto(IN_STOCK)
    page.locator(".card a").first.click()
    page.wait_for_url(re.compile("/p/"))
    return page.get_by_role("heading", level=1).inner_text()


def add_and_go_to_the_basket(page: Page) -> None:
    page.get_by_role("button", name="Add to basket").click()
    link = page.get_by_role("link", name="Go to basket")
    heading = page.get_by_role("heading", name="Your basket", level=1)
    expect(link.or_(heading).first).to_be_visible()
    if link.is_visible():
        link.click()
    expect(heading).to_be_visible()


def test_a_product_is_bought_on_a_phone_with_and_without_scripts(shopper: Page) -> None:
    name = open_a_product(shopper)
    add_and_go_to_the_basket(shopper)
    expect(shopper.get_by_role("link", name=name)).to_be_visible()
    shopper.get_by_role("link", name="Check out").click()
    shopper.get_by_label("Your name").fill("Robin Reed")
    shopper.get_by_role("button", name=re.compile("Place order")).click()
    expect(shopper.get_by_text("Your order has not been placed.")).to_be_visible()
    shopper.get_by_label("Email address").fill("robin@home.test")
    shopper.get_by_role("button", name=re.compile("Place order")).click()
    shopper.wait_for_url(re.compile("/order/"))
    expect(shopper.get_by_role("heading", level=1)).to_have_text(re.compile(r"^Order \d+ received$"))
    expect(shopper.get_by_text(name)).to_be_visible()


@pytest.mark.parametrize("page", [WIDE, PHONE], indirect=True, ids=["wide", "phone"])
def test_the_count_in_the_header_follows_everywhere(page: Page) -> None:
    open_a_product(page)
    count = page.locator("#basket-link .count")
    expect(count).to_be_hidden()
    page.get_by_role("button", name="Add to basket").click()
    expect(count).to_have_text("1")
    page.goto("/")
    expect(count).to_have_text("1")
    expect(page.get_by_role("link", name="Basket, 1 item")).to_be_visible()


def test_the_basket_is_changed_in_place(page: Page) -> None:
    name = open_a_product(page)
    add_and_go_to_the_basket(page)
    page.evaluate("window.mark = 1")
    more = page.get_by_role("button", name=f"One more of {name}")
    if more.is_enabled():
        more.click()
        expect(page.get_by_label(f"How many of {name}")).to_have_value("2")
        assert page.evaluate("document.activeElement.id").startswith("more-")
    page.get_by_role("button", name=f"Remove {name}").click()
    expect(page.get_by_text("Your basket is empty.")).to_be_visible()
    expect(page.locator("#basket-link .count")).to_be_hidden()
    expect(page.locator("#basket").get_by_role("link")).to_be_focused()
    assert page.evaluate("window.mark") == 1


@pytest.mark.parametrize("page", [WIDE, PHONE], indirect=True, ids=["wide", "phone"])
def test_no_page_of_a_purchase_is_wider_than_the_screen(page: Page) -> None:
    open_a_product(page)
    add_and_go_to_the_basket(page)
    for path in ("/basket", "/checkout"):
        page.goto(path)
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), path


def test_the_admin_hands_over_what_was_ordered(page: Page) -> None:
    open_a_product(page)
    add_and_go_to_the_basket(page)
    page.goto("/checkout")
    page.get_by_label("Your name").fill("Kim Knott")
    page.get_by_label("Phone number").fill("020 7946 0000")
    page.get_by_role("button", name=re.compile("Place order")).click()
    page.wait_for_url(re.compile("/order/"))
    page.goto("/admin/login")
    page.get_by_label("Email").fill("admin@demo.test")
    page.get_by_label("Password").fill("demo-password-1")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("/admin/?$"))
    page.get_by_label("Sections").get_by_role("link", name="Orders").click()
    page.get_by_role("searchbox").fill("kim knott")
    expect(page).to_have_url(re.compile("q=kim"))
    page.get_by_role("navigation", name="Orders by state").get_by_role("link", name="Awaiting collection").click()
    expect(page).to_have_url(re.compile("q=kim.*status=submitted"))
    expect(page.get_by_role("searchbox")).to_have_value("kim knott")
    page.get_by_role("link", name=re.compile(r"Order \d+")).first.click()
    page.get_by_role("button", name="Collected and paid").click()
    expect(page.get_by_text("is collected and paid.")).to_be_visible()


def test_the_chosen_variant_is_the_one_that_is_bought(page: Page) -> None:
    page.goto("/search?q=jumper&inStock=true")
    other = page.locator(".options label:not(.gone) input:not(:checked)").first
    for number in range(page.locator(".card").count()):
        page.locator(".card a").nth(number).click()
        page.wait_for_url(re.compile("/p/"))
        if other.count():
            break
        page.go_back()
    before = page.url  # A card may lead to a variant already.
    other.check()
    page.wait_for_url(lambda url: "variant=" in url and url != before)
    (sku,) = parse_qs(urlsplit(page.url).query)["variant"]
    expect(page.get_by_text("Code: ")).to_have_text(f"Code: {sku}")
    expect(page.locator("form.add [name=sku]")).to_have_value(sku)
    add_and_go_to_the_basket(page)
    expect(page.locator(".lines a[href*='variant=']")).to_have_attribute("href", re.compile(re.escape(sku)))


def test_a_shop_that_is_busy_says_so_and_loses_nothing(page: Page) -> None:
    def busy(route: Route) -> None:
        if route.request.method == "POST":
            route.fulfill(status=503, content_type="text/html", body='<div class="note bad" role="alert">Busy.</div>')
        else:
            route.continue_()

    name = open_a_product(page)
    page.route("**/basket**", busy)
    page.route("**/basket/lines/**", busy)
    page.get_by_role("button", name="Add to basket").click()
    expect(page.get_by_role("alert")).to_have_text("Busy.")
    page.unroute_all()
    add_and_go_to_the_basket(page)
    page.route("**/basket/lines/**", busy)
    page.get_by_role("button", name=f"Remove {name}").click()
    expect(page.get_by_role("alert")).to_have_text("Busy.")
    expect(page.get_by_role("link", name=name)).to_be_visible()
