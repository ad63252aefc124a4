"""A phone, and signing in to the till on it."""

from __future__ import annotations

from playwright.sync_api import Page, ViewportSize, expect

PHONE: ViewportSize = {"width": 390, "height": 844}
PASSWORD = "demo-password-1"
PIN = "8253"


def sign_in_to_till(page: Page, email: str = "agent@demo.test") -> Page:
    page.goto("/till")
    page.get_by_role("textbox", name="E-mail").fill(email)
    page.get_by_role("textbox", name="Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    set_up_pin(page)
    expect(page.get_by_role("heading", name="Market stall")).to_be_visible()
    return page


def set_up_pin(page: Page) -> None:
    """Choose a PIN, where the app offers one."""
    later = page.get_by_role("button", name="Not now")
    chosen = page.get_by_role("textbox", name="Choose a PIN")
    expect(later.or_(chosen).first).to_be_visible()
    if chosen.is_visible():
        chosen.fill(PIN)
        page.get_by_role("textbox", name="Repeat the PIN").fill(PIN)
        page.get_by_role("button", name="Save PIN").click()
    else:
        later.click()
