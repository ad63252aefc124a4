"""Between the password and the sale: a location is chosen, the shop asked, the quick unlock set up, each on a screen
that can be left."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from playwright.sync_api import BrowserContext, Error, Page, Route, expect

from tests.e2e.till.selling import go, unlock
from tests.e2e.till.signing_in import set_up_pin
from tests.e2e.till.test_unlock import expect_heading
from tests.e2e.till.test_unlock_in_tabs import sign_in

ELSEWHERE = {"id": "tml_elsewhere", "displayName": "Elsewhere", "address": {"line1": "1 Far Road", "city": "Farham"}}


def sign_in_with_two_locations(page: Page) -> None:
    def add(route: Route) -> None:
        answer = route.fetch()
        granted: dict[str, Any] = answer.json()
        route.fulfill(response=answer, json=granted | {"locations": [*granted["locations"], ELSEWHERE]})

    page.route("**/v1/auth/login", add)
    page.goto("/till")
    sign_in(page)


def configure(page: Page, **changes: object) -> None:
    """Let the shop's configuration of the location differ from now on. What a page asked before it was left is gone."""

    def change(route: Route) -> None:
        with suppress(Error):
            answer = route.fetch()
            route.fulfill(response=answer, json=answer.json() | changes)

    page.route("**/configuration", change)  # The newest route is asked first.


def test_a_location_is_chosen_before_the_quick_unlock_which_may_then_be_left_out(phone: BrowserContext) -> None:
    page = phone.new_page()
    configure(page, unlockRequired=False)
    sign_in_with_two_locations(page)
    expect_heading(page, "Where are you selling?")
    page.get_by_role("button", name="Market stall").click()
    page.get_by_role("button", name="Not now").click()
    expect_heading(page, "Market stall")
    page.unroute_all(behavior="wait")


def test_another_location_is_chosen_while_the_first_one_is_asked_for(phone: BrowserContext) -> None:
    page = phone.new_page()
    page.route("**/configuration", lambda route: route.abort())
    sign_in_with_two_locations(page)
    page.get_by_role("button", name="Market stall").click()
    set_up_pin(page)
    expect_heading(page, "Not ready yet")
    held: list[Route] = []
    page.unroute("**/configuration")
    page.route("**/configuration", lambda route: held.append(route), times=1)
    with page.expect_request("**/configuration"):
        page.get_by_role("button", name="Try again").click()
    page.get_by_role("button", name="Choose another location").click()
    expect_heading(page, "Where are you selling?")
    with page.expect_response("**/configuration"):
        held[0].continue_()
    with page.expect_response("**/configuration") as answered:
        page.get_by_role("button", name="Elsewhere").click()
    assert answered.value.status == 404
    expect(page.get_by_text("how it sells at Elsewhere")).to_be_visible()
    page.get_by_role("button", name="Choose another location").click()
    page.get_by_role("button", name="Market stall").click()
    expect_heading(page, "Market stall")


def test_a_till_locks_before_a_location_is_chosen_and_can_be_signed_out(phone: BrowserContext) -> None:
    page = phone.new_page()
    page.clock.install()
    page.route("**/configuration", lambda route: route.abort())
    sign_in_with_two_locations(page)
    page.get_by_role("button", name="Market stall").click()
    set_up_pin(page)
    page.get_by_role("button", name="Choose another location").click()
    expect_heading(page, "Where are you selling?")
    page.clock.fast_forward("05:05")
    expect_heading(page, "Locked")
    unlock(page)
    expect_heading(page, "Where are you selling?")
    page.get_by_role("button", name="Sign out").click()
    expect_heading(page, "Sign in")


def test_a_till_without_a_quick_unlock_cannot_be_locked_and_sets_one_up_once_the_shop_wants_it(
    phone: BrowserContext,
) -> None:
    page = phone.new_page()
    configure(page, unlockRequired=False)
    page.goto("/till")
    sign_in(page)
    page.get_by_role("button", name="Not now").click()
    expect_heading(page, "Market stall")
    go(page, "/till/settings")
    expect(page.get_by_text("Version")).to_be_visible()
    expect(page.get_by_role("button", name="Lock now")).to_be_hidden()

    configure(page, unlockRequired=True)
    page.reload()
    expect_heading(page, "Quick unlock")
    expect(page.get_by_role("button", name="Not now")).to_be_hidden()
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()
    set_up_pin(page)
    expect_heading(page, "Settings")
    page.get_by_role("button", name="Lock now").click()
    unlock(page)
    expect_heading(page, "Settings")
    page.unroute_all(behavior="wait")
