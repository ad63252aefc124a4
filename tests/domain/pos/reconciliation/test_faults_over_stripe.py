"""Sales through Stripe's protocol while answers are late, lost, cut off or errors, and news comes late, twice or never:
in the end the shop's books are Stripe's."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress

import pytest
from sqlalchemy import select

from app.adapters.stripe import StripeProcessor
from app.domain.pos.models import PosTransaction
from app.domain.pos.payments import settlement
from app.domain.pos.payments.cashier import Cashier
from app.domain.pos.payments.creation import PaymentRequest, create_payment
from app.domain.pos.refunds import RefundRequest, request_refund
from app.domain.shared.problems import DomainError
from app.domain.sites.settings import change_settings
from app.extensions import db
from app.transaction import transaction
from tests.domain.pos.shop_with_till import ShopWithTill
from tests.fakes.clock import StoppedClock
from tests.fakes.stripe_server import SECRET_KEY, WEBHOOK_SECRET, Fault, StripeServer, stripe_server

ACCOUNT = "acct_mine"
FAULTS = [fault for fault in Fault if fault is not Fault.DECLINED]  # A decline is no fault of the line.
CARDS = ["visa", "visa", "mastercard", "insufficient", "stuck_capture", None]
SALES = 12


@pytest.fixture
def server(clock: StoppedClock) -> Iterator[StripeServer]:
    with stripe_server(clock.now, (ACCOUNT,)) as running:
        yield running


@pytest.fixture
def processor(server: StripeServer) -> StripeProcessor:
    return _processor(server, read_seconds=0.03)


def _processor(server: StripeServer, read_seconds: float) -> StripeProcessor:
    return StripeProcessor(SECRET_KEY, [WEBHOOK_SECRET], api_base=server.base_url, read_seconds=read_seconds, pause=0)


@pytest.fixture
def cashier(till: ShopWithTill) -> Cashier:
    with transaction():
        change_settings(till.site_id, {"posEnabled": True, "posProcessorAccountId": ACCOUNT})
    return Cashier(till.author, 1, till.agent_id, till.location_id)


class Line:
    """The line to Stripe, on which three in ten requests meet a fault."""

    def __init__(self, server: StripeServer, chance: random.Random) -> None:
        self._server, self._chance = server, chance

    def get_bad(self) -> None:
        self._server.fails(*(self._fault() for _ in range(2)))

    def _fault(self) -> Fault | None:
        return self._chance.choice(FAULTS) if self._chance.random() < 0.3 else None


def sell(till: ShopWithTill, cashier: Cashier, server: StripeServer, line: Line, key: str, card: str | None) -> None:
    """As an app does: it repeats what failed, lets the customer tap, captures or cancels, and gives some back."""
    made = None
    for _ in range(3):
        line.get_bad()
        with suppress(DomainError):
            made = made or create_payment(till.context, till.processor, cashier, PaymentRequest(500, key=key))
    if made is None:
        return
    with suppress(Exception):  # What was cancelled takes no card.
        server.tap(ACCOUNT, made.intent.id, card or "declined")
    act = settlement.capture if card else lambda *given: settlement.cancel(*given, None)
    for _ in range(2):
        line.get_bad()
        with suppress(DomainError):
            act(till.context, till.processor, cashier, made.intent.id)
    if card == "mastercard":
        line.get_bad()
        with suppress(DomainError):
            request = RefundRequest(made.transaction_id, 200, "Cold coffee", key=f"refund-{key}")
            request_refund(till.context, till.author, till.processor, request)


def bring_news(till: ShopWithTill, server: StripeServer, line: Line, chance: random.Random) -> None:
    """Some of the events, in any order, some of them twice."""
    events = chance.choices(server.api.events(), k=len(server.api.events()))
    for event in events:
        line.get_bad()
        signed = server.signed(event)
        till.receive(signed.raw, dict(signed.headers))


def settle(till: ShopWithTill, cashier: Cashier, clock: StoppedClock, server: StripeServer) -> None:
    """The line is good again, and a busy machine is no fault of it. A day passes, in which a person captures what cards
    still hold."""
    server.fails_no_more()
    till.processor = _processor(server, read_seconds=10)
    for minutes in (1, 2, 5, 20, 40, 60, 60 * 23, 60, 60):
        clock.move(minutes=minutes)
        till.check()
        for payment in db.session.scalars(select(PosTransaction).filter_by(status="AUTHORIZED")).all():
            settlement.capture(till.context, till.processor, cashier, payment.processor_intent_id or "")


@pytest.mark.parametrize("seed", [7, 20, 39])
def test_in_the_end_the_books_are_those_of_stripe(
    till: ShopWithTill, cashier: Cashier, server: StripeServer, clock: StoppedClock, seed: int
) -> None:
    chance = random.Random(seed)
    line = Line(server, chance)
    for number in range(SALES):
        sell(till, cashier, server, line, f"sale-{number}", chance.choice(CARDS))
        clock.move(seconds=20)
        till.check()
    bring_news(till, server, line, chance)
    settle(till, cashier, clock, server)

    ledger = server.api.ledgers[ACCOUNT]
    rows = db.session.scalars(select(PosTransaction)).all()
    assert {row.status for row in rows} <= {"SUCCEEDED", "CANCELLED", "FAILED", "PARTIALLY_REFUNDED"}
    for row in rows:
        intents = [one for one in ledger.intents.values() if one["metadata"]["transactionId"] == row.id]
        received = sum(intent["amount_received"] for intent in intents)
        refunded = sum(
            refund["amount"]
            for refund in ledger.refunds.values()
            if refund["payment_intent"] == row.processor_intent_id
        )
        assert len(intents) <= 1, "one payment, one intent"
        assert (row.captured_amount, row.refunded_amount) == (received, refunded)
        assert row.anomaly in (None, "refund_failed"), "money came for what the shop had given up"
    assert max(Counter(refund["payment_intent"] for refund in ledger.refunds.values()).values(), default=0) <= 1
