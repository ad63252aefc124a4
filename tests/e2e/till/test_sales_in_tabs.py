"""One sale in several tabs, and money of it that is given back elsewhere: what is stored counts, and nothing that was
paid is lost or taken twice."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from playwright.sync_api import Locator, Page, Route, expect

from tests.e2e.till.selling import (
    CANDLES,
    TEALIGHTS,
    go,
    hand_over,
    in_app,
    is_paid,
    next_sale,
    order,
    quick_payment,
    unlock,
)
from tests.e2e.till.test_card_payments import CREATE, Payment

Api = Callable[..., dict[str, Any]]
BASKET = re.compile(r"/v1/basket/[^/]+$")
STORED = """
  const { readAll } = await import(app.replace("app.js", "store.js"));
  return await readAll("sales");
"""
LOSE_SALE = """
  const { remove } = await import(app.replace("app.js", "store.js"));
  await remove("device", "current");
  await module.loadSale();
"""


def another_tab(page: Page, path: str = "/till") -> Page:
    tab = page.context.new_page()
    tab.goto(path)
    return unlock(tab)


def stored_sales(page: Page) -> list[dict[str, Any]]:
    sales: list[dict[str, Any]] = in_app(page, "sale.js", STORED)
    return sales


def checked_order(page: Page) -> str:
    """Build an order that the shop has, and return the id of its basket."""
    order(page, CANDLES)
    basket: str = in_app(page, "order_check.js", "return (await module.checkOrder()).basket.id;")
    return basket


def press(page: Page | Locator, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def parts(page: Page) -> Locator:
    return page.get_by_role("region", name="Paid so far")


def pay_part(page: Page, part: str) -> None:
    """Take a part in cash of what is to pay on the payment screen."""
    press(page, "Part of the amount")
    page.get_by_role("textbox", name="Part to pay now").fill(part)
    press(page, "Take this part")
    press(page, "Cash")
    press(page, "Take cash")
    expect(parts(page)).to_contain_text(f"£{part}")


def take_back_cash(page: Page, amount: str) -> None:
    """As anybody does who sees the payment in the list of Transactions."""
    page.get_by_role("link", name="Transactions").click()
    page.get_by_role("listitem").filter(has_text="Cash").filter(has_text=amount).first.get_by_role("link").click()
    press(page, "Take back")
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("textbox", name="Reason").fill("Changed their mind")
    dialog.get_by_role("button", name="Take back").last.click()
    expect(page.get_by_text("Taken back. Give the customer")).to_be_visible()


def test_another_tab_neither_begins_a_second_sale_nor_ends_the_one_being_charged(till: Page) -> None:
    other = another_tab(till)
    press(other, "Quick payment")
    held: list[Route] = []
    till.route(CREATE, lambda route: held.append(route))
    with till.expect_request(CREATE):
        payment = Payment(till)
        payment.type_amount(41_10)
        press(till, "Card")
    expect(other.get_by_text("under way in another tab")).to_be_visible()
    [sale] = stored_sales(other)
    refused = "return await module.endSale(argument).catch((error) => error.code);"
    assert in_app(other, "sale.js", refused, sale["id"]) == "open_payment"
    second = "return await module.startQuick({ amount: 4120, description: '' }).catch((error) => error.code);"
    assert in_app(other, "sale.js", second) == "sale_under_way"
    held[0].continue_()
    payment.waits().hold("visa")
    payment.is_paid()
    expect(other.get_by_role("heading", name="Paid")).to_be_visible()
    payment.next_sale()
    expect(other.get_by_role("button", name="Quick payment")).to_be_enabled()
    assert stored_sales(till) == []


def test_an_order_paid_in_part_in_one_tab_is_fixed_in_the_other(till: Page, api: Api) -> None:
    order(till, CANDLES, TEALIGHTS)
    go(till, "/till/order")
    other = another_tab(till, "/till/order")
    more = other.get_by_role("list", name="Order").get_by_role("button", name="More").first
    more.click()
    expect(till.get_by_role("contentinfo")).to_contain_text("£50.00")
    press(till, "Charge")
    pay_part(till, "1.00")
    expect(other.get_by_text("A part of this order is paid, so it stays as it is.")).to_be_visible()
    changed = "return await module.stepQuantity(argument, 1).catch((error) => error.code);"
    assert in_app(other, "order_lines.js", changed, CANDLES["skuCode"]) == "sale_changed"
    [sale] = stored_sales(other)
    assert (len(sale["paid"]), sale["isChecked"], sale["basket"]["amountDue"]) == (1, True, 49_00)
    in_app(other, "order_check.js", "await module.discardOrder(argument).catch(() => {});", sale["id"])
    press(till, "Card")
    Payment(till).waits().hold("visa")
    is_paid(till)
    assert api("GET", f"/v1/basket/{sale['basket']['id']}")["status"] == "SUBMITTED"


def test_a_tab_that_does_not_know_of_a_payment_takes_over_what_the_shop_has(till: Page, api: Api) -> None:
    """The payment was made by another program, so that nothing of it is stored here."""
    basket = checked_order(till)
    go(till, "/till/order")
    api("POST", "/v1/pos/tml_demo_market/cashPayments", amountInPence=1_00, orderId=basket)
    till.get_by_role("list", name="Order").get_by_role("button", name="More").click()
    expect(till.get_by_role("alert").filter(has_text="is being paid")).to_be_visible()
    expect(till.get_by_text("A part of this order is paid")).to_be_visible()
    press(till, "Charge")
    expect(parts(till)).to_contain_text("£1.00")
    press(till, "Cash")
    press(till, "Take cash")
    is_paid(till)
    assert api("GET", f"/v1/basket/{basket}")["status"] == "SUBMITTED"


def test_an_order_with_a_payment_is_not_discarded(till: Page, api: Api) -> None:
    basket = checked_order(till)
    go(till, "/till/order")
    cash = api("POST", "/v1/pos/tml_demo_market/cashPayments", amountInPence=1_00, orderId=basket)
    press(till, "Discard the order")
    dialog = till.get_by_role("dialog")
    press(dialog, "Discard")
    expect(dialog.get_by_role("alert")).to_contain_text("A part of this sale is paid")
    press(dialog, "Keep it")
    go(till, "/till/pay")
    expect(parts(till)).to_contain_text("£1.00")
    api("POST", f"/v1/pos/tml_demo_market/transactions/{cash['id']}/void", reason="Discarded")


def test_what_a_lost_tab_left_is_parked_and_found(till: Page) -> None:
    quick_payment(till, 10_00)
    press(till, "Pay another way")
    pay_part(till, "4.00")
    in_app(till, "sale.js", LOSE_SALE)
    order(till, CANDLES)
    in_app(till, "sale.js", LOSE_SALE)
    press(till, "New order")
    till.get_by_role("button", name="Parked orders").click()
    till.get_by_role("listitem", name="Beeswax dinner candles").get_by_role("button", name="Resume").click()
    candles = till.get_by_role("list", name="Order").get_by_role("listitem", name="Beeswax dinner candles")
    expect(candles).to_be_visible()
    press(till, "Discard the order")
    press(till.get_by_role("dialog"), "Discard")
    expect(candles).to_be_hidden()

    till.get_by_role("button", name="Parked orders").click()
    quick = till.get_by_role("listitem", name="Quick payment")
    press(quick, "Discard")
    dialog = till.get_by_role("dialog")
    press(dialog, "Discard")
    expect(dialog.get_by_role("alert")).to_contain_text("A part of this sale is paid")
    press(dialog, "Keep it")
    press(quick, "Resume")
    press(till, "Cash")
    hand_over(till, "£6.00")
    is_paid(till)


def test_cash_taken_back_elsewhere_is_due_again(till: Page) -> None:
    quick_payment(till, 10_00)
    press(till, "Pay another way")
    pay_part(till, "4.00")
    expect(till.get_by_text("£6.00", exact=True)).to_be_visible()
    other = another_tab(till)
    take_back_cash(other, "£4.00")
    expect(parts(till)).to_be_hidden()
    press(till, "Cash")
    hand_over(till, "£10.00")
    is_paid(till)
    next_sale(till)

    order(till, CANDLES)
    go(till, "/till/pay")
    pay_part(till, "3.00")
    go(other, "/till")
    take_back_cash(other, "£3.00")
    expect(parts(till)).to_be_hidden()
    expect(till.get_by_text("£18.00").first).to_be_visible()
    press(till, "Cash")
    press(till, "Take cash")
    is_paid(till)
