"""On paper stands what the page is about, without what belongs to the screen."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.e2e.test_from_rebuild_to_shop import sign_in


def test_a_printed_order_has_neither_messages_nor_links_to_help(page: Page) -> None:
    sign_in(page, "admin@demo.test")
    page.goto("/admin/orders")
    page.locator("#state-submitted").click()
    page.locator("#results tbody a").first.click()
    page.get_by_role("button", name="Collected").click()
    shown = page.locator("#flashes .note"), page.locator(".help-line"), page.locator(".top")
    for part in shown:
        expect(part).to_be_visible()
    page.emulate_media(media="print")
    for part in shown:
        expect(part).to_be_hidden()
    expect(page.get_by_role("heading", level=1)).to_be_visible()
