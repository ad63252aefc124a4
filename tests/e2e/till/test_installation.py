"""The till is installed, starts without a network, and moves to a new version at its next start."""

from __future__ import annotations

from playwright.sync_api import BrowserContext, Page, Route, expect

from tests.e2e.till.conftest import PIN, sign_in_to_till
from tests.e2e.till.test_unlock import expect_heading, type_pin

IS_CONTROLLED = "navigator.serviceWorker.controller !== null"


def install(page: Page) -> None:
    page.evaluate("navigator.serviceWorker.ready")
    page.wait_for_function(IS_CONTROLLED)


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
    expect(page.get_by_role("status").filter(has_text="Offline")).to_be_visible()


def test_a_new_version_takes_over_at_the_next_start_and_says_so(phone: BrowserContext) -> None:
    page = sign_in_to_till(phone.new_page())
    install(page)

    def another_version(route: Route) -> None:
        answer = route.fetch()
        route.fulfill(response=answer, body=answer.text().replace('const VERSION = "', 'const VERSION = "next-'))

    phone.route("**/till/sw.js", another_version)
    page.evaluate("async () => (await navigator.serviceWorker.getRegistration('/till')).update()")
    page.wait_for_function("async () => (await navigator.serviceWorker.getRegistration('/till')).waiting !== null")
    assert "next-" not in str(page.evaluate("caches.keys()")) or page.evaluate(IS_CONTROLLED)
    other = phone.new_page()
    other.goto("/till")
    type_pin(other, PIN)
    expect_heading(other, "Market stall")
    expect(other.get_by_text("was updated")).to_be_hidden()
    other.close()
    page.goto("/till")
    type_pin(page, PIN)
    expect(page.get_by_text("The till was updated to the newest version.")).to_be_visible()
    assert [name for name in page.evaluate("caches.keys()") if name.startswith("till-shell")] == [
        name for name in page.evaluate("caches.keys()") if name.startswith("till-shell-next-")
    ]
