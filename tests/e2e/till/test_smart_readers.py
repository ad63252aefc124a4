"""Smart readers at the till: a shop that takes cards by Stripe, whose stand-in holds the books and the reader."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, expect

from app.adapters.clock import SystemClock
from tests.e2e.till.signing_in import PHONE, sign_in_to_till
from tests.e2e.till.test_card_payments import Payment
from tests.fakes.stripe_server import SECRET_KEY, WEBHOOK_SECRET, StripeServer, stripe_server
from tests.processes import RunningShop
from tests.waiting import until

LOCATION = "tml_demo_market"


@pytest.fixture(scope="module")
def stripe() -> Iterator[StripeServer]:
    with stripe_server(SystemClock().now) as server:
        yield server


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory, stripe: StripeServer) -> Iterator[RunningShop]:
    settings = {"STRIPE_SECRET_KEY": SECRET_KEY, "STRIPE_WEBHOOK_SECRET": WEBHOOK_SECRET}
    folder = tmp_path_factory.mktemp("stripe-shop")
    running = RunningShop(folder, PAYMENT_PROCESSOR="stripe", STRIPE_API_BASE=stripe.base_url, **settings).start()
    yield running
    assert running.stop() == 0


@pytest.fixture
def phone(browser: Browser, shop: RunningShop) -> Iterator[BrowserContext]:
    context = browser.new_context(base_url=shop.address, viewport=PHONE, has_touch=True, is_mobile=True)
    yield context
    context.close()


def test_a_smart_reader_is_chosen_and_takes_cards(phone: BrowserContext, stripe: StripeServer) -> None:
    books = stripe.api.ledgers[""]
    counter, other = books.add_reader(LOCATION, "Counter"), books.add_reader(LOCATION, "Terrace", status="offline")
    till = sign_in_to_till(phone.new_page())
    payment = Payment(till)
    payment.type_amount(31_10)
    till.get_by_role("button", name="Card", exact=True).click()
    readers = till.get_by_role("group", name="Card readers")
    readers.get_by_role("button", name="Terrace Offline").click()
    expect(payment.status).to_contain_text("The card reader is off, or has no network.")
    till.route("**/process", lambda route: (route.fetch(), route.abort()), times=1)
    readers.get_by_role("button", name="Counter Online").click()
    payment.waits()

    until(lambda: is_waiting(stripe, counter))
    stripe.present("", counter, "insufficient")
    expect(payment.status).to_contain_text("Declined: There is not enough money on the card")
    till.get_by_role("button", name="Try another card").click()
    payment.waits()
    until(lambda: is_waiting(stripe, counter))
    stripe.present("", counter, "visa")
    payment.is_paid()
    payment.next_sale()
    assert [(one["amount"], one["status"]) for one in books.intents.values()] == [(31_10, "succeeded")]
    assert books.readers[other]["action"] is None


def test_a_reader_stops_when_the_payment_is_cancelled_or_the_customer_leaves(
    phone: BrowserContext, stripe: StripeServer
) -> None:
    books = stripe.api.ledgers[""]
    counter = books.add_reader(LOCATION, "Bar")
    till = sign_in_to_till(phone.new_page())
    payment = Payment(till)
    payment.type_amount(31_20)
    till.get_by_role("button", name="Card", exact=True).click()
    till.get_by_role("button", name="Bar Online").click()
    payment.waits()
    until(lambda: is_waiting(stripe, counter))
    books.leave_reader(counter)
    expect(payment.status).to_contain_text("No card was taken")
    till.get_by_role("button", name="Try another card").click()
    payment.waits()
    until(lambda: is_waiting(stripe, counter))
    till.get_by_role("button", name="Cancel payment").click()
    expect(till.get_by_text("The payment was cancelled. Nothing was charged.")).to_be_visible()
    assert books.readers[counter]["action"] is None
    assert [one["status"] for one in books.intents.values() if one["amount"] == 31_20] == ["canceled"]


def is_waiting(stripe: StripeServer, reader: str) -> bool:
    action = stripe.api.ledgers[""].readers[reader]["action"]
    return bool(action) and action["status"] == "in_progress"
