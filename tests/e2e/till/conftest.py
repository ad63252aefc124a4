"""The till's app on a phone, before the demo shop as it really runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, expect

from tests.processes import RunningShop

PHONE = {"width": 390, "height": 844}
PASSWORD = "demo-password-1"
PIN = "8253"


@pytest.fixture
def phone(browser: Browser, shop: RunningShop) -> Iterator[BrowserContext]:
    """A phone with nothing on it. A script error or a breach of the content policy on any of its pages fails the
    test."""
    context = browser.new_context(base_url=shop.address, viewport=PHONE, has_touch=True, is_mobile=True)
    context.set_default_timeout(20_000)
    complaints: list[str] = []

    def note(message: ConsoleMessage) -> None:
        if message.type == "error" and "Failed to load resource" not in message.text:
            complaints.append(message.text)

    context.on("console", note)
    context.on("weberror", lambda error: complaints.append(str(error.error)))
    yield context
    context.close()
    assert complaints == []


@pytest.fixture
def till(phone: BrowserContext) -> Page:
    """The till, signed in as the demo agent at the one location, on its start screen."""
    return sign_in_to_till(phone.new_page())


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


@pytest.fixture
def api(shop: RunningShop, phone: BrowserContext) -> Callable[..., dict]:
    """Call /v1 as the demo agent's other program: what the shop's ledger holds, seen from outside of the app."""
    signed_in = phone.request.post(
        "/v1/auth/login", data={"email": "agent@demo.test", "password": PASSWORD, "audience": "pos"}
    ).json()
    headers = {"Authorization": f"Bearer {signed_in['token']}"}

    def call(method: str, path: str, **data: object) -> dict:
        answer = phone.request.fetch(path, method=method, headers=headers, data=data or None)
        assert answer.ok, answer.text()
        return answer.json() if answer.body() else {}

    return call
