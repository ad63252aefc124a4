"""The till locks, and opens by PIN or passkey alone; the shop ends what was guessed at."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import Browser, BrowserContext, CDPSession, Page, expect

from tests.e2e.till.selling import CANDLES, go, installed, order
from tests.e2e.till.signing_in import PASSWORD, PHONE, PIN, set_up_pin, sign_in_to_till
from tests.e2e.till.unreliable_network import network_before
from tests.processes import RunningShop
from tests.waiting import until

# Other tests of the same shop make agents of its staff, and switch them off again.
NO_AGENT = re.compile("This account may not sell|Your agent account is switched off")
AUTHENTICATOR = {
    "protocol": "ctap2",
    "ctap2Version": "ctap2_1",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}


def type_pin(page: Page, pin: str) -> None:
    page.get_by_role("textbox", name="PIN").fill(pin)
    page.get_by_role("button", name="Unlock").click()


def expect_heading(page: Page, name: str) -> None:
    expect(page.get_by_role("heading", name=name, exact=True)).to_be_visible()


def database_of(page: Page) -> dict[str, int]:
    """How many records each store of the app's database has."""
    records: dict[str, int] = page.evaluate(
        """async () => {
          const db = await new Promise((resolve) => {
            const opening = indexedDB.open("till");
            opening.onsuccess = () => resolve(opening.result);
          });
          const count = (store) => new Promise((resolve) => {
            const counting = db.transaction(store).objectStore(store).count();
            counting.onsuccess = () => resolve([store, counting.result]);
          });
          const counts = Object.fromEntries(await Promise.all([...db.objectStoreNames].map(count)));
          db.close();
          return counts;
        }"""
    )
    return records


def test_a_till_is_for_agents_and_says_what_is_missing(phone: BrowserContext) -> None:
    page = phone.new_page()
    page.goto("/till")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_text("Enter your e-mail address.")).to_be_visible()
    page.get_by_role("textbox", name="E-mail").fill("merch@demo.test")
    page.get_by_role("textbox", name="Password").fill("wrong")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_contain_text("password")
    page.get_by_role("textbox", name="Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_contain_text(NO_AGENT)
    page.get_by_role("textbox", name="E-mail").fill("admin@demo.test")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_contain_text(NO_AGENT)
    expect_heading(page, "Sign in")


def test_a_pin_opens_the_till_and_five_wrong_ones_end_the_session(phone: BrowserContext) -> None:
    page = phone.new_page()
    page.goto("/till")
    page.get_by_role("textbox", name="E-mail").fill("agent@demo.test")
    page.get_by_role("textbox", name="Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    for pin, reason in (("12", "4 to 6 digits"), ("1234", "in a row"), ("7777", "one digit"), ("1987", "year")):
        page.get_by_role("textbox", name="Choose a PIN").fill(pin)
        page.get_by_role("button", name="Save PIN").click()
        expect(page.locator(".error")).to_contain_text(reason)
    page.get_by_role("textbox", name="Choose a PIN").fill(PIN)
    page.get_by_role("textbox", name="Repeat the PIN").fill("8254")
    page.get_by_role("button", name="Save PIN").click()
    expect(page.locator(".error")).to_contain_text("differ")
    page.get_by_role("textbox", name="Repeat the PIN").fill(PIN)
    page.get_by_role("button", name="Save PIN").click()
    expect_heading(page, "Market stall")

    page.reload()
    type_pin(page, "9999")
    expect(page.get_by_role("alert").first).to_contain_text("4 of 5 attempts left")
    type_pin(page, PIN)
    expect_heading(page, "Market stall")

    page.reload()
    for left in (4, 3):
        type_pin(page, "9999")
        expect(page.get_by_role("alert").first).to_contain_text(f"{left} of 5 attempts left")
    # Neither a reload nor a second tab gives more attempts.
    page.reload()
    other = phone.new_page()
    other.goto("/till")
    type_pin(other, "9999")
    expect(other.get_by_role("alert").first).to_contain_text("2 of 5 attempts left")
    type_pin(page, "9999")
    expect(page.get_by_role("alert").first).to_contain_text("1 of 5 attempts left")
    with page.expect_response("**/v1/auth/logout") as ended:
        type_pin(page, "9999")
    assert ended.value.status == 204
    assert '"reason":"PIN_LOCKOUT"' in (ended.value.request.post_data or "")
    for tab in (page, other):
        expect_heading(tab, "Sign in")
        expect(tab.get_by_text("The PIN was wrong five times")).to_be_visible()
    assert database_of(page)["vault"] == 0


@contextmanager
def authenticator(page: Page, has_secret: bool, **more: object) -> Iterator[tuple[CDPSession, str]]:
    """A fingerprint reader of the phone. `has_secret`: its passkeys give one (the PRF extension)."""
    session = page.context.new_cdp_session(page)
    session.send("WebAuthn.enable")
    options = AUTHENTICATOR | {"hasPrf": has_secret} | more
    added = session.send("WebAuthn.addVirtualAuthenticator", {"options": options})
    yield session, added["authenticatorId"]


def sign_in_with_finger(page: Page) -> None:
    page.goto("/till")
    page.get_by_role("textbox", name="E-mail").fill("agent@demo.test")
    page.get_by_role("textbox", name="Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("button", name="Use fingerprint or face").click()
    expect_heading(page, "Market stall")


def test_a_passkey_with_a_secret_opens_the_till_without_the_shop(phone: BrowserContext) -> None:
    page = phone.new_page()
    page.goto("/till")
    with authenticator(page, has_secret=True) as (session, reader):
        sign_in_with_finger(page)
        installed(page)
        page.reload()
        expect_heading(page, "Locked")
        phone.set_offline(True)
        page.get_by_role("button", name="Unlock").click()
        expect_heading(page, "Market stall")
        phone.set_offline(False)
        page.reload()
        session.send("WebAuthn.setUserVerified", {"authenticatorId": reader, "isUserVerified": False})
        page.get_by_role("button", name="Unlock").click()
        expect(page.get_by_role("alert").first).to_contain_text("did not recognise you")
        expect_heading(page, "Locked")


def test_a_passkey_without_a_secret_is_verified_by_the_shop(phone: BrowserContext) -> None:
    page = phone.new_page()
    page.goto("/till")
    with authenticator(page, has_secret=False) as (session, reader):
        sign_in_with_finger(page)
        page.reload()
        session.send("WebAuthn.setUserVerified", {"authenticatorId": reader, "isUserVerified": False})
        page.get_by_role("button", name="Unlock").click()
        expect(page.get_by_role("alert").first).to_contain_text("did not recognise you")
        session.send("WebAuthn.setUserVerified", {"authenticatorId": reader, "isUserVerified": True})
        with page.expect_response("**/v1/auth/refresh") as refreshed:
            page.get_by_role("button", name="Unlock").click()
        assert refreshed.value.status == 200
        assert '"assertion"' in (refreshed.value.request.post_data or "")
        expect_heading(page, "Market stall")


def test_a_passkey_that_the_shop_verifies_takes_the_place_of_the_pin(phone: BrowserContext) -> None:
    page = phone.new_page()
    page.goto("/till")
    with authenticator(page, has_secret=False):
        sign_in_to_till(page)
        page.reload()
        type_pin(page, "9999")
        expect(page.get_by_role("alert").first).to_contain_text("4 of 5 attempts left")
        type_pin(page, PIN)
        expect_heading(page, "Market stall")
        go(page, "/till/unlock")
        page.get_by_role("button", name="Use fingerprint or face").click()
        expect_heading(page, "Settings")
        page.reload()
        expect(page.get_by_role("button", name="Unlock")).to_be_visible()
        expect(page.get_by_role("textbox", name="PIN")).to_be_hidden()
        page.get_by_role("button", name="Unlock").click()
        expect_heading(page, "Settings")


def test_a_passkey_that_the_shop_verifies_opens_the_till_while_the_shop_is_down(phone: BrowserContext) -> None:
    page = phone.new_page()
    page.goto("/till")
    with authenticator(page, has_secret=False):
        sign_in_with_finger(page)
        page.reload()
        phone.route("**/v1/**", lambda route: route.abort())
        page.get_by_role("button", name="Unlock").click()
        expect_heading(page, "Market stall")
        expect(page.get_by_role("status").filter(has_text="Offline")).to_be_visible()
        # Once the shop is there again it wants the proof.
        phone.unroute("**/v1/**")
        expect_heading(page, "Locked")
        with page.expect_response("**/v1/auth/refresh") as refreshed:
            page.get_by_role("button", name="Unlock").click()
        assert refreshed.value.status == 200
        expect_heading(page, "Market stall")


def test_signing_out_leaves_nothing_here_and_nothing_at_the_shop(till: Page) -> None:
    till.reload()
    with till.expect_response("**/v1/auth/logout") as ended:
        till.get_by_role("button", name="Sign out").click()
    assert ended.value.status == 204
    expect_heading(till, "Sign in")
    until(lambda: set(database_of(till).values()) == {0})


def test_signing_out_waits_for_no_shop_and_ends_the_session_once_it_answers(till: Page) -> None:
    hanging = till.context
    hanging.route("**/v1/auth/logout", lambda route: None)
    go(till, "/till/settings")
    till.get_by_role("button", name="Sign out").click()
    expect_heading(till, "Sign in")
    assert database_of(till) == dict.fromkeys(database_of(till), 0) | {"device": 1}
    hanging.unroute("**/v1/auth/logout")
    with till.expect_response("**/v1/auth/logout") as ended:
        till.reload()
    assert ended.value.status == 204
    until(lambda: set(database_of(till).values()) == {0})


def test_a_till_that_nobody_uses_locks(phone: BrowserContext) -> None:
    page = phone.new_page()
    page.clock.install()
    sign_in_to_till(page)
    page.clock.fast_forward("04:50")
    page.keyboard.press("Shift")
    page.clock.fast_forward("04:50")
    expect_heading(page, "Market stall")
    page.clock.fast_forward("00:15")
    expect_heading(page, "Locked")


def test_a_till_that_slept_in_the_background_is_locked_as_it_wakes(phone: BrowserContext) -> None:
    page = phone.new_page()
    page.clock.install()
    sign_in_to_till(page)
    for minutes, then in ((1, "Market stall"), (3, "Locked")):
        page.evaluate(HIDE, True)
        # No timer of the page runs meanwhile.
        page.clock.set_system_time(page.evaluate("Date.now()") / 1000 + minutes * 60)
        page.evaluate(HIDE, False)
        expect_heading(page, then)


HIDE = """(isHidden) => {
  Object.defineProperty(document, "hidden", { configurable: true, get: () => isHidden });
  document.dispatchEvent(new Event("visibilitychange"));
}"""


def test_a_day_after_signing_in_the_password_is_wanted_and_the_sale_goes_on(phone: BrowserContext) -> None:
    page = phone.new_page()
    page.clock.install()
    sign_in_to_till(page)
    order(page, CANDLES)
    phone.set_offline(True)  # Else an answer says that it is the phone's clock that went ahead.
    page.clock.fast_forward("24:00:01")
    expect_heading(page, "Locked")
    type_pin(page, PIN)
    expect_heading(page, "Sign in")
    phone.set_offline(False)
    expect(page.get_by_text("You were signed in for 24 hours.")).to_be_visible()
    assert database_of(page)["vault"] == 0
    page.get_by_role("textbox", name="E-mail").fill("agent@demo.test")
    page.get_by_role("textbox", name="Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    set_up_pin(page)
    expect(page.get_by_role("link", name="Go on with the sale £18.00")).to_be_visible()


REFRESH = """async () => {
  const { refresh } = await import(document.querySelector("link[href$='till/tokens.js']").href);
  window.refreshed = refresh().then(() => "refreshed", (error) => error.code);
}"""


def test_tabs_refresh_one_after_the_other_and_a_removed_device_is_signed_out(
    phone: BrowserContext, api: Callable[..., dict[str, Any]]
) -> None:
    page = sign_in_to_till(phone.new_page())
    other = phone.new_page()
    other.goto("/till")
    type_pin(other, PIN)
    expect_heading(other, "Market stall")
    for tab in (page, other, page, other):
        tab.evaluate(REFRESH)
    assert [tab.evaluate("window.refreshed") for tab in (page, other)] == ["refreshed", "refreshed"]

    devices = api("GET", "/v1/auth/devices")["items"]
    api("DELETE", f"/v1/auth/devices/{devices[0]['id']}")
    other.close()
    page.reload()
    type_pin(page, PIN)
    expect_heading(page, "Sign in")
    expect(page.get_by_text("This session was ended")).to_be_visible()


def test_a_till_that_knows_nothing_of_its_location_waits_until_it_does(phone: BrowserContext) -> None:
    page = phone.new_page()
    page.route("**/configuration", lambda route: route.abort())
    page.goto("/till")
    page.get_by_role("textbox", name="E-mail").fill("agent@demo.test")
    page.get_by_role("textbox", name="Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    set_up_pin(page)
    expect_heading(page, "Not ready yet")
    expect(page.get_by_text("The shop did not answer.")).to_be_visible()
    page.unroute("**/configuration")
    page.get_by_role("button", name="Try again").click()
    expect_heading(page, "Market stall")
    expect(page.get_by_text("The shop did not answer.")).to_be_hidden()


def test_signing_out_of_a_locked_till_names_what_is_lost(till: Page) -> None:
    order(till, CANDLES)
    till.goto("/till/order")
    expect_heading(till, "Locked")
    expect(till.get_by_text("The till keeps the sale under way.")).to_be_visible()
    till.get_by_role("button", name="Sign out").click()
    question = till.get_by_role("dialog", name="Sign out?")
    expect(question).to_contain_text("also the sale under way")
    question.get_by_role("button", name="Stay").click()
    type_pin(till, PIN)
    expect(
        till.get_by_role("link", name="Go on with the sale").or_(till.get_by_role("list", name="Order"))
    ).to_be_visible()


def test_a_refresh_without_an_answer_is_had_again_and_a_session_that_ended_stays_ended(
    shop: RunningShop, browser: Browser
) -> None:
    with network_before(shop.port) as network:
        context = browser.new_context(base_url=network.address, viewport=PHONE)
        page = sign_in_to_till(context.new_page())
        lost = iter([True])
        network.loses_answer = lambda request: request == "POST /v1/auth/refresh" and next(lost, False)
        page.reload()
        type_pin(page, PIN)
        expect_heading(page, "Market stall")
        assert network.passed.count("POST /v1/auth/refresh") == 0  # The access token still holds.
        page.evaluate(REFRESH)
        assert page.evaluate("window.refreshed") == "refreshed"
        assert network.passed.count("POST /v1/auth/refresh") == 2

        devices = page.evaluate(OWN_DEVICES)
        assert devices == [204]
        page.reload()
        type_pin(page, PIN)
        expect_heading(page, "Sign in")
        expect(page.get_by_text("This session was ended")).to_be_visible()
        context.close()


OWN_DEVICES = """async () => {
  const { get, request } = await import(document.querySelector("link[href$='till/api.js']").href);
  const { items } = await get("/v1/auth/devices");
  const removed = items.filter((one) => one.current).map((one) => request("DELETE", `/v1/auth/devices/${one.id}`));
  return (await Promise.all(removed)).map((answer) => answer.status);
}"""
