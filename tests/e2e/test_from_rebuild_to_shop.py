"""The main way through everything: sign in, rebuild, save a product, find it in the shop."""

import re
from typing import Any

from playwright.sync_api import Page, expect

from tests.waiting import until

SECONDS_UNTIL_FOUND = 10


_cookies: dict[str, Any] = {}


def sign_in(page: Page, email: str = "merch@demo.test") -> None:
    """By the form the first time, then by the cookie that it left."""
    if email in _cookies:
        page.context.add_cookies([_cookies[email]])
    page.goto("/admin/")
    if "/admin/login" in page.url:
        page.get_by_label("Email address").fill(email)
        page.get_by_label("Password").fill("demo-password-1")
        page.get_by_role("button", name="Sign in").click()
    expect(page).to_have_url(re.compile(r"/admin/?$"))
    _cookies[email] = next(cookie for cookie in page.context.cookies() if cookie["name"] == "shop")


def found_in_shop(page: Page, words: str, name: str) -> bool:
    page.goto(f"/search?q={words}")
    return page.get_by_role("main").get_by_role("link", name=name).count() > 0


def until_found(page: Page, words: str, name: str, seconds: float = SECONDS_UNTIL_FOUND) -> None:
    until(lambda: found_in_shop(page, words, name), seconds)


def test_a_rebuild_is_followed_live_until_it_is_done(page: Page) -> None:
    sign_in(page)
    page.get_by_role("navigation", name="Sections").get_by_role("link", name="Search").click()
    page.get_by_role("button", name="Rebuild…").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Everything").check()
    dialog.get_by_role("button", name="Rebuild").click()
    run = page.locator("#run")
    expect(run).to_contain_text(re.compile(r"requested by"))
    # The card asks for itself until the run has ended; nobody reloads the page.
    expect(run).to_contain_text(re.compile(r"\d+ documents"), timeout=60_000)
    expect(run).not_to_have_attribute("hx-get", re.compile("."))


def test_a_saved_product_is_found_in_the_shop_within_seconds(page: Page) -> None:
    sign_in(page)
    page.goto("/admin/catalogue/products")
    page.locator("main tbody").get_by_role("link").first.click()
    page.get_by_role("textbox", name="Name", exact=True).fill("Quokkaberry lantern")
    page.get_by_role("textbox", name="Search terms").fill("wandering glowworm")
    page.get_by_role("button", name="Save").last.click()
    expect(page.get_by_text("Saved. Search shows it in a few seconds.")).to_be_visible()
    until_found(page, "quokkaberry", "Quokkaberry lantern")
    until_found(page, "glowworm", "Quokkaberry lantern")
