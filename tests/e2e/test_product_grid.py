"""The products of a category as a grid, by mouse and by keyboard, until shoppers see the order."""

from __future__ import annotations

import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.e2e.test_from_rebuild_to_shop import sign_in


@pytest.fixture(autouse=True, scope="module")
def _stocked(stocked: None) -> None:
    """Every test here looks at products."""


# Each with how far the top of the grid is above that of the screen.
MOVES = (("Enter", -100), ("Alt+ArrowLeft", 0), ("Enter", 150), ("Alt+ArrowRight", 300), ("Enter", 450))
FOCUS_A_CARD_IN_SIGHT = """within => {
  const box = (one) => one.getBoundingClientRect();
  const isInSight = (one) => box(one).top > 80 && box(one).bottom < innerHeight - 80;
  const cards = [...document.querySelectorAll("[data-grid] > :nth-child(n + 3)")];
  const found = cards.map((card) => card.querySelector(within));
  const seen = found.filter((one) => one && one.getAttribute("aria-disabled") !== "true" && isInSight(one));
  seen.at(-1)?.focus({ preventScroll: true });
  return seen.at(-1)?.id;
}"""
WHERE_IT_STANDS = """id => {
  const box = document.getElementById(id).closest("[data-row]").getBoundingClientRect();
  return [box.top, box.bottom, innerHeight];
}"""


def in_order(page: Page) -> list[str]:
    return [str(field.get_attribute("value")) for field in page.locator("[name=product]").all()]


def test_pictures_are_pinned_moved_undone_and_saved(page: Page) -> None:
    sign_in(page)
    page.goto("/admin/merchandising/category/1")
    page.get_by_role("button", name="Grid", exact=True).click()
    expect(page).to_have_url(re.compile(r"show=grid"))
    start, news = len(in_order(page)), page.locator("#products-news")
    for place in (4, 6):
        page.locator(".grid-card.loose").nth(place).get_by_role("button", name="Pin first").click()
        expect(page.locator(".grid-card:not(.loose)")).to_have_count(start + (1 if place == 4 else 2))
    first, second = in_order(page)[:2]
    expect(news).to_contain_text("is at place 1 of")
    page.locator(f"#of-{first}").focus()
    page.keyboard.press("Alt+ArrowRight")
    expect(news).to_contain_text("is at place 2 of")
    expect(page.locator(f"#of-{first}")).to_be_focused()
    assert in_order(page)[:2] == [second, first]
    page.locator(f"#place-{first}").fill("1")
    page.locator(f"#place-{first}").press("Enter")
    expect(news).to_contain_text("is at place 1 of")
    assert in_order(page)[:2] == [first, second]
    page.get_by_role("button", name="Undo the last step").click()
    expect(news).to_have_text("The last step is undone.")
    assert in_order(page)[:2] == [second, first]
    grip = page.locator(f"[data-row='{first}'] [data-grip]")
    grip.drag_to(page.locator(f"[data-row='{second}']"), target_position={"x": 5, "y": 50})
    expect(news).to_contain_text("is at place 1 of")
    assert in_order(page)[:2] == [first, second]
    page.get_by_role("button", name="Save", exact=True).last.click()
    expect(page.locator("#details-news")).to_contain_text("Saved.")
    page.reload()
    assert in_order(page)[:2] == [first, second]


def test_a_product_is_buried_by_keyboard_and_by_dropping_it_and_shoppers_see_it_last(page: Page) -> None:
    sign_in(page)
    page.set_viewport_size({"width": 1280, "height": 3000})  # What is dragged and where it is dropped are in sight.
    page.goto("/admin/merchandising/category/3?show=grid")
    news, cards = page.locator("#products-news"), page.locator("[data-grid] > li")
    names = cards.locator("a").all_inner_texts()
    page.get_by_role("button", name=f"Bury {names[1]}", exact=True).focus()
    page.keyboard.press("Enter")
    expect(news).to_have_text(f"{names[1]} is buried.")
    expect(page.get_by_role("button", name=f"Stop burying {names[1]}", exact=True)).to_be_focused()
    page.locator("[data-grid] [data-grip]").first.drag_to(page.locator("[data-buried]"))
    expect(news).to_have_text(f"{names[0]} is buried.")
    page.get_by_role("button", name="Undo the last step").press("Enter")
    expect(news).to_have_text("The last step is undone.")
    assert cards.locator("a").all_inner_texts() == [names[0], *names[2:]]
    expect(page.locator("[data-buried] .grid-margin")).to_have_text(f"−{len(names) - 2}")
    assert Axe().run(page).violations_count == 0
    page.keyboard.press("Control+Enter")
    expect(page.locator("#details-news")).to_contain_text("Saved.")
    page.get_by_role("button", name="As shoppers see it").press("Enter")
    shown = page.frame_locator("[data-shop-frame] iframe").locator("main .cards > .card")
    expect(shown.last).to_contain_text(names[1])


def test_the_category_is_shown_as_shoppers_see_it(page: Page) -> None:
    sign_in(page)
    page.goto("/admin/merchandising/category/1")
    in_form = in_order(page)
    page.get_by_role("button", name="As shoppers see it").press("Enter")
    expect(page).to_have_url(re.compile(r"show=shop"))
    frame, figure = page.frame_locator("[data-shop-frame] iframe"), page.locator("[data-shop-frame] figure")
    expect(frame.locator("h1")).to_have_text("Outdoor")
    page.get_by_role("button", name="Phone, 390 px").press("Enter")
    expect(figure).to_have_attribute("data-width", "390")
    assert in_order(page) == in_form
    assert Axe().run(page).violations_count == 0
    page.get_by_role("button", name="List", exact=True).press("Enter")
    expect(figure).to_have_count(0)


@pytest.mark.parametrize("page", [(1280, 800), (390, 844)], indirect=True, ids=["desktop", "phone"])
def test_a_moved_picture_stays_in_sight_wherever_the_page_is_scrolled(page: Page) -> None:
    sign_in(page)
    page.goto("/admin/merchandising/category/1?show=grid")
    news = page.locator("#products-news")
    for press, distance in MOVES:
        grid = page.locator("[data-grid]")
        grid.evaluate("(one, distance) => scrollTo(0, one.getBoundingClientRect().top + scrollY + distance)", distance)
        focused = page.evaluate(FOCUS_A_CARD_IN_SIGHT, "[id^=top-]" if press == "Enter" else "a")
        assert focused, distance
        before, said = page.evaluate("scrollY"), news.inner_text()
        page.keyboard.press(press)
        expect(news).not_to_have_text(said)
        expect(page.locator(f"#{focused}")).to_be_focused()
        top, bottom, height = page.evaluate(WHERE_IT_STANDS, focused)
        assert top >= 50 and bottom <= height, (press, distance, top, bottom)
        assert abs(page.evaluate("scrollY") - before) < height, (press, distance)


@pytest.mark.parametrize("page", [(1280, 800)], indirect=True, ids=["desktop"])
def test_what_a_look_up_finds_comes_into_sight(page: Page) -> None:
    sign_in(page)
    page.goto("/admin/merchandising/category/1")
    field = page.get_by_label("Add products")
    field.evaluate("one => scrollTo(0, one.getBoundingClientRect().bottom + scrollY - innerHeight + 70)")
    field.press_sequentially("a")
    expect(page.locator("#found .found")).to_be_visible()
    page.wait_for_function(
        "() => document.querySelector('#found .found').getBoundingClientRect().bottom <= innerHeight - 60"
    )
    assert field.evaluate("one => one.getBoundingClientRect().top") > 50


@pytest.mark.parametrize("page", [(390, 844)], indirect=True, ids=["phone"])
def test_the_grid_fits_a_phone(page: Page) -> None:
    sign_in(page)
    page.goto("/admin/merchandising/category/1?show=grid")
    expect(page.locator(".grid-card").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert page.locator(".product-grid").evaluate("one => one.scrollWidth <= one.clientWidth")
