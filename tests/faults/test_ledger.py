"""F36, F38, F39, F41, F42: whatever the processor and the network do, both ledgers end equal and nobody pays twice."""

from __future__ import annotations

import random
import threading
from collections import Counter
from collections.abc import Callable
from contextlib import suppress

import pytest
from flask import Flask
from sqlalchemy import func, select

from app.domain.pos.ledger import count_unsettled
from app.domain.pos.models import PosAgent, PosRefund, PosTransaction
from app.domain.pos.payments import creation, settlement
from app.domain.pos.payments.cashier import Cashier
from app.domain.pos.payments.creation import PaymentRequest
from app.domain.pos.processor import InvalidState
from app.domain.pos.reconciliation import nightly
from app.domain.pos.refunds import RefundRequest, request_refund
from app.domain.pos.states import OF_INTENT, OPEN_STATUSES, PAID_STATUSES
from app.domain.shared.problems import DomainError
from app.extensions import db
from app.operations.work_context import work_context
from app.transaction import transaction
from tests.domain.pos.shop_with_till import ShopWithTill, shop_with_till, stored
from tests.examples import examples
from tests.fakes.clock import StoppedClock
from tests.fakes.payment_processor import FAULTS, TIMEOUT_AFTER, TIMEOUT_BEFORE, Call, FakeProcessor, Fault
from tests.injected_faults import injected

PAYMENTS, FAULTY = examples(500), 0.3
TRIES = 4
CARDS = ("4242", "4444", "0005", "declined", "slow", "stuck_capture")


@pytest.fixture
def till(context: None, clock: StoppedClock, processor: FakeProcessor) -> ShopWithTill:
    return shop_with_till(clock, processor, work_context())


@pytest.fixture
def cashier(till: ShopWithTill) -> Cashier:
    user_id = db.session.get_one(PosAgent, till.agent_id).user_id
    return Cashier(till.author, user_id, till.agent_id, till.location_id)


class Agent:
    """An app at a till with a bad network, in the hands of someone who presses what there is to press."""

    def __init__(self, till: ShopWithTill, cashier: Cashier, chance: random.Random) -> None:
        self.till, self.cashier, self.chance = till, cashier, chance

    def sell(self, number: int) -> None:
        """One sale: perhaps paid, cancelled, refunded or left alone."""
        intent_id = self._create(f"sale-{number}")
        if intent_id is None or self.chance.random() < 0.05:
            return
        with suppress(InvalidState):
            self.till.processor.tap(intent_id, self.chance.choice(CARDS))
        self._hear_of(intent_id)
        if self.chance.random() < 0.15:
            self._often(lambda: settlement.cancel(*self._at, self.cashier, intent_id, None))
        else:
            self._often(lambda: settlement.capture(*self._at, self.cashier, intent_id))
        if self.chance.random() < 0.3:
            self._refund(intent_id, number)

    @property
    def _at(self) -> tuple[object, object]:
        db.session.rollback()
        return self.till.context, self.till.processor

    def _create(self, key: str) -> str | None:
        request = PaymentRequest(self.chance.randint(30, 9_999), key=key)
        created = self._often(lambda: creation.create_payment(*self._at, self.cashier, request))
        return created.intent.id if created else None

    def _refund(self, intent_id: str, number: int) -> None:
        query = select(PosTransaction.id).where(PosTransaction.processor_intent_id == intent_id)
        transaction_id = db.session.scalar(query)
        if transaction_id is not None:
            amount = self.chance.choice((None, 30, 25_000))
            wanted = RefundRequest(transaction_id, amount, "Changed their mind", f"refund-{number}")
            self._often(lambda: request_refund(*(self._at[0], self.till.author, self._at[1]), wanted))

    def _hear_of(self, intent_id: str) -> None:
        """Events get lost and come twice."""
        raw, headers = self.till.processor.event("payment_intent.updated", intent_id)
        for _ in range(self.chance.choice((0, 1, 2))):
            self.till.receive(raw, headers)

    def _often(self, press: Callable[[], object]) -> object | None:
        for _ in range(TRIES):
            with suppress(DomainError):
                return press()
        return None


def _at_random(chance: random.Random) -> Callable[[Call], Fault | None]:
    return lambda _call: chance.choice(FAULTS) if chance.random() < FAULTY else None


def _heal(till: ShopWithTill) -> None:
    """The processor is well again, cards that were being charged are, and a day passes."""
    till.processor.fault_of = lambda _call: None
    for intent in till.processor.intents():
        if intent.status == "processing":
            till.processor.finish(intent.id)
    for hours in (0, 1, 22, 2):
        till.clock.move(hours=hours)
        for _ in range(2):
            till.check()


def _our_ledger() -> dict[str, int]:
    """Money that is with the shop by its own books, as FakeProcessor.ledger has it."""
    db.session.rollback()
    columns = (PosTransaction.id, PosTransaction.captured_amount - PosTransaction.refunded_amount)
    paid = select(*columns).where(PosTransaction.status.in_(PAID_STATUSES))
    return {transaction_id: money for transaction_id, money in db.session.execute(paid)}


@pytest.mark.fault("F36", "F38", "F39")
def test_five_hundred_payments_with_faults_in_a_third_of_all_calls_end_in_equal_ledgers(
    till: ShopWithTill, cashier: Cashier
) -> None:
    chance = random.Random(20_261_122)
    agent = Agent(till, cashier, chance)
    till.processor.fault_of = _at_random(chance)
    for number in range(PAYMENTS):
        agent.sell(number)
    _heal(till)
    assert _our_ledger() == till.processor.ledger(), "FakeProcessor.ledger sees to it that nothing is charged twice"
    states = Counter(db.session.scalars(select(PosTransaction.status)))
    held = [intent for intent in till.processor.intents() if intent.status == "requires_capture"]
    open_ones = {status: count for status, count in states.items() if status in OPEN_STATUSES}
    assert open_ones == ({"AUTHORIZED": len(held)} if held else {}), "what people must decide, and nothing else"
    assert states["SUCCEEDED"] > PAYMENTS / 5 and states["REFUNDED"] and states["CANCELLED"] and states["FAILED"]
    assert set(db.session.scalars(select(PosRefund.status))) == {"SUCCEEDED", "FAILED"}
    keys = select(PosTransaction.processor_intent_id).where(PosTransaction.processor_intent_id.is_not(None))
    attached = list(db.session.scalars(keys))
    assert sorted(attached) == sorted(intent.id for intent in till.processor.intents())
    with transaction():
        run_id = nightly.request(till.author, till.clock.now().date().replace(day=20)).id
    nightly.reconcile(till.context, till.processor, run_id)
    assert count_unsettled(till.site_id) == 0


@pytest.mark.fault("F41")
@pytest.mark.parametrize("card", ["stuck_capture", "4242", None], ids=["held", "paid", "without a card"])
def test_in_a_race_of_capture_and_cancellation_the_shop_says_what_the_processor_says(
    app: Flask, till: ShopWithTill, cashier: Cashier, card: str | None
) -> None:
    """F41, T28: a hundred races; those of held cards have two ways to end."""
    ends = Counter[str]()
    for number in range(60 if card == "stuck_capture" else 20):
        created = creation.create_payment(till.context, till.processor, cashier, PaymentRequest(1_250, key=f"{number}"))
        if card:
            till.processor.tap(created.intent.id, card)
        _race(
            app,
            lambda intent_id: settlement.capture(till.context, till.processor, cashier, intent_id),
            lambda intent_id: settlement.cancel(till.context, till.processor, cashier, intent_id, None),
            created.intent.id,
        )
        read = till.processor.intent(created.intent.id)
        row = stored(created.transaction_id)
        assert row.status == OF_INTENT[read.status].value
        assert row.captured_amount == read.amount_received
        ends[row.status] += 1
    assert set(ends) <= {"stuck_capture": {"SUCCEEDED", "CANCELLED"}, "4242": {"SUCCEEDED"}, None: {"CANCELLED"}}[card]
    assert db.session.scalar(select(func.count()).where(PosTransaction.anomaly.is_not(None))) == 0


def _race(app: Flask, first: Callable[[str], object], second: Callable[[str], object], intent_id: str) -> None:
    together = threading.Barrier(2)
    injected()

    def press(button: Callable[[str], object]) -> None:
        with app.app_context():
            together.wait()
            with suppress(DomainError):
                button(intent_id)
            db.session.remove()

    db.session.remove()
    threads = [threading.Thread(target=press, args=(button,)) for button in (first, second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@pytest.mark.fault("F36", "F38")
@pytest.mark.parametrize("fault", FAULTS, ids=[str(number) for number in range(len(FAULTS))])
def test_after_each_fault_of_a_creation_there_is_at_most_one_intent(
    till: ShopWithTill, cashier: Cashier, fault: Fault
) -> None:
    """F36, F38: the client repeats its request under the same key."""
    till.processor.fail("create_intent", fault, fault)
    for _ in range(3):
        with suppress(DomainError):
            creation.create_payment(till.context, till.processor, cashier, PaymentRequest(1_250, key="sale"))
        till.clock.move(seconds=61)
    till.clock.move(hours=25)
    till.check()
    named = [intent.metadata["transactionId"] for intent in till.processor.intents()]
    assert len(named) == len(set(named)) <= 1
    db.session.rollback()
    assert all(status not in OPEN_STATUSES for status in db.session.scalars(select(PosTransaction.status)))


@pytest.mark.fault("F36")
@pytest.mark.parametrize("operation", ["capture_intent", "retrieve_intent"])
def test_a_capture_whose_answer_is_lost_is_known_within_a_minute(
    till: ShopWithTill, cashier: Cashier, operation: str
) -> None:
    """F36: UNKNOWN is a state that heals itself."""
    created = creation.create_payment(till.context, till.processor, cashier, PaymentRequest(1_250))
    till.processor.tap(created.intent.id, "stuck_capture" if operation == "capture_intent" else "4242")
    till.processor.fail(operation, TIMEOUT_AFTER)
    if operation == "capture_intent":
        till.processor.fail("retrieve_intent", None, TIMEOUT_BEFORE)
    settlement.capture(till.context, till.processor, cashier, created.intent.id)
    assert stored(created.transaction_id).status == "UNKNOWN"
    till.clock.move(seconds=60)
    till.check()
    assert stored(created.transaction_id).status == "SUCCEEDED"
    assert till.processor.ledger() == {created.transaction_id: 1_250}


@pytest.mark.fault("F42")
def test_a_payment_whose_key_the_processor_forgot_is_looked_up_and_not_made_anew(
    till: ShopWithTill, cashier: Cashier
) -> None:
    """The client repeats its request much later, when the processor would take the same key for a new one."""
    request = PaymentRequest(1_250, key="sale")
    till.processor.fail("create_intent", TIMEOUT_AFTER)
    with suppress(DomainError):
        creation.create_payment(till.context, till.processor, cashier, request)
    till.clock.move(hours=23)
    till.processor.forget_keys()
    injected()
    for _ in range(3):
        with suppress(DomainError):
            creation.create_payment(till.context, till.processor, cashier, request)
        till.clock.move(minutes=2)
        till.check()
    [intent] = till.processor.intents()
    attached = select(PosTransaction.processor_intent_id).where(PosTransaction.processor_intent_id.is_not(None))
    assert db.session.scalars(attached).all() == [intent.id]
