"""The till is installed, starts without a network, and moves to a new version at its next start."""

from __future__ import annotations

from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.e2e.till.signing_in import PHONE, PIN, sign_in_to_till
from tests.e2e.till.test_unlock import expect_heading, type_pin
from tests.e2e.till.unreliable_network import network_before
from tests.processes import RunningShop
from tests.waiting import until

IS_WAITING = "navigator.serviceWorker.getRegistration('/till').then((found) => Boolean(found.waiting))"
IS_CONTROLLED = "navigator.serviceWorker.controller !== null"


def install(page: Page) -> None:
    page.evaluate("navigator.serviceWorker.ready")
    until(lambda: page.evaluate(IS_CONTROLLED))


def test_chromium_finds_nothing_that_keeps_it_from_being_installed(till: Page) -> None:
    install(till)
    session = till.context.new_cdp_session(till)
    found = session.send("Page.getInstallabilityErrors")["installabilityErrors"]
    # A headless browser has no windows for apps to be installed from; nothing else may be missing.
    assert {error["errorId"] for error in found} <= {"in-incognito"}
    manifest = session.send("Page.getAppManifest")
    assert manifest["errors"] == []
    assert manifest["url"].endswith("/till/manifest.webmanifest")


def test_it_starts_without_a_network(phone: BrowserContext) -> None:
    page = sign_in_to_till(phone.new_page())
    install(page)
    phone.set_offline(True)
    page.goto("/till/help")
    type_pin(page, PIN)
    expect_heading(page, "Help")
    page.goto("/till")
    type_pin(page, PIN)
    expect(page.get_by_role("status", name="Offline", exact=True)).to_be_visible()


def test_a_new_version_takes_over_at_the_next_start_and_says_so(shop: RunningShop, browser: Browser) -> None:
    with network_before(shop.port) as network:
        context = browser.new_context(base_url=network.address, viewport=PHONE)
        page = sign_in_to_till(context.new_page())
        install(page)
        other = context.new_page()
        other.goto("/till")

        network.rewrites = a_new_version
        page.evaluate("async () => (await navigator.serviceWorker.getRegistration('/till')).update()")
        until(lambda: page.evaluate(IS_WAITING))
        # While another window works with the old version, that one stays.
        page.goto("/till")
        type_pin(page, PIN)
        expect_heading(page, "Market stall")
        expect(page.get_by_text("was updated")).to_be_hidden()
        other.close()

        page.goto("/till")
        type_pin(page, PIN)
        expect(page.get_by_text("The till was updated to the newest version.")).to_be_visible()
        kept = [name for name in page.evaluate("caches.keys()") if name.startswith("till-shell")]
        assert [name for name in kept if not name.startswith("till-shell-next-")] == []
        context.close()


def a_new_version(request: str, body: bytes) -> bytes:
    return body.replace(b'const VERSION = "', b'const VERSION = "next-') if request == "GET /till/sw.js" else body
