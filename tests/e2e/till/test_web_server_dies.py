"""The web server is killed at each step of a payment: before a request arrives, while it is worked on, and when all is
done but the answer. The app goes on by itself, and ledger, processor and screen say the same in the end."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.e2e.till.books import Books
from tests.e2e.till.conftest import PHONE, sign_in_to_till
from tests.e2e.till.selling import CANDLES, TEALIGHTS, hand_over, in_app, is_paid, next_sale, order, quick_payment
from tests.e2e.till.selling import go as go_to
from tests.e2e.till.test_card_payments import Payment
from tests.e2e.till.web_server import Moment, MortalShop, mortal_shop
from tests.processes import RunningShop

CREATE = re.compile(r"POST /v1/(pos/[^/]+/paymentIntents|basket/[^/]+/paymentIntent)$")
TOKEN = re.compile(r"GET /v1/pos/[^/]+/paymentToken$")
PRESENT = re.compile(r"POST .*/present$")
CAPTURE = re.compile(r"POST .*/capture$")
CANCEL = re.compile(r"POST .*/cancel$")
CASH = re.compile(r"POST .*/cashPayments$")
OFFLINE = re.compile(r"POST .*/offlineSales$")
SUBMIT = re.compile(r"PUT /v1/basket/[^/]+/submit$")
BASKET = re.compile(r"GET /v1/basket/[^/]+$")
LONG = 60_000  # Milliseconds. A server takes a while to start on a busy machine, and the app looks every few seconds.
CARD_STEPS: list[list[tuple[Moment, re.Pattern[str]]]] = [
    [("after", CREATE), ("after", PRESENT), ("after", CAPTURE)],
    [("amid", CREATE), ("before", PRESENT), ("before", CAPTURE)],
    [("before", CREATE), ("amid", PRESENT), ("amid", CAPTURE)],
]

pytestmark = pytest.mark.thorough  # A web server is killed and started anew some twenty times.


@pytest.fixture(scope="module")
def mortal(shop: RunningShop) -> Iterator[MortalShop]:
    with mortal_shop(shop) as made:
        yield made


@pytest.fixture(scope="module")
def phone_before_it(browser: Browser, mortal: MortalShop) -> Iterator[BrowserContext]:
    """Signed in once for all tests."""
    context = browser.new_context(base_url=mortal.network.address, viewport=PHONE, has_touch=True, is_mobile=True)
    context.set_default_timeout(20_000)
    sign_in_to_till(context.new_page())
    yield context
    context.close()


@pytest.fixture
def page(phone_before_it: BrowserContext, mortal: MortalShop) -> Iterator[Page]:
    [opened] = phone_before_it.pages
    yield opened
    mortal.network.is_good()


@pytest.fixture
def books(shop: RunningShop) -> Books:
    return Books(shop)


def is_paid_in_the_end(page: Page) -> None:
    expect(page.get_by_role("heading", name="Paid")).to_be_visible(timeout=LONG)


def hold_until_paid(payment: Payment, card: str = "visa") -> None:
    """Hold a card to the reader, again where the shop says that it was not charged."""
    paid = payment.page.get_by_role("heading", name="Paid")
    again = payment.page.get_by_role("button", name=card, exact=True).and_(payment.page.locator(":enabled"))
    expect(paid.or_(again)).to_be_visible(timeout=LONG)
    while not paid.is_visible():
        payment.hold(card)
        expect(again).to_be_hidden()
        expect(paid.or_(again)).to_be_visible(timeout=LONG)


@pytest.mark.parametrize("steps", CARD_STEPS, ids=["after", "amid create", "amid capture"])
def test_a_card_is_charged_once(
    page: Page, mortal: MortalShop, books: Books, steps: list[tuple[Moment, re.Pattern[str]]]
) -> None:
    payment, deaths = Payment(page), mortal.server.deaths
    (create, present, capture), amount = steps, 71_00 + deaths
    payment.type_amount(amount)
    mortal.dies(*create)
    page.get_by_role("button", name="Card", exact=True).click()
    payment.waits()
    mortal.dies(*present)
    payment.hold("visa")
    mortal.has_died(deaths + 2)
    mortal.dies(*capture)
    hold_until_paid(payment)
    mortal.has_died(deaths + 3)

    books.paid.append(("CARD", amount))
    books.check()
    books.check_device(page)
    payment.next_sale()


def test_cash_is_booked_once(page: Page, mortal: MortalShop, books: Books) -> None:
    deaths = mortal.server.deaths
    quick_payment(page, 72_10)
    mortal.dies("amid", CASH)
    hand_over(page, "£72.10")
    mortal.has_died(deaths + 1)
    mortal.dies("after", CASH)
    mortal.has_died(deaths + 2)
    expect(page.get_by_text("We don't know yet")).to_be_visible()
    is_paid_in_the_end(page)

    books.paid.append(("CASH", 72_10))
    books.check()
    books.check_device(page)
    next_sale(page)


def test_an_order_in_parts_is_paid_and_submitted_once(page: Page, mortal: MortalShop, books: Books) -> None:
    payment, deaths = Payment(page), mortal.server.deaths
    order(page, CANDLES, TEALIGHTS)
    go_to(page, "/till/pay")
    page.get_by_role("button", name="Part of the amount").click()
    page.get_by_role("textbox", name="Part to pay now").fill("5")
    page.get_by_role("button", name="Take this part").click()
    page.get_by_role("button", name="Cash", exact=True).click()
    mortal.dies("after", CASH)
    hand_over(page, "£5.00")
    expect(page.get_by_role("region", name="Paid so far")).to_contain_text("£5.00")
    mortal.dies("after", CREATE)
    page.get_by_role("button", name="Card", exact=True).click()
    payment.waits()
    mortal.dies("before", SUBMIT)
    payment.hold("visa")
    mortal.has_died(deaths + 3)
    mortal.dies("after", SUBMIT)
    is_paid_in_the_end(page)
    mortal.has_died(deaths + 4)

    books.paid += [("CASH", 5_00), ("CARD", 27_00)]
    books.orders_paid += 1
    books.check()
    books.check_device(page)
    next_sale(page)


def test_an_order_that_the_dead_shop_cannot_take_is_sent_to_it_once(
    page: Page, mortal: MortalShop, books: Books
) -> None:
    deaths = mortal.server.deaths
    order(page, CANDLES)
    expect_basket(page)
    go_to(page, "/till/pay")
    page.get_by_role("button", name="Cash", exact=True).click()
    mortal.dies("before", BASKET)
    hand_over(page, "£20.00")
    is_paid(page)
    mortal.has_died(deaths + 1)
    next_sale(page)
    go_to(page, "/till/waiting")
    mortal.dies("after", OFFLINE)
    send = page.get_by_role("button", name="Send now")
    send.click()
    mortal.has_died(deaths + 2)
    expect(page.get_by_text("Not sent:")).to_be_visible()
    send.click()
    expect(page.get_by_role("listitem").first).to_contain_text("Sent", timeout=LONG)

    books.paid.append(("CASH", 18_00))
    books.orders_paid += 1
    books.check()
    books.check_device(page)
    go_to(page, "/till")


def expect_basket(page: Page) -> None:
    """The shop has the order."""
    in_app(page, "order_check.js", "await module.checkOrder();")


def test_a_payment_that_is_given_up_is_cancelled(page: Page, mortal: MortalShop, books: Books) -> None:
    payment, deaths = Payment(page), mortal.server.deaths
    payment.begin(73_10)
    mortal.dies("after", CANCEL)
    page.get_by_role("button", name="Cancel payment").click()
    cancelled = page.get_by_text("The payment was cancelled. Nothing was charged.")
    expect(cancelled).to_be_visible(timeout=LONG)
    mortal.has_died(deaths + 1)
    books.check()
    assert [one["status"] for one in books.payments()] == ["CANCELLED"]
    books.check_device(page)
