"""Card payments at the till: every simulated card, and everything that may get lost on the way. Whatever happens, the
shop's ledger holds one payment, and the app ends up showing what it holds."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.e2e.till.signing_in import PASSWORD, PIN, set_up_pin

TILL = "/v1/pos/tml_demo_market"
CREATE = re.compile(r"/v1/pos/[^/]+/paymentIntents$")
PRESENT = re.compile(r"/simulator/paymentIntents/[^/]+/present$")
CAPTURE = re.compile(r"/paymentIntents/[^/]+/capture$")
CANCEL = re.compile(r"/paymentIntents/[^/]+/cancel$")
PAYING = [
    ("visa", 21_10),
    ("mastercard", 21_20),
    ("amex", 21_30),
    ("debit", 21_40),
    ("slow", 21_50),
    ("lost_response", 21_60),
    ("stuck_capture", 21_70),
    ("late_event", 21_80),
    ("duplicate_event", 21_90),
    ("event_first", 22_10),
    ("out_of_order", 22_20),
    ("refund_fail", 22_30),
]
DECLINED = [
    ("declined", "The bank declined the card"),
    ("insufficient", "There is not enough money on the card"),
    ("lost", "The bank refused this card"),
    ("stolen", "The bank refused this card"),
    ("expired", "The card has expired"),
    ("processing_error", "The bank could not process the card"),
    ("sca_retry", "The bank wants the card again"),
]
UNREAD = [
    ("removed_early", "The card was taken away too early."),
    ("reader_offline", "The card reader is offline."),
    ("timeout_not_charged", "No card was charged."),
]


@dataclass
class Payment:
    """What a person sees of a payment on a page."""

    page: Page

    @property
    def status(self) -> Locator:
        return self.page.get_by_role("status", name="Payment")

    def begin(self, amount: int) -> Payment:
        self.type_amount(amount)
        self.page.get_by_role("button", name="Card", exact=True).click()
        return self.waits()

    def type_amount(self, amount: int) -> None:
        self.page.get_by_role("button", name="Quick payment").click()
        keys = self.page.get_by_role("group", name="Amount")
        for digit in str(amount):
            keys.get_by_role("button", name=digit, exact=True).click()

    def waits(self) -> Payment:
        expect(self.status).to_contain_text("Waiting for card")
        return self

    def hold(self, card: str) -> None:
        cards = self.page.get_by_role("group", name="Simulated cards")
        cards.get_by_role("button", name=card, exact=True).click()

    def is_paid(self) -> None:
        expect(self.page.get_by_role("heading", name="Paid")).to_be_visible()
        expect(self.status).to_contain_text("Approved")

    def next_sale(self) -> None:
        self.page.get_by_role("button", name="New sale").click()
        expect(self.page.get_by_role("button", name="Quick payment")).to_be_enabled()


@pytest.fixture
def ledger(api: Callable[..., dict]) -> Callable[[int], list[str]]:
    """The statuses of the payments that the shop has of an amount; each test has amounts of its own."""

    def statuses(amount: int) -> list[str]:
        payments = api("GET", f"{TILL}/transactions?pageSize=100")["items"]
        return [one["status"] for one in payments if one["amountInPence"] == amount]

    return statuses


def lose_answer(page: Page, address: re.Pattern[str], times: int = 1) -> None:
    """The request arrives, and its answer does not."""

    def lose(route: Route) -> None:
        route.fetch()
        route.abort()

    page.route(address, lose, times=times)


def reopen(page: Page) -> Page:
    """The tab is lost with everything that it did, and the app is opened anew."""
    context = page.context
    page.close()
    fresh = context.new_page()
    fresh.goto("/till")
    unlock(fresh)
    return fresh


def unlock(page: Page) -> None:
    page.get_by_role("textbox", name="PIN").fill(PIN)
    page.get_by_role("button", name="Unlock").click()


def test_every_card_that_pays_is_charged_once(till: Page, ledger: Callable[[int], list[str]]) -> None:
    payment = Payment(till)
    for card, amount in PAYING:
        payment.begin(amount).hold(card)
        payment.is_paid()
        payment.next_sale()

    assert [ledger(amount) for _card, amount in PAYING] == [["SUCCEEDED"]] * len(PAYING)


def test_after_every_refusal_another_card_pays_the_same_payment(till: Page, ledger: Callable[[int], list[str]]) -> None:
    payment = Payment(till).begin(23_10)
    for card, reason in DECLINED:
        payment.hold(card)
        expect(payment.status).to_contain_text(f"Declined: {reason}")
        till.get_by_role("button", name="Try another card").click()
        payment.waits()
    for card, reason in UNREAD:
        payment.hold(card)
        expect(payment.status).to_contain_text(reason)
        payment.waits()
    for pin in ("1111", "1234"):
        payment.hold("pin_required")
        expect(payment.status).to_contain_text("Enter PIN on the reader")
        till.get_by_role("textbox", name="PIN on the reader").fill(pin)
        till.get_by_role("button", name="Confirm PIN").click()
        if pin == "1111":
            expect(payment.status).to_contain_text("Declined: The PIN was wrong")
            till.get_by_role("button", name="Try another card").click()

    payment.is_paid()
    assert ledger(23_10) == ["SUCCEEDED"]


def test_the_receipt_is_shown_sent_and_printed(till: Page) -> None:
    payment = Payment(till)
    payment.begin(23_20).hold("visa")
    payment.is_paid()
    expect(payment.status).to_contain_text("£23.20")
    expect(payment.status).to_contain_text("Visa •••• 4242")
    code = till.get_by_role("img", name="Receipt code")
    expect(code).to_be_visible()
    assert code.evaluate("image => image.decode().then(() => image.naturalWidth > 0)")

    till.get_by_role("button", name="Send receipt").click()
    expect(till.get_by_text("Enter an e-mail address")).to_be_visible()
    till.get_by_role("textbox", name="E-mail for the receipt").fill("sam@home.test")
    till.get_by_role("button", name="Send receipt").click()
    expect(till.get_by_text("The receipt goes to sam@home.test.")).to_be_visible()
    with till.context.expect_page() as opened:
        till.get_by_role("button", name="Print receipt").click()
    expect(opened.value.get_by_text("£23.20").first).to_be_visible()
    opened.value.close()
    payment.next_sale()


def test_lost_answers_charge_once(till: Page, ledger: Callable[[int], list[str]]) -> None:
    payment = Payment(till)
    lose_answer(till, CREATE)
    payment.begin(24_10)
    lose_answer(till, PRESENT)
    lose_answer(till, CAPTURE, times=2)
    payment.hold("visa")
    expect(payment.status).to_contain_text("We don't know yet")
    expect(till.get_by_role("button", name="Card", exact=True)).to_be_hidden()
    payment.is_paid()
    payment.next_sale()

    payment.begin(24_20)
    lose_answer(till, CANCEL)
    till.get_by_role("button", name="Cancel payment").click()
    expect(till.get_by_text("The payment was cancelled. Nothing was charged.")).to_be_visible()

    assert (ledger(24_10), ledger(24_20)) == (["SUCCEEDED"], ["CANCELLED"])


def test_a_lost_tab_changes_nothing(till: Page, ledger: Callable[[int], list[str]]) -> None:
    """Lost while it is begun, waits, is charged and is captured."""
    lose_answer(till, CREATE, times=9)
    payment = Payment(till)
    payment.type_amount(25_10)
    till.get_by_role("button", name="Card", exact=True).click()
    expect(payment.status).to_contain_text("We don't know yet")
    payment = Payment(reopen(till)).waits()
    payment = Payment(reopen(payment.page)).waits()

    lose_answer(payment.page, PRESENT)
    payment.page.route(CAPTURE, lambda route: route.abort())
    payment.hold("visa")
    expect(payment.status).to_contain_text("We don't know yet")
    payment = Payment(reopen(payment.page))
    payment.is_paid()

    payment = Payment(reopen(payment.page))
    payment.page.get_by_role("link", name="Go on with the sale").click()
    payment.is_paid()
    payment.next_sale()
    assert ledger(25_10) == ["SUCCEEDED"]


def test_double_taps_and_going_back_do_no_more_than_one(till: Page, ledger: Callable[[int], list[str]]) -> None:
    payment = Payment(till)
    payment.type_amount(26_10)
    till.get_by_role("button", name="Card", exact=True).dblclick()
    payment.waits()
    till.go_back()
    payment.waits()
    till.go_back()
    expect(till.get_by_text("A payment is not final yet.")).to_be_visible()
    expect(till.get_by_role("button", name="Quick payment")).to_be_disabled()
    till.get_by_role("link", name="Go on with the sale").click()
    payment.waits()
    till.get_by_role("button", name="visa", exact=True).evaluate("button => { button.click(); button.click(); }")
    payment.is_paid()
    payment.next_sale()
    assert ledger(26_10) == ["SUCCEEDED"]


def test_two_tabs_never_take_the_same_payment(till: Page, ledger: Callable[[int], list[str]]) -> None:
    other = Payment(till.context.new_page())
    other.page.goto("/till")
    unlock(other.page)
    expect(other.page.get_by_role("button", name="Quick payment")).to_be_enabled()

    payment = Payment(till).begin(27_10)
    other.waits()
    expect(other.page.get_by_text("under way in another tab")).to_be_visible()
    expect(other.page.get_by_role("group", name="Simulated cards")).to_be_hidden()
    till.close()
    other.waits()
    other.hold("visa")
    other.is_paid()
    assert payment.page.is_closed()
    assert ledger(27_10) == ["SUCCEEDED"]


def test_a_second_tab_sees_the_end_of_a_payment(till: Page, ledger: Callable[[int], list[str]]) -> None:
    payment = Payment(till).begin(27_20)
    other = Payment(till.context.new_page())
    other.page.goto("/till/quick")
    unlock(other.page)
    expect(other.page.get_by_text("under way in another tab")).to_be_visible()
    payment.hold("visa")
    payment.is_paid()
    other.is_paid()
    payment.next_sale()
    assert ledger(27_20) == ["SUCCEEDED"]


def test_without_a_network_no_card_is_taken_and_none_is_lost(till: Page, ledger: Callable[[int], list[str]]) -> None:
    payment = Payment(till).begin(28_10)
    lose_answer(till, PRESENT)
    till.route(CAPTURE, lambda route: route.abort(), times=1)
    payment.hold("visa")
    expect(payment.status).to_contain_text("We don't know yet")
    till.context.set_offline(True)
    expect(till.get_by_role("button", name="Cancel payment")).to_be_hidden()
    till.context.set_offline(False)
    payment.is_paid()
    payment.next_sale()
    assert ledger(28_10) == ["SUCCEEDED"]

    payment.type_amount(28_20)
    till.context.set_offline(True)
    till.get_by_role("button", name="Card", exact=True).click()
    expect(till.get_by_role("alert").filter(has_text="Cards need a network")).to_be_visible()
    till.context.set_offline(False)
    assert ledger(28_20) == []


def test_a_card_that_was_faster_than_cancelling_has_paid(till: Page, api: Callable[..., dict]) -> None:
    payment = Payment(till)
    with till.expect_response(CREATE) as created:
        payment.begin(29_10)
    intent = created.value.json()
    reader = {"Authorization": f"Bearer {api('GET', f'{TILL}/paymentToken')['token']}"}
    address = f"/v1/pos/simulator/paymentIntents/{intent['id']}/present"
    held = till.request.post(address, headers=reader, data={"clientSecret": intent["clientSecret"], "card": "visa"})
    assert held.ok, held.text()
    till.get_by_role("button", name="Cancel payment").click()
    payment.is_paid()


def test_amounts_that_cannot_be_taken_are_refused_before_and_by_the_shop(till: Page) -> None:
    payment = Payment(till)
    alert = till.get_by_role("alert").filter(has_text=re.compile("."))
    payment.type_amount(12)
    till.get_by_role("button", name="Card", exact=True).click()
    expect(alert).to_contain_text("The least that a card can pay is £0.30.")
    keys = till.get_by_role("group", name="Amount")
    for _ in range(2):
        keys.get_by_role("button", name="00", exact=True).click()
    keys.get_by_role("button", name="0", exact=True).click()
    expect(alert).to_contain_text("The most that you may take in one payment is £1,000.00.")
    for _ in range(2):
        keys.get_by_role("button", name="Delete").click()

    refusal = {"code": "amount_exceeds_limit", "status": 422, "detail": "At most £5.00. Once more ends this session."}
    till.route(CREATE, lambda route: route.fulfill(status=422, json=refusal), times=1)
    till.get_by_role("button", name="Card", exact=True).click()
    expect(alert).to_contain_text("Once more ends this session.")
    till.get_by_role("button", name="Card", exact=True).click()
    payment.waits()


def test_an_ended_session_keeps_the_payment(till: Page, ledger: Callable[[int], list[str]]) -> None:
    payment = Payment(till).begin(30_10)
    lose_answer(till, PRESENT)
    revoked = {"code": "session_revoked", "status": 401, "detail": "Ended."}
    till.route(CAPTURE, lambda route: route.fulfill(status=401, json=revoked), times=1)
    payment.hold("visa")
    expect(till.get_by_role("heading", name="Sign in")).to_be_visible()
    sign_in_again(till)
    payment.is_paid()
    assert ledger(30_10) == ["SUCCEEDED"]


def sign_in_again(page: Page) -> None:
    page.get_by_role("textbox", name="E-mail").fill("agent@demo.test")
    page.get_by_role("textbox", name="Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    set_up_pin(page)
