"""Pictures are added to a product; the worker draws them while the page waits."""

from __future__ import annotations

import io
import re

from PIL import Image
from playwright.sync_api import Browser, FilePayload, Page, expect

from tests.e2e.test_from_rebuild_to_shop import sign_in
from tests.processes import RunningShop


def test_a_picture_appears_when_it_is_prepared_and_a_damaged_one_says_so(page: Page, stocked: None) -> None:
    sign_in(page)
    page.goto("/admin/catalogue/product/1")
    pictures = page.locator("#images .pictures li")
    before = pictures.count()
    choose = page.get_by_label("Add a picture")
    choose.set_input_files(payload("tent.png", drawn()))
    expect(pictures).to_have_count(before + 1)
    expect(page.locator("#image-uploads")).not_to_contain_text("being prepared")
    assert page.locator("#images .pictures img").last.evaluate("image => image.decode().then(() => image.naturalWidth)")

    page.get_by_label("Add a picture").set_input_files(payload("broken.png", drawn()[:2_000]))
    news = page.locator("#image-uploads").get_by_role("alert")
    expect(news).to_contain_text("broken.png was not added. This is not a whole JPEG, PNG, WebP or GIF picture.")
    news.get_by_role("button", name=re.compile("^Dismiss")).click()
    expect(news).to_have_count(0)
    expect(pictures).to_have_count(before + 1)


def test_a_description_that_is_being_typed_stays_when_a_picture_is_ready(page: Page, stocked: None) -> None:
    sign_in(page)
    page.goto("/admin/catalogue/product/4")
    pictures = page.locator("#images .pictures li")
    before = pictures.count()
    choose = page.get_by_label("Add a picture")
    choose.set_input_files(payload("front.png", drawn()))
    expect(pictures).to_have_count(before + 1)
    choose.set_input_files(payload("back.png", drawn()))
    description = page.get_by_label("Description of picture 1 ")
    description.press_sequentially("A green tent")
    expect(pictures).to_have_count(before + 2)
    expect(description).to_be_focused()
    description.press_sequentially(" by a lake")
    expect(description).to_have_value("A green tent by a lake")
    assert choose.evaluate("field => field.files.length") == 0
    with page.expect_response("**/describe"):
        description.press("Enter")
    page.reload()
    expect(description).to_have_value("A green tent by a lake")


def test_a_screen_loads_the_size_that_it_shows(page: Page, shop: RunningShop, browser: Browser, stocked: None) -> None:
    sign_in(page)
    page.goto("/admin/catalogue/product/2")
    before = page.locator("#images .pictures li").count()
    page.get_by_label("Add a picture").set_input_files(payload("large.png", drawn((1_400, 1_400))))
    expect(page.locator("#images .pictures li")).to_have_count(before + 1)
    product = page.get_by_role("link", name="See it in the shop").get_attribute("href") or ""
    assert loaded_by(browser, shop, product, 390).endswith("-small.webp")
    assert loaded_by(browser, shop, product, 1_280).endswith("-medium.webp")


def test_a_category_begins_with_the_picture_that_it_is_given(page: Page, stocked: None) -> None:
    sign_in(page)
    page.goto("/admin/merchandising/category/1")
    card = page.locator("#category-picture")
    page.get_by_label("Picture of its own").set_input_files(payload("outdoor.png", drawn()))
    expect(card.get_by_role("img")).to_be_visible()
    expect(card.get_by_role("heading")).to_be_focused()
    picture = card.get_by_role("img").get_attribute("src") or ""
    page.goto(page.locator("#in-the-tree a.mono").get_attribute("href") or "")
    expect(page.locator(".lead-picture")).to_have_attribute("src", picture)
    page.go_back()
    card.get_by_role("button", name="Remove").click()
    expect(card).to_contain_text("None of its own.")


def test_a_small_picture_takes_the_place_of_the_large_one(page: Page, stocked: None) -> None:
    sign_in(page)
    page.goto("/admin/catalogue/product/3")
    pictures = page.locator("#images .pictures li")
    before = pictures.count()
    for number, name in enumerate(("front.png", "back.png"), start=1):
        page.get_by_label("Add a picture").set_input_files(payload(name, drawn((900, 700))))
        expect(pictures).to_have_count(before + number)
    page.goto(page.get_by_role("link", name="See it in the shop").get_attribute("href") or "")
    links = page.locator(".gallery a")
    first, last = links.first, links.last
    expect(first).to_have_attribute("aria-current", "true")
    last.focus()
    page.keyboard.press("Enter")
    expect(last).to_have_attribute("aria-current", "true")
    expect(first).not_to_have_attribute("aria-current", "true")
    expect(last).to_be_focused()
    large, small = last.bounding_box(), first.bounding_box()
    assert large and small and large["width"] > 2 * small["width"] and large["y"] < small["y"]


def loaded_by(browser: Browser, shop: RunningShop, product: str, width: int) -> str:
    """The first picture of a product's page that a screen of this width takes."""
    context = browser.new_context(base_url=shop.address, viewport={"width": width, "height": 800})
    page = context.new_page()
    page.goto(product)
    path: str = page.locator(".gallery img").first.evaluate("image => image.decode().then(() => image.currentSrc)")
    context.close()
    return path


def drawn(size: tuple[int, int] = (600, 400)) -> bytes:
    out = io.BytesIO()
    Image.effect_noise(size, 80).save(out, "PNG")
    return out.getvalue()


def payload(name: str, content: bytes) -> FilePayload:
    return {"name": name, "mimeType": "image/png", "buffer": content}
