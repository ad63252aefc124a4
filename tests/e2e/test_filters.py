"""Filters of a listing in a real browser: long ones, sliders, ratings and the sheet of phones."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

CATEGORY = "/c/outdoor"
SHOW = re.compile(r"^Show ([\d,]+) products?$")
on_a_phone = pytest.mark.parametrize("page", [(390, 844)], indirect=True, ids=["phone"])


@pytest.fixture(autouse=True, scope="module")
def _stocked(stocked: None) -> None:
    """Every test here looks at products."""


def focused(page: Page) -> str:
    return str(page.evaluate("document.activeElement.id"))


def test_a_long_filter_unfolds_and_stays_unfolded(page: Page) -> None:
    page.goto(CATEGORY)
    brands = page.locator("[id^=f-manufacturer-]:visible")
    expect(brands).to_have_count(10)
    show_all = page.locator("#all-manufacturer")
    total = int(re.sub(r"\D", "", show_all.inner_text()))
    show_all.press("Enter")
    expect(brands).to_have_count(total)
    assert focused(page) == "f-manufacturer-11"
    page.locator("#f-inStock-1").click()
    expect(page).to_have_url(re.compile("inStock=true"))
    expect(show_all).to_have_attribute("aria-expanded", "true")
    show_all.click()
    expect(brands).to_have_count(10)


def test_the_box_searches_among_all_values_and_enter_takes_the_only_one(page: Page) -> None:
    page.goto(CATEGORY)
    last = page.locator("[id^=f-manufacturer-] > span").last.text_content() or ""
    page.locator("#find-manufacturer").press_sequentially(last.upper())
    expect(page.locator("[id^=f-manufacturer-]:visible")).to_have_count(1)
    expect(page.locator("#v-manufacturer").get_by_role("status")).to_have_text("1 found")
    page.locator("#find-manufacturer").fill("qqq")
    expect(page.locator("#v-manufacturer").get_by_role("status")).to_have_text("Nothing found")
    page.locator("#find-manufacturer").fill(last)
    page.locator("#find-manufacturer").press("Enter")
    expect(page.locator("#v-manufacturer a.on")).to_contain_text(last)


def test_a_chosen_value_is_seen_though_its_filter_is_folded(page: Page) -> None:
    page.goto(CATEGORY)
    link = page.locator("[id^=f-colour-]").last
    label, address = link.locator("span").first.inner_text(), link.get_attribute("href") or ""
    page.goto(address)
    expect(page.locator("#v-colour a.on")).to_contain_text(label)
    expect(page.locator("#v-colour a.on")).to_be_visible()


def test_a_handle_of_the_slider_sets_the_price_by_keyboard(page: Page) -> None:
    page.goto(CATEGORY)
    handle = page.get_by_role("slider", name="Price to")
    for _ in range(5):
        handle.press("ArrowLeft")
    value = handle.input_value()
    expect(page.locator("[name=price_max]")).to_have_value(value)
    expect(page).to_have_url(re.compile(rf"{CATEGORY}\?price_max={value}$"))
    assert focused(page) == "to-price"
    page.get_by_role("slider", name="Price to").press("End")
    expect(page).to_have_url(re.compile(rf"{CATEGORY}\??$"))
    expect(page.locator("[name=price_max]")).to_have_value("")


def test_the_handles_do_not_pass_each_other(page: Page) -> None:
    page.goto(f"{CATEGORY}?price_min=50&price_max=100")
    low, high = page.get_by_role("slider", name="Price from"), page.get_by_role("slider", name="Price to")
    low.press("End")
    expect(low).to_have_value(high.input_value())
    expect(page.locator("[name=price_min]")).to_have_value("100")


def test_a_rating_is_chosen_by_stars(page: Page) -> None:
    page.goto(CATEGORY)
    page.get_by_role("link", name="4 stars and up").click()
    expect(page).to_have_url(re.compile("rating_min=4"))
    page.get_by_role("list", name="Chosen filters").get_by_role("link", name="Rating: 4 stars and up").click()
    expect(page).to_have_url(re.compile(rf"{CATEGORY}$"))


@on_a_phone
def test_the_sheet_counts_the_products_that_its_choices_leave(page: Page) -> None:
    page.goto(CATEGORY)
    page.get_by_role("button", name="Filters").click()
    button = page.get_by_role("button", name=SHOW)
    before = button.inner_text()
    page.locator("#f-colour-1").click()
    expect(button).not_to_have_text(before)
    said = button.inner_text()
    button.click()
    expect(page.locator("#filters")).to_be_hidden()
    shown = page.get_by_role("status").first
    expect(shown).to_have_text(said.removeprefix("Show "))


@on_a_phone
def test_clear_takes_back_what_is_staged_and_what_is_set(page: Page) -> None:
    page.goto(CATEGORY)
    page.get_by_role("button", name="Filters").click()
    page.locator("#f-colour-1").click()
    page.locator("[name=price_max]").fill("20")
    page.get_by_role("button", name="Clear").click()
    expect(page.locator("#f-colour-1")).not_to_have_attribute("aria-current", "true")
    expect(page.locator("[name=price_max]")).to_have_value("")
    page.locator("#f-colour-1").click()
    page.get_by_role("button", name=SHOW).click()
    expect(page).to_have_url(re.compile("colour="))
    page.get_by_role("button", name="Filters (1)").click()
    page.get_by_role("link", name="Clear", exact=True).click()
    expect(page.locator("#filters a.on")).to_have_count(0)
    expect(page.locator("#filters")).to_be_visible()
    page.get_by_role("button", name=SHOW).click()
    expect(page).to_have_url(re.compile(rf"{CATEGORY}$"))
    expect(page.locator("#filters")).to_be_hidden()


@on_a_phone
def test_the_sheet_takes_as_many_values_of_a_filter_as_an_address_carries(page: Page) -> None:
    page.goto(CATEGORY)
    page.get_by_role("button", name="Filters").click()
    page.locator("#f-inStock-1").click()
    page.locator("#all-manufacturer").click()
    for number in range(1, 12):
        page.locator(f"#f-manufacturer-{number}").click()
    expect(page.locator("#v-manufacturer a.on")).to_have_count(10)
    expect(page.locator("#v-manufacturer").get_by_role("status")).to_have_text(
        "At most 10 values of a filter can be chosen."
    )
    page.get_by_role("button", name=SHOW).click()
    expect(page).to_have_url(re.compile("(manufacturer=[^&]+&?){10}$"))
    expect(page.locator("#v-manufacturer a[data-chosen]")).to_have_count(10)


@on_a_phone
def test_the_slider_of_the_sheet_waits_for_the_button(page: Page) -> None:
    page.goto(CATEGORY)
    page.get_by_role("button", name="Filters").click()
    for _ in range(5):
        page.get_by_role("slider", name="Price to").press("ArrowLeft")
    value = page.locator("[name=price_max]").input_value()
    expect(page.locator("#filters")).to_be_visible()
    page.get_by_role("button", name=SHOW).click()
    expect(page).to_have_url(re.compile(rf"price_max={value}$"))


def counts(page: Page, facet: str) -> dict[str, int]:
    found = page.locator(f"[id^=f-{facet}-]").evaluate_all(
        "(links) => links.map((link) => [link.querySelector('span'), link.querySelector('small')]"
        ".map((part) => part.textContent)).map(([label, count]) => [label, Number(count)])"
    )
    return dict(found)


@on_a_phone
def test_the_counts_of_the_sheet_follow_what_is_chosen_and_what_leaves_nothing_cannot_be_chosen(page: Page) -> None:
    page.goto(CATEGORY)
    page.get_by_role("button", name="Filters").click()
    before = counts(page, "manufacturer")
    page.locator("#f-colour-1").click()
    expect(page.locator("[id^=f-manufacturer-][aria-disabled]").first).to_be_attached()
    after = counts(page, "manufacturer")
    assert list(after) == list(before), "what is there stays where it is"
    assert all(after[brand] <= before[brand] for brand in before) and 0 < sum(after.values()) < sum(before.values())
    disabled = page.locator("[id^=f-manufacturer-][aria-disabled]")
    expect(disabled).to_have_count(sum(count == 0 for count in after.values()))
    said = page.get_by_role("button", name=SHOW).inner_text()
    disabled.first.dispatch_event("click")
    expect(page.locator("#v-manufacturer a.on")).to_have_count(0)
    page.get_by_role("button", name=SHOW).click()
    expect(page.get_by_role("status").first).to_have_text(said.removeprefix("Show "))


@on_a_phone
def test_a_sheet_that_is_closed_shows_the_counts_of_the_page_again(page: Page) -> None:
    page.goto(CATEGORY)
    page.get_by_role("button", name="Filters").click()
    before, said = counts(page, "manufacturer"), page.get_by_role("button", name=SHOW).inner_text()
    page.locator("#f-colour-1").click()
    expect(page.locator("[aria-disabled]").first).to_be_attached()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Filters").click()
    expect(page.locator("[aria-disabled]")).to_have_count(0)
    assert counts(page, "manufacturer") == before
    expect(page.get_by_role("button", name=SHOW)).to_have_text(said)


@on_a_phone
def test_the_sheet_never_ends_where_nothing_matches(page: Page) -> None:
    page.goto(CATEGORY)
    page.get_by_role("button", name="Filters").click()
    page.locator("#f-colour-1").click()
    expect(page.locator("[aria-disabled]").first).to_be_attached()
    said = page.get_by_role("button", name=SHOW).inner_text()
    page.locator("[name=price_min]").fill("99999")
    nothing = page.get_by_role("button", name="No products match")
    expect(nothing).to_be_disabled()
    page.locator(".apply").click(position={"x": 3, "y": 3})
    expect(page.locator("#filters")).to_be_visible()
    expect(page).to_have_url(re.compile(rf"{CATEGORY}$"))
    page.get_by_role("button", name="Undo “Price”").press("Enter")
    expect(page.locator("[name=price_min]")).to_have_value("")
    expect(page.locator("#f-colour-1")).to_have_attribute("aria-current", "true")
    expect(page.get_by_role("button", name=SHOW)).to_have_text(said)
    page.get_by_role("button", name=SHOW).click()
    expect(page).to_have_url(re.compile(rf"{CATEGORY}\?colour=\w+$"))


@on_a_phone
def test_a_page_where_nothing_matches_has_a_sheet_that_clears_it(page: Page) -> None:
    page.goto(f"{CATEGORY}?price_min=99999")
    page.get_by_role("button", name="Filters (1)").click()
    page.get_by_role("button", name="Clear all filters").click()
    page.get_by_role("button", name=SHOW).click()
    expect(page).to_have_url(re.compile(rf"{CATEGORY}$"))
    expect(page.locator(".card").first).to_be_visible()
