"""The trees of the admin as a screen reader meets them."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.e2e.test_from_rebuild_to_shop import sign_in

RULES = {"rules": {"label-content-name-mismatch": {"enabled": True}}}


@pytest.mark.parametrize("address", ["/admin/catalogue/taxonomy/outdoor-and-home", "/admin/merchandising/1"])
def test_rows_of_a_tree_are_named_by_what_one_sees_of_them(page: Page, address: str) -> None:
    sign_in(page)
    page.goto(address)
    expect(page.locator("#tree [aria-expanded=true]").first).to_be_visible()
    found = Axe().run(page, options=RULES)
    assert not found.violations_count, found.generate_report()
