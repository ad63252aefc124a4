"""What a tab was about to do while another one was faster, or while the shop was doing it already: what is stored, and
what the shop says, counts at the moment at which it is written."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import Locator, Page, Route, expect

from tests.e2e.till.selling import (
    CANDLES,
    cash_of,
    go,
    hand_over,
    in_app,
    is_paid,
    lose_answers,
    pay_order,
    quick_payment,
)
from tests.e2e.till.test_card_payments import Payment
from tests.e2e.till.test_sales_in_tabs import BASKET, another_tab, checked_order, parts, pay_part, press, stored_sales
from tests.waiting import until

Api = Callable[..., dict[str, Any]]
VOID = re.compile(r"/transactions/[^/]+/void$")
TRANSACTION = re.compile(r"/transactions/[^/]+$")
IS_OVER = "await navigator.locks.request(`till-payment-${argument}`, () => {});"
OTHER_ORDER = """
  await module.park(null);
  await (await import(app.replace("app.js", "sale.js"))).startOrder();
"""


@contextmanager
def held_reading(page: Page) -> Iterator[list[Route]]:
    """The page reads an order within this, and does not get it before its route goes on."""
    held: list[Route] = []

    def hold(route: Route) -> None:
        if route.request.method == "GET":
            held.append(route)
        else:
            route.continue_()

    page.route(BASKET, hold)
    with page.expect_request(lambda request: request.method == "GET" and bool(BASKET.search(request.url))):
        yield held


def stored(page: Page, store: str) -> list[dict[str, Any]]:
    records: list[dict[str, Any]] = in_app(page, "store.js", "return module.readAll(argument)", store)
    return records


def take_back(page: Page) -> Locator:
    """Take cash back, and see that its answer was lost."""
    press(page, "Take back")
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("textbox", name="Reason").fill("Changed their mind")
    dialog.get_by_role("button", name="Take back").last.click()
    return dialog


def test_an_order_read_late_is_not_written_into_another_one(till: Page, api: Api) -> None:
    pay_order(till, CANDLES)
    expect(till.get_by_role("button", name="Take cash")).to_be_enabled()
    [sale], before = stored_sales(till), cash_of(api, 18_00)
    with held_reading(till) as held:
        hand_over(till, "£18.00")
    in_app(till, "parked_sales.js", OTHER_ORDER)
    held[0].continue_()
    in_app(till, "sale.js", IS_OVER, sale["id"])
    new, parked = sorted(stored_sales(till), key=lambda one: bool(one["parkedAt"]))
    assert (new["basket"], parked["id"], parked["paid"]) == (None, sale["id"], [])
    assert cash_of(api, 18_00) == before


def test_an_order_whose_card_payment_began_is_not_sold_without_a_network(till: Page) -> None:
    checked_order(till)
    go(till, "/till/pay")
    other = another_tab(till, "/till/pay")
    press(other, "Cash")
    with held_reading(other) as held:
        press(other, "Take cash")
    press(till, "Card")
    until(lambda: len(stored(till, "payments")) == 1)
    held[0].abort()
    payment = Payment(till).waits()
    assert stored(till, "offline") == []
    payment.hold("visa")
    payment.is_paid()
    assert stored(till, "offline") == []


def test_a_parked_order_that_another_tab_went_on_with_is_not_discarded(till: Page) -> None:
    checked_order(till)
    in_app(till, "parked_sales.js", "await module.park(null);")
    go(till, "/till/parked")
    other = another_tab(till, "/till/parked")
    press(till, "Discard")
    dialog = till.get_by_role("dialog")
    with held_reading(till) as held:
        press(dialog, "Discard")
    press(other, "Resume")
    line = other.get_by_role("list", name="Order").get_by_role("listitem", name="Beeswax dinner candles")
    expect(line).to_be_visible()
    held[0].continue_()
    expect(dialog).to_be_hidden()
    [sale] = stored_sales(other)
    assert sale["parkedAt"] is None
    expect(line).to_be_visible()


def test_cash_taken_back_without_an_answer_is_due_again(till: Page, api: Api) -> None:
    quick_payment(till, 43_20)
    press(till, "Pay another way")
    pay_part(till, "20.00")
    lose_answers(till, VOID)
    take_back(till)
    expect(parts(till)).to_be_hidden()
    expect(till.get_by_text("£43.20").first).to_be_visible()

    pay_part(till, "19.00")
    lose_answers(till, VOID)
    till.route(TRANSACTION, lambda route: route.abort())
    dialog = take_back(till)
    expect(dialog.get_by_role("alert")).to_have_text("The shop did not answer.")
    press(dialog, "Close")
    till.unroute(TRANSACTION)
    expect(till.get_by_text("There is no network: cards")).to_be_hidden()
    press(till, "Card")
    expect(till.get_by_text("The total changed from £24.20 to £43.20. Nothing was charged.")).to_be_visible()
    press(till, "Show the new total")
    press(till, "Cash")
    hand_over(till, "£43.20")
    is_paid(till)
    assert [cash_of(api, amount) for amount in (20_00, 19_00, 43_20)] == [["CANCELLED"], ["CANCELLED"], ["SUCCEEDED"]]


def test_cash_taken_back_during_a_card_payment_leaves_the_sale_unfinished(till: Page) -> None:
    quick_payment(till, 51_40)
    press(till, "Pay another way")
    pay_part(till, "21.00")
    other = another_tab(till)
    press(till, "Card")
    payment = Payment(till).waits()
    expect(other.get_by_text("under way in another tab")).to_be_visible()
    other.get_by_role("link", name="Back").click()
    other.get_by_role("link", name="Transactions").click()
    other.get_by_role("listitem").filter(has_text="£21.00").first.get_by_role("link").click()
    expect(other.get_by_role("button", name="Take back")).to_be_visible()
    lose_answers(other, VOID)
    other.route(TRANSACTION, lambda route: route.abort())
    expect(take_back(other).get_by_role("alert")).to_have_text("The shop did not answer.")
    payment.hold("visa")
    expect(parts(till)).to_contain_text("£30.40")
    expect(till.get_by_text("£21.00", exact=True)).to_be_visible()
    press(till, "Cash")
    hand_over(till, "£21.00")
    is_paid(till)
