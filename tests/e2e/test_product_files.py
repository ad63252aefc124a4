"""Products come in from the file of another program, with their pictures, in a real browser."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import FilePayload, Page, expect

from tests.domain.bundles.picture_archives import packed, png
from tests.e2e.test_from_rebuild_to_shop import sign_in

PAGE = "/admin/catalogue/products/import"
SECONDS = 60_000
WIDTHS = pytest.mark.parametrize("page", [(1280, 800), (390, 844)], ids=["wide", "narrow"], indirect=True)


def table(number: int) -> FilePayload:
    lines = (
        f"Product Code,Title,Unit Price,Place {number},Photo,Shelf",
        f"PF-{number},Ridge lantern {number},12.50,Camping > Lanterns,lantern.png,A",
        f"PF-{number}-b,Hook {number},2.50,Lanterns,gone.png,B",
    )
    return {"name": "stock.csv", "mimeType": "text/csv", "buffer": "\n".join(lines).encode()}


def send(page: Page, number: int) -> None:
    page.goto(PAGE)
    page.get_by_label("File", exact=True).set_input_files(table(number))
    archive = packed({"lantern.png": png(number % 32)})
    pictures: FilePayload = {"name": "photos.zip", "mimeType": "application/zip", "buffer": archive}
    page.get_by_label("Pictures (optional)").set_input_files(pictures)
    page.get_by_role("button", name="Match its columns").click()
    expect(page.get_by_role("heading", name="Match the columns")).to_be_visible()


def has_no_finding(page: Page) -> bool:
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    return page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@WIDTHS
def test_products_come_in_with_their_levels_and_pictures(page: Page, stocked: None) -> None:
    number = page.viewport_size["width"] if page.viewport_size else 0
    sign_in(page)
    send(page, number)
    assert has_no_finding(page)
    expect(page.get_by_label("Title")).to_have_value("name")
    page.get_by_label(f"Place {number}").select_option(label="Level")
    page.get_by_role("button", name="Preview import").click()
    expect(page.get_by_role("heading", name="What would change")).to_be_visible(timeout=SECONDS)
    expect(page.get_by_role("row", name="gone.png")).to_contain_text("The .zip has no picture “gone.png”.")
    assert has_no_finding(page)
    page.get_by_role("button", name="Import 2 products").click()
    expect(page.get_by_role("heading", name="What changed")).to_be_visible(timeout=SECONDS)
    page.goto(f"/admin/catalogue/products?q=PF-{number}")
    page.get_by_role("link", name=f"Ridge lantern {number}").first.click()
    expect(page.locator("main")).to_contain_text("Lanterns")
    expect(page.locator("main img[src*='/media/']").first).to_be_visible()


def test_a_file_is_matched_as_the_last_one_until_the_names_of_its_columns_are_to_count(
    page: Page, stocked: None
) -> None:
    sign_in(page)
    send(page, 3)
    page.get_by_label("Shelf").select_option(label="Manufacturer")
    page.get_by_role("button", name="Preview import").click()
    expect(page.get_by_role("heading", name="What would change")).to_be_visible(timeout=SECONDS)
    send(page, 3)
    expect(page.get_by_label("Shelf")).to_have_value("manufacturer")
    page.get_by_role("link", name="Match by the names of the columns").click()
    expect(page.get_by_label("Shelf")).to_have_value("")
    expect(page.get_by_text("Matched as last time")).to_have_count(0)
