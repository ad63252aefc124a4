"""A shop comes in as a file larger than any other upload, with a worker, and goes out again."""

from __future__ import annotations

import io
import json
import os
import re
import zipfile
from pathlib import Path

from playwright.sync_api import FilePayload, Page, expect

from tests.e2e.test_from_rebuild_to_shop import sign_in

SECONDS = 60_000
PRODUCTS = [{"sku": f"E2E-{number}", "name": f"Enamel mug {number}", "price": 900} for number in range(20)]


def bundle(path: Path) -> Path:
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("products.jsonl", "".join(json.dumps(row) + "\n" for row in [*PRODUCTS, {"sku": "E2E-bad"}]))
        made.writestr("notes.bin", os.urandom(12 * 1024 * 1024))
    return path


def test_a_file_is_previewed_imported_and_found_and_exported(page: Page, stocked: None, tmp_path: Path) -> None:
    sign_in(page, "admin@demo.test")
    page.goto("/admin/settings")
    page.get_by_role("navigation", name="Settings").get_by_role("link", name="Import and export").click()
    imports = page.locator("#import")
    imports.get_by_label("File").set_input_files(bundle(tmp_path / "mugs.zip"))
    imports.get_by_role("button", name="Preview import").click()
    expect(page.get_by_role("heading", name="What would change")).to_be_visible(timeout=SECONDS)
    expect(page.locator("#run")).to_contain_text("E2E-0: Enamel mug 0")
    expect(page.locator("#run")).to_contain_text("products.jsonl, line 21")
    expect(page.locator("#run")).to_contain_text("notes.bin: Unknown file.")

    page.get_by_role("button", name="Import now").press("Enter")
    expect(page.get_by_role("heading", name="What changed")).to_be_visible(timeout=SECONDS)
    page.goto("/admin/catalogue/products?q=E2E-7")
    expect(page.get_by_role("link", name="Enamel mug 7")).to_be_visible()

    page.goto("/admin/settings/import-export")
    page.locator("#export").get_by_role("button", name="Export").click()
    link = page.get_by_role("link", name=re.compile("^Download "))
    expect(link).to_be_visible(timeout=SECONDS)
    with page.expect_download() as download:
        link.click()
    with zipfile.ZipFile(download.value.path()) as made:
        assert made.read("products.jsonl").count(b"E2E-") == len(PRODUCTS)


def test_what_is_no_bundle_is_said_to_be_none(page: Page, stocked: None) -> None:
    sign_in(page, "admin@demo.test")
    page.goto("/admin/settings/import-export")
    picture: FilePayload = {"name": "shop.zip", "mimeType": "application/zip", "buffer": io.BytesIO(b"no zip").read()}
    page.locator("#import").get_by_label("File").set_input_files(picture)
    page.locator("#import").get_by_role("button", name="Preview import").click()
    expect(page.locator("#run")).to_contain_text("This is not a readable .zip file", timeout=SECONDS)
