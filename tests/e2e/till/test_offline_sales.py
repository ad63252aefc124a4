"""Cash of orders without a network. Whenever the tab, the network or an answer is lost, each sale is booked once."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect

from tests.e2e.till.receipt_paper import readable
from tests.e2e.till.selling import (
    CANDLES,
    OFFLINE,
    TEALIGHTS,
    TILL,
    change_of,
    go,
    hand_over,
    in_app,
    is_paid,
    lose_answers,
    lose_network,
    next_sale,
    order,
    pay_order,
    quick_payment,
    reopen,
    unlock,
)
from tests.waiting import until

FAKE_PRINTERS = Path(__file__).parent / "fake_printers.js"
Api = Callable[..., dict[str, Any]]
CLOCK_AN_HOUR_AHEAD = "const now = Date.now; Date.now = () => now() + 3_600_000;"


def booked(api: Api) -> list[dict[str, Any]]:
    """The sales without a network that the shop has, the newest first."""
    payments = api("GET", f"{TILL}/transactions?pageSize=100&tenderType=CASH")["items"]
    return [one for one in payments if one["clientSaleId"]]


def sell_without_network(page: Page, note: str = "£20.00") -> None:
    lose_network(page)
    pay_order(page, CANDLES)
    expect(page.get_by_text("This sale is kept on this device")).to_be_visible()
    hand_over(page, note)
    is_paid(page)


def waits(page: Page, text: str = "1 sale waiting") -> None:
    expect(page.get_by_role("status", name=text, exact=True)).to_be_visible()


def waits_no_more(page: Page) -> None:
    expect(page.get_by_role("link", name="waiting")).to_be_hidden()


def test_a_sale_without_a_network_is_booked_once_it_is_back(till: Page, api: Api) -> None:
    before = len(booked(api))
    sell_without_network(till)
    expect(change_of(till)).to_contain_text("£2.00")
    expect(till.get_by_text("sent to the shop by itself")).to_be_visible()

    again = reopen(till)
    waits(again)
    assert in_app(again, "session.js", "return module.signOut().catch((error) => error.code)") == "unsent_sales"
    again.get_by_role("link", name="Go on with the sale").click()
    is_paid(again)
    next_sale(again)
    again.get_by_role("link", name="1 sale waiting").click()
    expect(again.get_by_role("listitem")).to_contain_text("Waiting")
    expect(again.get_by_role("button", name="Send now")).to_be_disabled()

    again.context.set_offline(False)
    expect(again.get_by_role("listitem")).to_contain_text("Sent")
    go(again, "/till")
    waits_no_more(again)
    sales = booked(api)
    assert (len(sales), sales[0]["amountInPence"], sales[0]["changeInPence"]) == (before + 1, 18_00, 2_00)


def test_the_receipt_of_a_sale_without_a_network_is_printed(till: Page) -> None:
    sell_without_network(till)
    till.get_by_role("button", name="Print receipt").click()
    expect(till.get_by_text("The receipt comes under Transactions, once the sale is sent.")).to_be_visible()
    till.context.add_init_script(path=FAKE_PRINTERS)
    till.context.add_init_script("fakeUsb(window.device = usbDevice())")
    again = reopen(till)
    again.get_by_role("link", name="Go on with the sale").click()
    again.get_by_role("button", name="Print receipt").click()
    until(lambda: again.evaluate("window.device.jobs.length > 0"))  # The driver’s own wait needs eval.
    receipt = readable(bytes(again.evaluate("device.jobs[0]")))
    for words in ("Market stall", "Not sent yet", "1 x Beeswax dinner candles", "£18.00", "£20.00", "£2.00"):
        assert words in receipt, receipt


def test_lost_answers_and_tabs_book_nothing_twice(till: Page, api: Api) -> None:
    before = len(booked(api))
    sell_without_network(till)
    next_sale(till)
    lose_answers(till, OFFLINE, times=None)
    go(till, "/till/waiting")
    till.context.set_offline(False)
    expect(till.get_by_text("Not sent: The shop did not answer.")).to_be_visible()
    assert len(booked(api)) == before + 1

    again = till.context.new_page()
    till.close()
    again.goto("/till")
    unlock(again).get_by_role("heading", name="Market stall").wait_for()
    go(again, "/till/waiting")
    expect(again.get_by_role("listitem")).to_contain_text("Sent")
    assert len(booked(api)) == before + 1


def test_a_tab_lost_before_the_cash_is_taken_leaves_the_order(till: Page, api: Api) -> None:
    before = len(booked(api))
    lose_network(till)
    order(till, CANDLES, TEALIGHTS)
    again = reopen(till)
    again.get_by_role("link", name="Go on with the sale").click()
    go(again, "/till/pay")
    again.get_by_role("button", name="Cash", exact=True).click()
    again.get_by_role("button", name="Take cash").evaluate("button => { button.click(); button.click(); }")
    is_paid(again)
    next_sale(again)
    waits(again)
    again.context.set_offline(False)
    waits_no_more(again)
    assert len(booked(api)) == before + 1


def test_a_shop_that_does_not_answer_is_not_asked_for_money(till: Page, api: Api) -> None:
    before = len(booked(api))
    order(till, CANDLES)
    go(till, "/till/pay")
    till.get_by_role("button", name="Cash", exact=True).click()
    requests: list[str] = []
    till.on("request", lambda request: requests.append(request.url))
    till.route("**/v1/basket**", lambda route: route.fulfill(status=502, body="Bad gateway"))
    hand_over(till, "£18.00")
    is_paid(till)
    assert not any(address.endswith("/cashPayments") for address in requests)
    till.unroute_all(behavior="ignoreErrors")
    next_sale(till)
    go(till, "/till/waiting")
    till.get_by_role("button", name="Send now").click()
    expect(till.get_by_role("listitem")).to_contain_text("Sent")
    assert len(booked(api)) == before + 1


def test_a_clock_an_hour_ahead_dates_no_sale_in_the_future(till: Page, api: Api) -> None:
    before = len(booked(api))
    till.context.add_init_script(CLOCK_AN_HOUR_AHEAD)
    ahead = reopen(till)
    expect(ahead.get_by_role("heading", name="Market stall")).to_be_visible()
    sell_without_network(ahead)
    later = reopen(ahead)
    waits(later)
    later.context.set_offline(False)
    waits_no_more(later)
    sales = booked(api)
    assert len(sales) == before + 1
    assert abs(datetime.fromisoformat(sales[0]["created"]) - datetime.now(UTC)) < timedelta(minutes=5)


def test_what_cannot_be_sold_without_a_network_is_said(till: Page) -> None:
    pay_order(till, CANDLES)
    till.get_by_role("button", name="Pay another way").click()
    till.get_by_role("button", name="Part of the amount").click()
    till.get_by_role("textbox", name="Part to pay now").fill("5")
    till.get_by_role("button", name="Take this part").click()
    till.get_by_role("button", name="Cash", exact=True).click()
    hand_over(till, "£5.00")
    expect(till.get_by_role("region", name="Paid so far")).to_contain_text("£5.00")
    lose_network(till)
    till.get_by_role("button", name="Cash", exact=True).click()
    expect(till.get_by_text("A part of this order is paid already.")).to_be_visible()
    expect(till.get_by_role("button", name="Take cash")).to_be_disabled()
    till.context.set_offline(False)
    hand_over(till, "£13.00")
    is_paid(till)
    next_sale(till)

    lose_network(till)
    quick_payment(till, 5_00)
    expect(till.get_by_text("only orders can be paid in cash")).to_be_visible()
    expect(till.get_by_role("button", name="Take cash")).to_be_disabled()


def test_a_refused_sale_is_dealt_with_by_a_person(till: Page) -> None:
    lose_network(till)
    pay_order(till, {"skuCode": "GONE-01", "name": "Sold before it was taken off", "unitPrice": 3_00})
    hand_over(till, "£3.00")
    is_paid(till)
    till.context.set_offline(False)
    next_sale(till)
    till.get_by_role("link", name="1 sale waiting").click()
    sale = till.get_by_role("listitem")
    expect(sale).to_contain_text("Needs a look")
    expect(sale).to_contain_text("GONE-01")
    sale.get_by_role("button", name="Mark as dealt with").click()
    expect(sale).to_contain_text("Dealt with")
    in_app(till, "session.js", "module.signOut()")  # It leaves the page, so nothing is to wait there for its end.
    expect(till.get_by_role("button", name="Sign in")).to_be_visible()
