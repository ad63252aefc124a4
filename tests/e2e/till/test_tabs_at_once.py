"""Two tabs of one till sell at once: neither takes a sale from the other, and no card is charged for a sale that is
forgotten."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.till.books import ON_THE_DISK, Books
from tests.e2e.till.selling import CANDLES, CASH, hand_over, is_paid, pay_order, unlock
from tests.e2e.till.test_card_payments import Payment
from tests.processes import RunningShop


@pytest.fixture
def other(till: Page) -> Page:
    """A second tab, on the start screen."""
    page = till.context.new_page()
    page.goto("/till")
    unlock(page)
    expect(page.get_by_role("button", name="Quick payment")).to_be_enabled()
    return page


def test_a_sale_of_one_tab_is_not_lost_to_another(till: Page, other: Page, shop: RunningShop) -> None:
    books = Books(shop)
    pay_order(till, CANDLES)
    till.get_by_role("button", name="Pay another way").click()
    till.get_by_role("button", name="Part of the amount").click()
    till.get_by_role("textbox", name="Part to pay now").fill("5")
    till.get_by_role("button", name="Take this part").click()
    till.get_by_role("button", name="Cash", exact=True).click()
    hand_over(till, "£5.00")
    expect(till.get_by_role("region", name="Paid so far")).to_contain_text("£5.00")

    expect(other.get_by_role("button", name="Quick payment")).to_be_disabled()
    till.close()
    other.get_by_role("link", name="Go on with the sale").click()
    other.get_by_role("button", name="Cash", exact=True).click()
    hand_over(other, "£13.00")
    is_paid(other)
    books.paid, books.orders_paid = [("CASH", 5_00), ("CASH", 13_00)], 1
    books.check()
    books.check_device(other)


def test_two_tabs_that_charge_at_the_same_moment_charge_one_card(till: Page, other: Page, shop: RunningShop) -> None:
    books = Books(shop)
    tabs = [Payment(till), Payment(other)]
    for tab, amount in zip(tabs, (75_30, 75_40), strict=True):
        tab.type_amount(amount)
    buttons = [tab.page.get_by_role("button", name="Card", exact=True).element_handle() for tab in tabs]
    moment = till.evaluate("Date.now() + 1000")
    for button in buttons:
        button.evaluate("(button, moment) => setTimeout(() => button.click(), moment - Date.now())", moment)
    for tab in tabs:
        tab.waits()
    [owner] = [tab for tab in tabs if tab.page.get_by_role("group", name="Simulated cards").is_visible()]
    owner.hold("visa")
    for tab in tabs:
        tab.is_paid()
    [payment] = books.payments()
    books.paid = [("CARD", payment["amount_in_pence"])]
    books.check()
    books.check_device(till)
    finished = [sale["amount"] for sale in till.evaluate(ON_THE_DISK)["sales"] if sale["isFinished"]]
    assert finished == [payment["amount_in_pence"]]


NO_NETWORK_THEY_SAY = "Object.defineProperty(navigator, 'onLine', { get: () => false });"


def test_a_device_that_denies_its_network_books_no_cash_twice(till: Page, shop: RunningShop) -> None:
    """As on the machine of the shop itself: answers come, and one of them is lost."""
    books = Books(shop)
    till.evaluate(NO_NETWORK_THEY_SAY)
    pay_order(till, CANDLES)
    till.route(CASH, lambda route: (route.fetch(), route.abort()), times=1)
    hand_over(till, "£18.00")
    is_paid(till)
    books.paid, books.orders_paid = [("CASH", 18_00)], 1
    books.check()
    books.check_device(till)
