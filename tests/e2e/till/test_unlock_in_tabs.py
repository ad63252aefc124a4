"""Tabs of one till: they are signed in, locked and signed out as one, and what one of them seals the others open."""

from __future__ import annotations

from playwright.sync_api import BrowserContext, Page, Route, expect

from tests.e2e.till.selling import go, in_app, unlock
from tests.e2e.till.signing_in import PASSWORD, PIN, set_up_pin
from tests.e2e.till.test_unlock import REFRESH, expect_heading


def sign_in(page: Page) -> None:
    page.get_by_role("textbox", name="E-mail").fill("agent@demo.test")
    page.get_by_role("textbox", name="Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()


def two_tabs(phone: BrowserContext) -> list[Page]:
    tabs = [phone.new_page(), phone.new_page()]
    for tab in tabs:
        tab.goto("/till")
        expect_heading(tab, "Sign in")
    return tabs


def test_who_signs_in_in_one_tab_unlocks_the_others(phone: BrowserContext) -> None:
    first, second = two_tabs(phone)
    sign_in(first)
    set_up_pin(first)
    expect_heading(first, "Market stall")
    expect_heading(second, "Locked")
    unlock(second)
    expect_heading(second, "Market stall")


def test_a_second_sign_in_ends_the_first_and_its_pin_opens_both_tabs(phone: BrowserContext) -> None:
    first, second = two_tabs(phone)
    sign_in(first)
    expect_heading(first, "Quick unlock")
    with second.expect_response("**/v1/auth/logout") as ended:
        sign_in(second)
    assert ended.value.status == 204
    expect_heading(first, "Sign in")
    set_up_pin(second)
    expect_heading(second, "Market stall")
    expect_heading(first, "Locked")
    unlock(first)
    expect_heading(first, "Market stall")


def test_an_answer_to_the_session_before_does_not_end_this_one(till: Page) -> None:
    held: list[Route] = []
    till.route("**/v1/auth/devices", lambda route: held.append(route))
    with till.expect_request("**/v1/auth/devices"):
        in_app(till, "api.js", REQUEST_DEVICES)
    with till.expect_response("**/v1/auth/logout"):
        in_app(till, "session.js", "await module.abandon()")
    sign_in(till)
    set_up_pin(till)
    expect_heading(till, "Market stall")
    held[0].continue_()
    assert till.evaluate("window.answered") == "session_revoked"
    expect(till.get_by_role("button", name="Quick payment")).to_be_enabled()


REQUEST_DEVICES = "window.answered = module.get('/v1/auth/devices').then(() => 'devices', (error) => error.code);"


def test_a_till_that_is_locked_and_opened_during_a_refresh_keeps_what_that_gives(till: Page) -> None:
    held: list[Route] = []
    till.route("**/v1/auth/refresh", lambda route: held.append(route), times=1)
    with till.expect_request("**/v1/auth/refresh"):
        till.evaluate(REFRESH)
    in_app(till, "session.js", "module.lock()")
    expect_heading(till, "Locked")
    unlock(till)
    expect(till.get_by_role("button", name="Unlocking…")).to_be_visible()
    in_app(till, "vault.js", "await module.openWithPin(argument)", PIN)  # As long as that takes the screen as well.
    with till.expect_response("**/v1/auth/refresh"):
        held[0].continue_()
    expect_heading(till, "Market stall")
    for _ in range(2):
        till.evaluate(REFRESH)
        assert till.evaluate("window.refreshed") == "refreshed"
        assert in_app(till, "tokens.js", SEALED_AND_HELD) == [True]


SEALED_AND_HELD = """
  const { openTokens } = await import(app.replace("app.js", "vault.js"));
  return [(await openTokens()).refresh === module.currentTokens().refresh];
"""


def test_signing_out_ends_the_training_of_every_tab(till: Page) -> None:
    other = till.context.new_page()
    other.goto("/till")
    unlock(other)
    go(till, "/till/settings")
    till.get_by_role("switch", name="Training mode").click()
    for tab in (till, other):
        expect(tab.get_by_role("complementary", name="Training")).to_be_visible()
    till.get_by_role("button", name="Sign out").click()
    expect_heading(other, "Sign in")
    sign_in(till)
    set_up_pin(till)
    expect_heading(till, "Market stall")
    unlock(other)
    expect_heading(other, "Market stall")
    expect(other.get_by_role("complementary", name="Training")).to_be_hidden()
