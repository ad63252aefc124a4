"""The results of a rule's search as a grid, by keyboard and by mouse, until shoppers see the order."""

from __future__ import annotations

import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.e2e.test_from_rebuild_to_shop import sign_in
from tests.e2e.test_search_rule import pinned, until_first

NEW = "/admin/search/ranking/new?term={}&show=grid"


@pytest.fixture(autouse=True, scope="module")
def _stocked(stocked: None) -> None:
    """Every test here looks at products."""


def skus(page: Page) -> list[str]:
    return [str(card.get_attribute("data-row")) for card in page.locator("[data-grid] > li").all()]


def test_a_picture_is_pinned_by_keyboard_and_saved(page: Page) -> None:
    sign_in(page)
    page.goto("/admin/search/ranking/new?term=chair")
    page.get_by_role("button", name="Grid", exact=True).click()
    expect(page).to_have_url(re.compile(r"show=grid"))
    expect(page.locator("[data-grid] > li").nth(2)).to_be_visible()
    news, third = page.locator("#placing-news"), skus(page)[2]
    card = page.locator(f"[data-row='{third}']").and_(page.locator(".grid-card"))
    link = card.get_by_role("link")
    name = link.inner_text()
    link.focus()
    page.keyboard.press("Alt+ArrowLeft")
    expect(news).to_have_text(f"{name} is pinned at place 2.")
    expect(card.locator(".grid-margin")).to_have_text("+1")
    expect(link).to_be_focused()
    assert pinned(page) == [third]
    page.locator("#grid-undo").focus()
    page.keyboard.press("Enter")
    expect(news).to_have_text("The last step is undone.")
    expect(card.locator(".grid-margin")).to_have_count(0)
    assert (pinned(page), skus(page)[2]) == ([], third)
    link.focus()
    page.keyboard.press("Alt+Home")
    expect(card.get_by_text("Pinned")).to_be_visible()
    page.keyboard.press("Control+Enter")  # From the grid, which stands beside the form.
    expect(page.get_by_text("Added the rule for “chair”.")).to_be_visible()
    expect(page).to_have_url(re.compile(r"/ranking/\d+\?show=grid$"))
    until_first(page, "CHAIR", name)


def test_pictures_are_dragged_typed_and_buried(page: Page) -> None:
    sign_in(page)
    page.goto(NEW.format("rucksack"))
    first, second, third = skus(page)[:3] if page.locator("[data-grid] > li").nth(2).inner_text() else []
    grip = page.locator(f"[data-grid] [data-row='{third}'] [data-grip]")
    grip.drag_to(page.locator(f"[data-grid] [data-row='{first}']"), target_position={"x": 5, "y": 50})
    expect(page.locator(f"[data-grid] [data-row='{third}'] .grid-margin")).to_have_text("+2")
    assert skus(page)[:3] == [third, first, second]
    page.locator(f"[data-grid] [data-row='{third}'] [data-place-of]").fill("2")
    page.keyboard.press("Enter")
    expect(page.locator(f"[data-grid] [data-row='{third}'] .grid-margin")).to_have_text("+1")
    assert skus(page)[:3] == [first, third, second]
    page.locator(f"[data-grid] [data-row='{first}']").get_by_role("button", name="Bury").click()
    expect(page.get_by_role("button", name=re.compile("^Stop burying"))).to_be_visible()
    assert first not in skus(page)
    assert Axe().run(page).violations_count == 0


def test_the_page_of_shoppers_stands_in_a_frame_at_both_widths(page: Page) -> None:
    sign_in(page)
    page.goto("/admin/search/ranking/new?term=lantern&show=shop")
    frame = page.frame_locator("[data-shop-frame] iframe")
    expect(frame.get_by_role("heading", name="Results for “lantern”")).to_have_count(1)
    figure = page.locator("[data-shop-frame] figure")
    expect(figure).to_have_attribute("data-width", "1280")
    page.get_by_role("button", name="Phone, 390 px").click()
    expect(figure).to_have_attribute("data-width", "390")
    assert Axe().run(page).violations_count == 0
    assert page.locator("[data-shop-frame] iframe").evaluate("frame => frame.style.width") == "390px"
    page.get_by_role("textbox", name="Text").fill("Light for the night")
    expect(frame.get_by_text("Light for the night")).to_have_count(1)
    expect(figure).to_have_attribute("data-width", "390")


@pytest.mark.parametrize("page", [(390, 844)], indirect=True, ids=["phone"])
def test_the_grid_fits_a_phone(page: Page) -> None:
    sign_in(page)
    for layout in ("grid", "shop"):
        page.goto(f"/admin/search/ranking/new?term=tent&show={layout}")
        expect(page.locator(".grid-card, [data-shop-frame]").first).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
