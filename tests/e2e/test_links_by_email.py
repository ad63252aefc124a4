"""A user is invited by email, chooses a password, forgets it, and sets a new one by the link of another email."""

from __future__ import annotations

import re
from collections.abc import Iterator
from email import message_from_bytes, policy

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.test_from_rebuild_to_shop import sign_in
from tests.processes import RunningShop
from tests.waiting import until

FIRST, SECOND = "a kettle sings at six", "the kettle was too loud"


@pytest.fixture
def guest(browser: Browser, shop: RunningShop) -> Iterator[Page]:
    """A browser in which nobody has signed in."""
    with browser.new_context(base_url=shop.address) as context:
        opened = context.new_page()
        opened.set_default_timeout(20_000)
        yield opened


def links(shop: RunningShop, address: str, to: str) -> list[str]:
    """The paths of the links in all emails to an address that lead to one page."""
    found = []
    for file in sorted((shop.instance / "mail").glob("*.eml"), key=lambda file: file.stat().st_mtime):
        mail = message_from_bytes(file.read_bytes(), policy=policy.default)
        if address in mail["To"]:
            text = mail.get_body(("plain",)).get_content()
            found += re.findall(rf"https?://[^/\s]+(/admin/{to}/\S+)", text)
    return found


def link(shop: RunningShop, address: str, to: str) -> str:
    """The link of the one email, once the worker has written it."""
    until(lambda: len(links(shop, address, to)) == 1, 30)
    return links(shop, address, to)[0]


def invite(page: Page, address: str) -> None:
    sign_in(page, "admin@demo.test")
    page.goto("/admin/users")
    page.get_by_role("link", name="Invite a user").first.click()
    page.get_by_label("Email address").fill(address)
    page.get_by_label("Merchandiser").check()
    page.get_by_role("button", name="Send invitation").click()
    expect(page.locator("#flashes")).to_contain_text(address)


def accept(guest: Page, path: str) -> None:
    guest.goto(path)
    guest.get_by_label("Your name").fill("Nora New")
    guest.get_by_label("Password").fill(FIRST)
    guest.get_by_role("button", name="Accept").click()
    expect(guest.get_by_text("Welcome. Sign in with your new password.")).to_be_visible()


def sign_in_by_form(guest: Page, address: str, password: str) -> None:
    guest.goto("/admin/login")
    guest.get_by_label("Email address").fill(address)
    guest.get_by_label("Password").fill(password)
    guest.get_by_role("button", name="Sign in").click()


def test_an_invitation_is_accepted_once_and_its_user_gets_the_role(page: Page, guest: Page, shop: RunningShop) -> None:
    address = "nora@home.test"
    invite(page, address)
    path = link(shop, address, "invitation")
    accept(guest, path)
    sign_in_by_form(guest, address, FIRST)
    expect(guest.get_by_role("heading", level=1)).to_have_text("Dashboard")
    expect(guest.get_by_role("link", name="Mobile POS")).to_have_count(0)
    page.goto("/admin/users")
    expect(page.get_by_role("row", name="Nora New")).not_to_contain_text("Invited")
    guest.goto(path)
    expect(guest.get_by_role("heading", level=1)).to_have_text("This link no longer works")


def test_a_forgotten_password_is_replaced_by_a_link_that_works_once(page: Page, guest: Page, shop: RunningShop) -> None:
    address = "olga@home.test"
    invite(page, address)
    accept(guest, link(shop, address, "invitation"))
    guest.context.clear_cookies()
    sign_in_by_form(guest, address, "not what it was")
    expect(guest.get_by_role("alert")).to_be_visible()
    guest.get_by_role("link", name=re.compile("[Ff]orgot")).click()
    guest.get_by_label("Email address").fill(address)
    guest.get_by_role("button", name="Send link").click()
    expect(guest.get_by_role("heading", level=1)).to_have_text("Check your email")
    path = link(shop, address, "new-password")
    guest.goto(path)
    guest.get_by_label("New password").fill("short")
    guest.get_by_role("button", name="Set password").click()
    expect(guest).to_have_url(re.compile("/new-password/"))  # The browser itself asks for more characters.
    guest.get_by_label("New password").fill(SECOND)
    guest.get_by_role("button", name="Set password").click()
    expect(guest.get_by_role("heading", level=1)).to_have_text("Sign in")
    guest.context.clear_cookies()
    sign_in_by_form(guest, address, FIRST)
    expect(guest.get_by_role("alert")).to_be_visible()
    sign_in_by_form(guest, address, SECOND)
    expect(guest.get_by_role("heading", level=1)).to_have_text("Dashboard")
    guest.goto(path)
    expect(guest.get_by_role("heading", level=1)).to_have_text("This link no longer works")
