"""Products without photographs have drawings: they load, follow the chosen colour and do not glare in the dark."""

from __future__ import annotations

import re

from playwright.sync_api import Browser, Page, expect

from tests.e2e.test_from_rebuild_to_shop import sign_in
from tests.processes import RunningShop

BRIGHTNESS = """image => image.decode().then(() => {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 40;
  const pen = canvas.getContext("2d");
  pen.drawImage(image, 0, 0, 40, 40);
  return pen.getImageData(2, 2, 1, 1).data[0];
})"""


def test_every_picture_of_a_category_is_drawn(page: Page, stocked: None) -> None:
    page.goto("/c/outdoor/camping/tents")
    pictures = page.locator(".card img[src^='/picture/']:not(.second)")
    assert pictures.count() >= 8
    for place in range(pictures.count()):
        pictures.nth(place).scroll_into_view_if_needed()
        assert pictures.nth(place).evaluate("image => image.decode().then(() => image.naturalWidth)") == 400


def test_the_picture_follows_the_chosen_colour(page: Page, stocked: None) -> None:
    page.goto("/p/skylark-2")
    first = page.locator("#gallery img").first
    before = first.get_attribute("src")
    page.get_by_role("radio", name=re.compile("^Clay")).check()
    expect(first).not_to_have_attribute("src", before or "")
    assert "/picture/tent/b66a50-" in (first.get_attribute("src") or "")


def test_a_drawing_is_dark_in_dark_surroundings(browser: Browser, shop: RunningShop, stocked: None) -> None:
    shades = {}
    for scheme in ("light", "dark"):
        context = browser.new_context(base_url=shop.address, color_scheme=scheme)  # type: ignore[arg-type]
        page = context.new_page()
        page.goto("/p/skylark-2")
        shades[scheme] = page.locator("#gallery img").first.evaluate(BRIGHTNESS)
        context.close()
    assert shades["light"] > 200 > 90 > shades["dark"]


def test_the_list_of_products_in_the_admin_shows_the_same_pictures(page: Page, stocked: None) -> None:
    sign_in(page)
    page.goto("/admin/catalogue/products?q=skylark")
    shown = {picture.get_attribute("src") for picture in page.locator("img.thumb").all()}
    assert any(address and address.startswith("/picture/tent/") for address in shown)
