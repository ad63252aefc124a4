"""Two-step sign-in in a real browser: turned on with an app, signed in with a code, then with a recovery code."""

from __future__ import annotations

import re
import time

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from app.domain.sites.one_time_codes import STEP, code_at
from tests.e2e.till.test_unlock import AUTHENTICATOR
from tests.processes import RunningShop

EMAIL, PASSWORD = "two.steps@demo.test", "nine blue kettles"


@pytest.fixture(scope="module")
def _user(shop: RunningShop) -> None:
    """A merchandiser whom no other test signs in."""
    made = shop.flask(
        "user",
        "create",
        EMAIL,
        "--site",
        "localhost",
        "--role",
        "MERCHANDISER",
        "--name",
        "Two Steps",
        "--password",
        PASSWORD,
    )
    assert made.returncode == 0, made.stderr


def give_password(page: Page) -> None:
    page.goto("/admin/login")
    page.get_by_label("Email address").fill(EMAIL)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()


def sign_out(page: Page) -> None:
    page.get_by_role("button", name="your account").click()
    page.get_by_role("button", name="Sign out").click()
    expect(page).to_have_url(re.compile("/admin/login"))


def code_of_now(key: str, later: int = 0) -> str:
    """Return the code that an app with this key shows now, or so many steps later."""
    return code_at(key, int(time.time()) // STEP + later)


def check_accessibility(page: Page) -> None:
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()


@pytest.mark.parametrize("page", [(1280, 800), (390, 844)], indirect=True, ids=["wide", "phone"])
def test_turning_it_on_and_signing_in_with_a_code_and_a_recovery_code(
    page: Page, shop: RunningShop, _user: None
) -> None:
    give_password(page)
    page.get_by_role("button", name="your account").click()
    page.get_by_role("link", name="Two-step sign-in").click()
    expect(page.get_by_role("img", name="QR code")).to_be_visible()
    check_accessibility(page)
    key = page.get_by_label("Or type this key").input_value().replace(" ", "")
    page.get_by_label("Code in the app").fill(code_of_now(key))
    page.get_by_label("Your password").fill(PASSWORD)
    page.get_by_role("button", name="Turn on two-step sign-in").click()
    codes = page.get_by_label("Ten codes").input_value().split()
    assert len(codes) == 10
    check_accessibility(page)
    sign_out(page)

    give_password(page)
    expect(page.get_by_label("Six-digit code")).to_be_focused()
    check_accessibility(page)
    page.keyboard.type(code_of_now(key, later=1))
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Dashboard")).to_be_visible()
    sign_out(page)

    give_password(page)
    page.get_by_role("link", name="Use a recovery code").click()
    expect(page.get_by_label("Recovery code")).to_be_focused()
    page.keyboard.type(codes[0])
    page.keyboard.press("Enter")
    expect(page.get_by_text("9 are left")).to_be_visible()
    page.goto("/admin/two-step")
    page.get_by_label("Your password").fill(PASSWORD)
    page.get_by_role("button", name="Turn off").click()
    expect(page.get_by_text("is off")).to_be_visible()
    sign_out(page)


@pytest.mark.parametrize("page", [(1280, 800), (390, 844)], indirect=True, ids=["wide", "phone"])
def test_a_passkey_is_added_signs_in_alone_and_is_removed(page: Page, shop: RunningShop, _user: None) -> None:
    devices = page.context.new_cdp_session(page)
    devices.send("WebAuthn.enable")
    devices.send("WebAuthn.addVirtualAuthenticator", {"options": AUTHENTICATOR})
    give_password(page)
    page.get_by_role("button", name="your account").click()
    page.get_by_role("link", name="Passkeys").click()
    check_accessibility(page)
    page.get_by_label("Name").fill("This device")
    page.get_by_label("Your password").fill(PASSWORD)
    page.get_by_role("button", name="Continue").click()
    check_accessibility(page)
    page.get_by_role("button", name="Make the passkey").click()
    expect(page.get_by_text("Passkey added")).to_be_visible()
    check_accessibility(page)
    sign_out(page)

    page.get_by_role("link", name="Sign in with a passkey").click()
    expect(page.get_by_role("button", name="Use a passkey")).to_be_focused()
    check_accessibility(page)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Dashboard")).to_be_visible()

    page.goto("/admin/passkeys")
    page.get_by_role("button", name="Remove… This device").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove passkey").click()
    expect(page.get_by_text("No passkeys yet")).to_be_visible()
    sign_out(page)
    page.get_by_role("link", name="Sign in with a passkey").click()
    page.get_by_role("button", name="Use a passkey").click()
    expect(page.get_by_text("It may have been removed")).to_be_visible()
