"""A judgement list: made, rated by keyboard, computed, and judging the preview of a rule."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.test_from_rebuild_to_shop import sign_in
from tests.processes import RunningShop

LONG = 60_000  # A worker may be busy.


@pytest.fixture(autouse=True, scope="module")
def _stocked(shop: RunningShop, stocked: None) -> None:
    """The test looks at products."""


def test_a_list_is_rated_by_keyboard_and_judges_a_preview(page: Page) -> None:
    sign_in(page)
    page.goto("/admin/search/judgements")
    page.get_by_label("Name").fill("Rated by keyboard")
    page.get_by_role("button", name="Create").click()
    page.get_by_label("One search a line").fill("tent\nzeppelin")
    page.get_by_role("button", name="Add searches").click()
    expect(page.locator("#flashes")).to_contain_text("Added 2 searches.")
    page.get_by_role("link", name="Rate “tent”").click()
    expect(page.locator("[name=rating-0]").first).to_be_focused()
    for key in ("0", "3", "2"):
        page.keyboard.press(key)
    expect(page.locator("[name=rating-3]").first).to_be_focused()
    for key in ("ArrowUp", "Delete", "1"):
        page.keyboard.press(key)
    expect(page.locator("[data-left]")).to_contain_text("7 of 10 left")
    checked = [page.locator(f"[name=rating-{place}]:checked").input_value() for place in range(3)]
    assert checked == ["0", "3", "1"]
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Rate “zeppelin”")
    expect(page.locator("#flashes")).to_contain_text("Saved 3 ratings.")
    page.get_by_role("link", name="Rated by keyboard").click()
    page.get_by_role("button", name="Compute").click()
    expect(page.locator("#judged")).to_contain_text("over 1 search", timeout=LONG)
    page.get_by_label("Judge previews by this list").check()
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator("#flashes")).to_contain_text("Saved.")
    page.goto("/admin/search/ranking/new?term=tent")
    expect(page.locator("#try")).to_contain_text("NDCG@10 of “Rated by keyboard”", timeout=LONG)
    page.goto("/admin/search/judgements")
    page.get_by_role("link", name="Rated by keyboard").click()
    page.get_by_role("button", name="Delete the list…").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.locator("#flashes")).to_contain_text("Deleted: Rated by keyboard.")
