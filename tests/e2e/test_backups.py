"""A superadmin makes a backup in the browser, takes it home and deletes it."""

from __future__ import annotations

import zipfile
from pathlib import Path

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.e2e.test_from_rebuild_to_shop import sign_in


def test_a_backup_is_made_downloaded_and_deleted_without_reloading_by_hand(page: Page, tmp_path: Path) -> None:
    sign_in(page, "super@demo.test")
    page.goto("/admin/settings/backups")
    expect(page.get_by_text("No backups yet")).to_be_visible()
    page.get_by_role("button", name="Back up now").click()
    row = page.get_by_role("row", name="Complete")
    expect(row).to_be_visible(timeout=60_000)
    expect(row).to_contain_text("products")
    assert Axe().run(page).response["violations"] == []
    row.get_by_role("link", name="Download").click()
    page.get_by_label("Your password").fill("demo-password-1")
    assert Axe().run(page).response["violations"] == []
    with page.expect_download() as started:
        page.get_by_role("button", name="Download backup").click()
    home = tmp_path / started.value.suggested_filename
    started.value.save_as(home)
    assert {"manifest.json", "database.db"} <= set(zipfile.ZipFile(home).namelist())
    page.get_by_role("link", name="Backups").first.click()
    row.get_by_role("link", name="Delete").click()
    page.get_by_label("Your password").fill("demo-password-1")
    page.get_by_role("button", name="Delete backup").click()
    expect(page.get_by_text(f"Deleted {home.name}.")).to_be_visible()
    expect(page.get_by_text("No backups yet")).to_be_visible()
