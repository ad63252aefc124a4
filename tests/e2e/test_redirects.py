"""An address that changes, from the editor of its page to visitors of the old one, in a real browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.test_from_rebuild_to_shop import sign_in

WIDTHS = pytest.mark.parametrize("page", [(1280, 800), (390, 844)], ids=["wide", "narrow"], indirect=True)


def rename(page: Page, title: str, name: str) -> str:
    """Give a page of text another SEO name by its editor, and return the one that it had."""
    page.goto("/admin/content/pages")
    page.get_by_role("link", name=title, exact=True).click()
    field = page.get_by_label("SEO name")
    before = field.input_value()
    field.fill(name)
    expect(page.get_by_label("Redirect the old address")).to_be_checked()
    field.press("Control+Enter")
    expect(page.locator("#details-news")).to_contain_text("Saved.")
    return before


@WIDTHS
def test_a_renamed_page_is_found_at_its_old_address_until_the_redirect_is_deleted(page: Page):
    sign_in(page)
    old = rename(page, "Returns", "sending-back")
    page.goto(f"/pages/{old}/?utm_source=mail")
    assert page.url.endswith("/pages/sending-back?utm_source=mail")
    page.goto("/admin/seo/redirects")
    page.get_by_label("Address or user").fill("sending")
    page.get_by_role("link", name=f"/pages/{old}").click()
    page.get_by_label("New address").fill(f"/pages/{old}")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("are the same")
    page.get_by_role("button", name="Delete", exact=True).click()
    page.get_by_role("dialog").get_by_role("button", name="Delete", exact=True).click()
    expect(page.locator("#flashes")).to_contain_text(f"/pages/{old} answers 404")
    assert page.request.get(f"/pages/{old}", max_redirects=0).status == 404
    rename(page, "Returns", old)


def test_redirects_of_an_earlier_shop_are_pasted_looked_at_and_imported(page: Page):
    sign_in(page)
    page.goto("/admin/seo/redirects")
    page.get_by_role("link", name="Import…").click()
    page.get_by_label("Or paste").fill("from,to\n/Shop/About.html,/pages/about\n/pages/about,/\n")
    page.get_by_role("button", name="See what it does").click()
    expect(page.locator("#report")).to_contain_text("1 would be added, 0 changed, 0 stay as they are, 1 refused")
    expect(page.get_by_role("row", name="/pages/about,/")).to_contain_text("shoppers see instead of any redirect")
    page.get_by_role("button", name="Import 1 redirect").click()
    expect(page.locator("#flashes")).to_contain_text("Imported: 1 added")
    page.goto("/shop/about.html")
    expect(page.get_by_role("heading", level=1)).to_have_text("About us")
