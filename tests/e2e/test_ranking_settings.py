"""The ranking of searches: previewed and replayed while it is chosen, saved, served and undone."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.test_from_rebuild_to_shop import sign_in
from tests.processes import RunningShop

LONG = 60_000  # A worker may be busy.


@pytest.fixture(autouse=True, scope="module")
def _stocked(shop: RunningShop, stocked: None) -> None:
    """The test looks at products."""


def test_a_ranking_is_previewed_replayed_saved_and_undone(page: Page) -> None:
    sign_in(page)
    page.goto("/admin/search/ranking")
    page.get_by_role("link", name="Ranking of searches").click()
    preview = page.locator("#try")
    expect(preview).to_contain_text("sold-out products as they are; no weights", timeout=LONG)
    expect(preview).to_contain_text("nothing changes")
    page.get_by_label("Newness").select_option("high")
    page.get_by_label("In searches").select_option("hidden")
    expect(preview).to_contain_text("sold-out products hidden; newness high", timeout=LONG)
    preview.get_by_label("Another search").fill("tent")
    preview.get_by_role("button", name="Compare").click()
    expect(preview.locator(".tried-words")).to_have_text(["tent"], timeout=LONG)
    page.get_by_label("Stock").select_option("high")
    expect(preview).to_contain_text("newness high, stock high", timeout=LONG)
    expect(preview.locator(".tried-words")).to_have_text(["tent"])
    preview.get_by_role("button", name="Replay the top 200 searches").click()
    expect(page.locator("#replay")).to_contain_text("top search", timeout=LONG)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    page.get_by_role("button", name="Save", exact=True).last.click()
    expect(page.locator("#flashes")).to_contain_text("Saved: sold-out products")
    expect(page.get_by_label("In searches")).to_have_value("hidden")
    page.locator("#flashes").get_by_role("button", name="Undo").press("Enter")
    expect(page.locator("#flashes")).to_contain_text("Undone")
    expect(page.get_by_label("In searches")).to_have_value("as-is")
