"""Pictures are added to a product; the worker draws them while the page waits."""

from __future__ import annotations

import io
import re

from PIL import Image
from playwright.sync_api import Browser, FilePayload, Page, expect

from tests.e2e.test_from_rebuild_to_shop import sign_in
from tests.processes import RunningShop
from tests.waiting import until


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


def test_a_small_picture_leads_to_the_large_one(page: Page, stocked: None) -> None:
    sign_in(page)
    page.goto("/admin/catalogue/product/3")
    pictures = page.locator("#images .pictures li")
    before = pictures.count()
    for number, name in enumerate(("front.png", "back.png"), start=1):
        page.get_by_label("Add a picture").set_input_files(payload(name, drawn((900, 700))))
        expect(pictures).to_have_count(before + number)
    page.goto(page.get_by_role("link", name="See it in the shop").get_attribute("href") or "")
    first, last = page.locator(".thumbs a").first, page.locator(".thumbs a").last
    expect(first).to_have_attribute("aria-current", "true")
    expect(page.locator(".frames img").last).not_to_be_in_viewport()
    last.focus()
    page.keyboard.press("Enter")
    expect(last).to_have_attribute("aria-current", "true")
    expect(first).not_to_have_attribute("aria-current", "true")
    expect(last).to_be_focused()
    expect(page.locator(".frames img").last).to_be_in_viewport(ratio=0.9)


def test_a_picture_opens_on_the_whole_screen_and_arrow_keys_lead_on(page: Page, stocked: None) -> None:
    sign_in(page)
    page.goto("/admin/catalogue/product/6")
    pictures = page.locator("#images .pictures li")
    for number, name in enumerate(("front.png", "back.png"), start=1):
        page.get_by_label("Add a picture").set_input_files(payload(name, drawn((900, 700))))
        expect(pictures).to_have_count(number)
    page.goto(page.get_by_role("link", name="See it in the shop").get_attribute("href") or "")
    large = page.locator(".frames a").first
    large.focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name=re.compile("^Pictures of "))
    expect(dialog).to_contain_text("1 of 2")
    for key, place in (("ArrowRight", "2 of 2"), ("ArrowRight", "1 of 2"), ("ArrowLeft", "2 of 2")):
        page.keyboard.press(key)
        expect(dialog.get_by_role("status")).to_have_text(place)
    shown = dialog.locator("img").last
    expect(shown).to_be_in_viewport(ratio=0.9)
    before = shown.bounding_box()
    shown.click()
    after = shown.bounding_box()
    assert before and after and round(after["height"]) == 2 * round(before["height"])
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(large).to_be_focused()


def test_under_a_mouse_a_card_shows_the_second_picture_without_moving(page: Page, stocked: None) -> None:
    sign_in(page)
    page.goto("/admin/catalogue/product/7")
    for number, name in enumerate(("front.png", "back.png"), start=1):
        page.get_by_label("Add a picture").set_input_files(payload(name, drawn((900, 700))))
        expect(page.locator("#images .pictures li")).to_have_count(number)
    path = (page.get_by_role("link", name="See it in the shop").get_attribute("href") or "").rpartition("/")[2]
    card = page.locator(f".card:has(a[href='/p/{path}'])")

    def is_in_the_index() -> bool:
        page.goto(f"/search?q={path.replace('-', '+')}")
        return card.locator(".second").count() == 1

    until(is_in_the_index)
    second, before = card.locator(".second"), card.bounding_box()
    expect(second).to_be_hidden()
    card.hover()
    expect(second).to_be_visible()
    assert card.bounding_box() == before


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
