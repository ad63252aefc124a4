"""The appearance of the shop: previewed beside the form, arranged, saved, seen by shoppers and undone."""

from __future__ import annotations

import io

import pytest
from PIL import Image
from playwright.sync_api import FilePayload, Locator, Page, expect

from tests.e2e.test_from_rebuild_to_shop import sign_in
from tests.processes import RunningShop

PAGE = "/admin/settings/appearance"


@pytest.fixture(autouse=True, scope="module")
def _stocked(shop: RunningShop, stocked: None) -> None:
    """The preview shows products."""


def picture() -> FilePayload:
    out = io.BytesIO()
    Image.new("RGB", (900, 500), "teal").save(out, "PNG")
    return FilePayload(name="hero.png", mimeType="image/png", buffer=out.getvalue())


def kinds(page: Page) -> Locator:
    return page.locator(".looks-section h3")


def test_an_appearance_is_previewed_saved_and_undone(page: Page) -> None:
    sign_in(page, "admin@demo.test")
    page.goto(PAGE)
    before = page.get_by_label("Heading", exact=True).first.input_value()
    preview = page.frame_locator('iframe[title="The home page as it would look"]')
    page.get_by_label("Heading", exact=True).first.fill("Under the stars")
    expect(preview.get_by_role("heading", level=1)).to_have_text("Under the stars")

    page.get_by_label("Accent colour", exact=True).fill("#ffd400")
    expect(page.locator("#contrast")).to_contain_text("It is shown darker")
    expect(preview.locator('link[href*="/static/look/ffd400"]')).to_have_count(1)

    page.get_by_label("Picture of the hero").set_input_files(picture())
    expect(page.get_by_alt_text("The present picture of the hero")).to_be_visible()
    expect(preview.locator(".hero.pictured img")).to_have_attribute("width", "900")
    expect(page.get_by_label("Heading", exact=True).first).to_have_value("Under the stars")

    second = kinds(page).nth(1).inner_text().partition(" ")[2]
    page.locator("#down-0").focus()
    page.keyboard.press("Enter")
    expect(kinds(page).first).to_have_text(f"1. {second}")
    expect(page.get_by_text("Not saved yet.")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")

    page.get_by_role("button", name="Save appearance").click()
    expect(page.locator("#flashes")).to_contain_text("Saved. Shoppers see it at once.")
    page.goto("/")
    expect(page.get_by_role("heading", level=1)).to_have_text("Under the stars")

    page.goto(PAGE)
    page.get_by_role("button", name="Undo the last change").click()
    expect(page.locator("#flashes")).to_contain_text("The last change is undone.")
    expect(page.get_by_label("Heading", exact=True).first).to_have_value(before)


@pytest.mark.parametrize("page", [(390, 844)], ids=["narrow"], indirect=True)
def test_the_form_fits_a_phone_and_says_what_is_wrong(page: Page) -> None:
    sign_in(page, "admin@demo.test")
    page.goto(PAGE)
    page.get_by_label("Background", exact=True).fill("#777777")
    page.get_by_role("button", name="Save appearance").click()
    expect(page.get_by_role("alert")).to_contain_text("would have a contrast of 1.5 : 1")
    expect(page.get_by_label("Background", exact=True)).to_have_value("#777777")
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
