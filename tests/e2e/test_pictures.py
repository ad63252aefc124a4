"""Pictures are added to a product; the worker draws them while the page waits."""

from __future__ import annotations

import io
import re

from PIL import Image
from playwright.sync_api import FilePayload, Page, expect

from tests.e2e.test_from_rebuild_to_shop import sign_in


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


def drawn() -> bytes:
    out = io.BytesIO()
    Image.effect_noise((600, 400), 80).save(out, "PNG")
    return out.getvalue()


def payload(name: str, content: bytes) -> FilePayload:
    return {"name": name, "mimeType": "image/png", "buffer": content}
