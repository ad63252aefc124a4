"""Rich text: an editor over a text area, which stays what is sent."""

from __future__ import annotations

import re

from playwright.sync_api import Browser, Locator, Page, expect

from tests.e2e.test_from_rebuild_to_shop import sign_in
from tests.processes import RunningShop

PASTE = """(surface, html) => {
  const clipboardData = new DataTransfer();
  clipboardData.setData("text/html", html);
  surface.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
}"""


def open_product(page: Page, words: str) -> str:
    """Open the editor of the product that is found first, and return its address in the shop."""
    sign_in(page)
    page.goto(f"/admin/catalogue/products?q={words}")
    page.locator("main tbody tr").first.get_by_role("link").first.click()
    page.wait_for_url(re.compile(r"/product/\d+"))
    return page.get_by_role("link", name="See it in the shop").first.get_attribute("href") or ""


def area(page: Page) -> Locator:
    return page.locator("textarea[name=description]")


def test_text_is_formatted_saved_and_shown_in_the_shop(page: Page) -> None:
    in_shop = open_product(page, "LANT-01")
    before = area(page).input_value()
    text = page.get_by_role("textbox", name="Description", exact=True)
    text.click()
    page.keyboard.press("Control+End")
    assert area(page).input_value() == before
    page.keyboard.press("Enter")
    page.keyboard.type("Good to know")
    page.get_by_role("button", name="Heading (H2)", exact=True).click()
    expect(page.get_by_role("button", name="Heading (H2)", exact=True)).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Bulleted list").click()
    page.keyboard.type("burns ")
    page.keyboard.press("Control+b")
    page.keyboard.type("all night")
    added = "<h2>Good to know</h2><ul><li>burns&nbsp;<b>all night</b></li></ul>"
    expect(area(page)).to_have_value(before + added)
    page.keyboard.press("Control+Enter")
    expect(page.locator("#details-news")).to_contain_text("Saved.")
    expect(text.get_by_role("heading", name="Good to know")).to_be_visible()
    page.goto(in_shop)
    expect(page.locator(".prose").get_by_role("listitem")).to_have_text("burns all night")
    expect(page.locator(".prose").get_by_role("heading", name="Good to know")).to_be_visible()


def test_what_is_pasted_keeps_its_words_and_no_more_than_the_shop_shows(page: Page) -> None:
    open_product(page, "LANT-02")
    text = page.get_by_role("textbox", name="Description", exact=True)
    text.click()
    page.keyboard.press("Control+a")
    hostile = (
        '<p style="color:red" onclick="x()">Glows <em>softly</em><img src="https://evil.test/x.png" onerror="x()"></p>'
    )
    text.evaluate(PASTE, hostile + "<script>x()</script><svg><style>p { color: red }</style></svg>")
    expect(area(page)).to_have_value("<p>Glows <i>softly</i></p>")
    page.get_by_role("button", name="HTML", exact=True).click()
    source = page.get_by_label("Description as HTML")
    expect(source).to_be_focused()
    source.fill("<p>Glows <strong>brightly</strong>.</p>")
    page.get_by_role("button", name="HTML", exact=True).click()
    expect(text).to_have_text("Glows brightly.")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#details-news")).to_contain_text("Saved.")
    expect(area(page)).to_have_value("<p>Glows <strong>brightly</strong>.</p>")


SELECT_ALL_AND_LEAVE = """(surface) => {
  getSelection().selectAllChildren(surface);
  surface.parentElement.querySelector("[data-act=link]").focus();
}"""


def test_a_link_is_set_by_keyboard_on_what_was_selected_the_moment_before(page: Page) -> None:
    """The browser tells of a selection a little later than it makes it, on a busy machine after the focus has left."""
    open_product(page, "LANT-03")
    text = page.get_by_role("textbox", name="Description", exact=True)
    text.fill("care")
    text.evaluate(SELECT_ALL_AND_LEAVE)
    page.keyboard.press("Enter")
    address = page.get_by_label("Address of the link")
    expect(address).to_be_focused()
    address.fill("/pages/care")
    address.press("Enter")
    expect(area(page)).to_have_value('<p><a href="/pages/care">care</a></p>')
    expect(text).to_be_focused()


def test_without_scripts_it_is_a_text_area(browser: Browser, shop: RunningShop) -> None:
    context = browser.new_context(base_url=shop.address, java_script_enabled=False)
    page = context.new_page()
    sign_in(page)
    page.goto("/admin/catalogue/product/new")
    page.get_by_label("Description", exact=True).fill("<p>Plain <em>HTML</em></p><script>x()</script>")
    expect(page.get_by_role("toolbar")).to_have_count(0)
    for name, value in {"name": "Written by hand", "sku": "HAND-1", "price": "1"}.items():
        page.locator(f"[name={name}]").fill(value)
    page.get_by_role("button", name="Add the product").click()
    expect(page.get_by_label("Description", exact=True)).to_have_value("<p>Plain <em>HTML</em></p>")
    context.close()
