"""A superadmin creates a staging site as a copy of the shop, in the browser."""

from __future__ import annotations

import re

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.e2e.test_from_rebuild_to_shop import sign_in


def test_a_staging_copy_is_created_and_worked_on(page: Page) -> None:
    sign_in(page, "super@demo.test")
    page.goto("/admin/catalogue/products")
    all_products = page.get_by_role("link", name="Classify all")
    wanted = all_products.inner_text()
    page.goto("/admin/settings/sites")
    assert Axe().run(page).response["violations"] == []
    form = page.locator("#create")
    form.get_by_label("Name").fill("Staging shop")
    form.get_by_label("Host").fill("not a host")
    form.get_by_role("button", name="Create site").click()
    expect(page.get_by_role("alert")).to_contain_text("is not a host name")
    form.get_by_label("Host").fill("staging.localhost")
    form.get_by_label("Begin with").select_option(label="A copy of Demo shop (localhost)")
    form.get_by_label("Staging site").check()
    form.get_by_role("button", name="Create site").click()
    row = page.get_by_role("row", name="Staging shop")
    expect(row).not_to_contain_text("Copying", timeout=120_000)
    expect(row).to_contain_text("Staging")
    row.get_by_role("button", name="Work on it").click()
    page.goto("/admin/catalogue/products")
    expect(page.get_by_role("link", name="View shop")).to_have_attribute("href", re.compile("staging.localhost"))
    expect(all_products).to_have_text(wanted)
