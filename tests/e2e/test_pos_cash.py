"""A day of cash at the stall: a sale is refunded in cash, the drawer is counted, the Z report is numbered and printed,
and the journal says that it is whole."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.e2e.test_from_rebuild_to_shop import sign_in
from tests.e2e.test_pos_sale import AGENT, TILL
from tests.processes import RunningShop


def open_drawer_and_sell(page: Page) -> tuple[str, str]:
    """Sell as the agent's app does, for 12.50 in cash with 50.00 in the drawer; return the ids of session and
    transaction."""
    request = page.request
    signed_in = request.post("/v1/auth/login", data=AGENT).json()
    agent = {"Authorization": f"Bearer {signed_in['token']}"}
    assert request.put("/v1/pos/sessions/current", headers=agent, data={"openingFloat": 5_000}).ok
    cash = {"amountInPence": 1_250, "tenderedInPence": 2_000}
    sold = request.post(f"{TILL}/cashPayments", headers=agent, data=cash)
    assert sold.json()["changeInPence"] == 750, sold.text()
    return signed_in["sessionId"], sold.json()["id"]


def test_cash_is_refunded_counted_and_reported(shop: RunningShop, page: Page) -> None:
    session, sold = open_drawer_and_sell(page)
    sign_in(page, "admin@demo.test")

    page.goto(f"/admin/pos/transactions/{sold}")
    expect(page.locator("main")).to_contain_text("£7.50")
    page.get_by_role("button", name="Refund…").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Amount").fill("2.50")
    dialog.get_by_label("Reason").fill("A chipped mug")
    dialog.get_by_role("button", name="Refund").click()
    expect(page.locator("#timeline")).to_contain_text("£2.50 in cash: A chipped mug")

    page.goto(f"/admin/pos/sessions/{session}")
    expect(page.get_by_role("heading", name="X report")).to_be_visible()
    page.get_by_role("button", name="Close session…").click()
    dialog.get_by_label("Counted cash").fill("60.00")
    dialog.get_by_role("button", name="Close session").click()
    expect(page.get_by_role("heading", name="Z report")).to_be_visible()
    expect(page.locator("main")).to_contain_text("£62.50")
    expect(page.locator("main")).to_contain_text("−£2.50")
    page.emulate_media(media="print")
    expect(page.get_by_role("navigation", name="Mobile POS")).to_be_hidden()
    page.emulate_media(media="screen")

    menu = page.get_by_role("navigation", name="Mobile POS")
    menu.get_by_role("link", name="Reports").click()
    expect(page.locator("#results tbody tr").first).to_contain_text("Agnes Agent")
    menu.get_by_role("link", name="Journal").click()
    page.get_by_role("link", name="Verify").click()
    expect(page.locator("main")).to_contain_text("Whole")
    expect(page.locator("main tbody")).to_contain_text("Z report")
