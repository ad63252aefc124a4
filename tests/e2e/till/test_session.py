"""The work session at the till: float, cash movements, X and Z report, and the answers that get lost."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from playwright.sync_api import Browser, Locator, Page, expect

from tests.e2e.test_from_rebuild_to_shop import sign_in
from tests.e2e.till.selling import (
    CANDLES,
    TILL,
    go,
    hand_over,
    in_app,
    is_paid,
    lose_answers,
    lose_network,
    next_sale,
    pay_order,
    quick_payment,
    unlock,
)
from tests.processes import RunningShop

Api = Callable[..., dict[str, Any]]
CLOSE = re.compile(r"/v1/pos/sessions/[^/]+/close$")
MOVEMENTS = re.compile(r"/cashMovements$")
MOVE_TWICE = """
  const request = { type: "PAY_IN", amountInPence: 100, reason: "Found" };
  const outcomes = await Promise.allSettled([module.moveCash(request), module.moveCash(request)]);
  return outcomes.map(({ status, reason }) => reason?.code ?? status).sort();
"""


def open_session(page: Page, float_: str) -> None:
    page.get_by_role("link", name="Session").click()
    page.get_by_role("textbox", name="Opening float").fill(float_)
    page.get_by_role("button", name="Open session").click()
    expect(page.get_by_text("Opened at")).to_contain_text(f"£{float_}.00")


def amount_in(report: Locator, name: str) -> Locator:
    return report.get_by_text(name, exact=True).locator("..")


def count_and_close(page: Page, **pieces: int) -> None:
    page.get_by_role("button", name="Close session").click()
    dialog = page.get_by_role("dialog", name="Close session")
    for piece, number in pieces.items():
        dialog.get_by_label(piece.replace("pound", "£"), exact=True).fill(str(number))
    dialog.get_by_role("textbox", name="Note").fill("A quiet day")
    dialog.get_by_role("button", name="Close session").click()


def test_a_session_is_opened_reported_counted_and_closed(till: Page) -> None:
    open_session(till, "100")
    till.get_by_role("link", name="Back").click()
    quick_payment(till, 41_10)
    hand_over(till, "£50.00")
    is_paid(till)
    next_sale(till)

    till.get_by_role("link", name="Session").click()
    till.get_by_role("button", name="X report").click()
    report = till.get_by_role("dialog", name="X report")
    expect(amount_in(report, "Expected")).to_contain_text("£141.10")
    report.get_by_role("button", name="Close").click()

    count_and_close(till, pound50=2, pound20=2, pound1=1)
    expect(till.get_by_role("heading", name="Z report")).to_be_visible()
    expect(amount_in(till.locator("main"), "Counted")).to_contain_text("£141.00")
    expect(amount_in(till.locator("main"), "Difference")).to_contain_text("−£0.10")
    expect(till.locator("main")).to_contain_text("A quiet day")
    till.evaluate("print = () => { document.title = 'printed'; }")
    till.get_by_role("button", name="Print report").click()
    expect(till).to_have_title("printed")
    till.get_by_role("button", name="Done").click()
    expect(till.get_by_text("The session is closed.")).to_be_visible()


def test_a_session_is_closed_only_once_the_cash_is_counted(till: Page) -> None:
    open_session(till, "20")
    till.get_by_role("button", name="Close session").click()
    dialog = till.get_by_role("dialog", name="Close session")
    close = dialog.get_by_role("button", name="Close session")
    expect(dialog.get_by_text("Count the cash in the drawer, or enter 0.")).to_be_visible()
    expect(close).to_be_disabled()
    dialog.get_by_label("£20", exact=True).fill("1")
    dialog.get_by_label("50p", exact=True).fill("3")
    dialog.get_by_role("button", name="Enter one amount").click()
    expect(dialog.get_by_role("textbox", name="Counted cash")).to_have_value("21.50")
    expect(close).to_be_enabled()
    dialog.get_by_role("button", name="Count notes and coins").click()
    expect(dialog.get_by_label("50p", exact=True)).to_have_value("3")
    dialog.get_by_label("50p", exact=True).fill("x")
    expect(dialog.get_by_role("alert")).to_have_text("A count is no number.")
    expect(close).to_be_disabled()
    for piece in ("£20", "50p"):
        dialog.get_by_label(piece, exact=True).fill("0")
    expect(close).to_be_enabled()


def test_a_lost_answer_to_closing_still_gives_the_z_report(till: Page) -> None:
    open_session(till, "20")
    lose_answers(till, CLOSE)
    count_and_close(till, pound20=1)
    dialog = till.get_by_role("dialog", name="Close session")
    expect(dialog.get_by_role("alert")).to_have_text("The shop did not answer.")
    # The till looks whether the shop is there again, and hears that its session is over.
    till.get_by_role("textbox", name="E-mail").fill("agent@demo.test")
    till.get_by_role("textbox", name="Password").fill("demo-password-1")
    till.get_by_role("button", name="Sign in").click()
    till.get_by_role("textbox", name="Choose a PIN").fill("8253")
    till.get_by_role("textbox", name="Repeat the PIN").fill("8253")
    till.get_by_role("button", name="Save PIN").click()
    expect(till.get_by_role("heading", name="Z report")).to_be_visible()
    expect(amount_in(till.locator("main"), "Difference")).to_contain_text("£0.00")
    till.reload()
    expect(till.get_by_role("heading", name="Z report")).to_be_visible()
    till.get_by_role("button", name="Done").click()
    unlock(till)
    expect(till.get_by_role("heading", name="Market stall")).to_be_visible()


def test_cash_moves_once_and_only_with_the_permission(
    browser: Browser, shop: RunningShop, till: Page, api: Api
) -> None:
    till.get_by_role("link", name="Session").click()
    expect(till.get_by_role("button", name="Pay in")).to_be_disabled()
    expect(till.get_by_text("need a permission that you do not have")).to_be_visible()
    with browser.new_context(base_url=shop.address) as office:
        permit(office.new_page(), "Cash movements")
    till.reload()
    unlock(till).get_by_role("button", name="Pay in").click()
    dialog = till.get_by_role("dialog")
    dialog.get_by_role("textbox", name="Amount").fill("25")
    dialog.get_by_role("button", name="Pay in").click()
    expect(dialog.get_by_role("textbox", name="Reason")).to_have_attribute("aria-invalid", "true")
    dialog.get_by_role("textbox", name="Reason").fill("Change from the bank")
    dialog.get_by_role("button", name="Pay in").click()
    expect(dialog.get_by_role("status")).to_contain_text("Booked: £25.00")
    dialog.get_by_role("button", name="Done").click()

    lose_answers(till, MOVEMENTS)
    till.get_by_role("button", name="Drop").click()
    dialog.get_by_role("textbox", name="Amount").fill("200")
    dialog.get_by_role("textbox", name="Reason").fill("To the safe")
    dialog.get_by_role("button", name="Drop").click()
    expect(dialog.get_by_role("status")).to_contain_text("There should be £25.00 in the drawer.")
    expect(dialog.get_by_role("button", name="Drop all the same")).to_be_visible()
    dialog.get_by_role("textbox", name="Amount").fill("20")
    dialog.get_by_role("button", name="Drop", exact=True).click()
    expect(dialog.get_by_role("alert")).to_have_text("The shop did not answer.")
    till.reload()
    expect(unlock(till).get_by_text("We don't know yet")).to_be_visible()
    # That the agent may not work here any more says nothing about what was booked before.
    denied = {"status": 403, "code": "location_access_denied", "detail": "You may not work at this location."}
    till.route(MOVEMENTS, lambda route: route.fulfill(status=403, json=denied), times=1)
    till.get_by_role("button", name="Ask again").click()
    expect(till.get_by_text("You may not work at this location.")).to_be_visible()
    expect(till.get_by_text("We don't know yet")).to_be_visible()
    till.get_by_role("button", name="Ask again").click()
    expect(till.get_by_text("We don't know yet")).to_be_hidden()
    assert in_app(till, "work_session.js", MOVE_TWICE) == ["fulfilled", "open_movement"]
    moved = api("GET", f"{TILL}/cashMovements")["items"]
    amounts = [(one["type"], one["amountInPence"]) for one in moved]
    assert amounts == [("PAY_IN", 1_00), ("DROP", 20_00), ("PAY_IN", 25_00)]


def permit(admin: Page, permission: str) -> None:
    sign_in(admin, "admin@demo.test")
    admin.goto("/admin/pos/agents")
    admin.get_by_role("link", name="Agnes Agent").first.click()
    admin.get_by_label(permission).check()
    admin.keyboard.press("Control+Enter")
    expect(admin.locator("#flashes")).to_contain_text(re.compile("[Ss]aved"))


def test_a_session_is_not_closed_while_sales_wait(till: Page) -> None:
    lose_network(till)
    pay_order(till, CANDLES)
    hand_over(till, "£18.00")
    is_paid(till)
    next_sale(till)
    till.route("**/offlineSales", lambda route: route.abort())
    till.context.set_offline(False)
    go(till, "/till/session")
    till.get_by_role("button", name="Close session").click()
    dialog = till.get_by_role("dialog", name="Close session")
    expect(dialog.get_by_text("Sales made without a network")).to_be_visible()
    expect(dialog.get_by_role("button", name="Close session")).to_be_disabled()
