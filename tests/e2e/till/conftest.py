"""The till's app on a phone, before the demo shop as it really runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page

from tests.e2e.till.signing_in import PASSWORD, PHONE, sign_in_to_till
from tests.processes import RunningShop


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
