"""A shopper with a slow connection, and with none."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.processes import RunningShop

CATEGORY = "/c/outdoor"
on_a_phone = pytest.mark.parametrize("page", [(390, 844)], indirect=True, ids=["phone"])


@pytest.fixture(autouse=True, scope="module")
def _stocked(stocked: None) -> None:
    """Every test here looks at products."""


@pytest.fixture(params=[(1280, 800)], ids=["wide"])
def page(browser: Browser, shop: RunningShop, request: pytest.FixtureRequest) -> Iterator[Page]:
    """A page of its own session, whose lost requests the browser may report in its console."""
    width, height = request.param
    context = browser.new_context(base_url=shop.address, viewport={"width": width, "height": height})
    errors: list[str] = []
    opened = context.new_page()
    opened.on("pageerror", lambda error: errors.append(str(error)))
    yield opened
    context.close()
    assert errors == []


def test_a_slow_filter_shows_that_it_works(page: Page) -> None:
    page.goto(CATEGORY)
    held: list[Route] = []
    page.route(f"**{CATEGORY}?*", lambda route: held.append(route))
    page.locator("#f-colour-1").click()
    expect(page.locator("#progress")).to_have_text("Loading…")
    expect(page.locator("#listing")).to_have_attribute("aria-busy", "true")
    held[0].continue_()
    expect(page).to_have_url(re.compile("colour="))
    expect(page.locator("#progress")).to_be_empty()
    expect(page.locator("#listing")).not_to_have_attribute("aria-busy", "true")


def test_filters_chosen_offline_are_kept_and_applied_when_the_connection_is_back(page: Page) -> None:
    page.goto(CATEGORY)
    page.context.set_offline(True)
    page.locator("#f-colour-1").click()
    page.locator("#f-colour-2").click()
    expect(page.locator("#connection")).to_contain_text("You’re offline. Your filters are kept")
    expect(page.locator("#f-colour-1")).to_have_attribute("aria-current", "true")
    expect(page).to_have_url(re.compile(rf"{CATEGORY}$"))
    page.context.set_offline(False)
    expect(page).to_have_url(re.compile(r"colour=[^&]+&colour=[^&]+$"))
    expect(page.locator("#connection")).to_be_hidden()


def test_a_brand_with_a_page_of_its_own_is_chosen_offline_too(page: Page) -> None:
    page.goto(CATEGORY)
    brand = page.locator("#filters a[data-facet-href]").first
    path = brand.get_attribute("href") or ""
    page.context.set_offline(True)
    brand.click()
    page.locator("#f-colour-1").click()
    expect(page.locator("#connection")).to_contain_text("You’re offline. Your filters are kept")
    expect(brand).to_have_attribute("aria-current", "true")
    page.locator("#f-colour-1").click()
    page.context.set_offline(False)
    expect(page).to_have_url(re.compile(rf"{path}$"))


def test_an_answer_that_does_not_come_can_be_requested_again(page: Page) -> None:
    page.goto(CATEGORY)
    page.route(f"**{CATEGORY}?*", lambda route: route.abort())
    page.locator("#f-colour-1").click()
    expect(page.locator("#connection")).to_contain_text("The shop doesn’t answer.")
    page.unroute_all()
    page.get_by_role("button", name="Try again").click()
    expect(page).to_have_url(re.compile("colour="))
    expect(page.locator("#f-colour-1")).to_have_attribute("aria-current", "true")


@on_a_phone
def test_the_sheet_keeps_its_choices_offline(page: Page) -> None:
    page.goto(CATEGORY)
    page.get_by_role("button", name="Filters").click()
    page.locator("#f-colour-1").click()
    page.context.set_offline(True)
    page.get_by_role("button", name=re.compile("^Show [0-9]*.*products?$")).last.click()
    expect(page.locator("#connection")).to_be_visible()
    expect(page.locator("#filters")).to_be_visible()
    expect(page.locator("#f-colour-1")).to_have_attribute("aria-current", "true")
    page.context.set_offline(False)
    expect(page).to_have_url(re.compile("colour="))


def test_a_link_and_a_form_without_a_connection_leave_the_page_as_it_is(page: Page) -> None:
    page.goto(CATEGORY)
    page.context.set_offline(True)
    page.locator(".card a").first.click()
    expect(page.locator("#connection")).to_contain_text("Nothing on this page is lost.")
    page.get_by_role("button", name="Close").last.click()
    page.get_by_role("combobox", name="Search the shop").fill("tent")
    page.keyboard.press("Enter")
    expect(page.locator("#connection")).to_contain_text("what you typed is kept")
    expect(page.get_by_role("combobox", name="Search the shop")).to_have_value("tent")
    page.context.set_offline(False)
    expect(page.locator("#connection")).to_be_hidden()
    expect(page).to_have_url(re.compile(rf"{CATEGORY}$"))
