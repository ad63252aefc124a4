"""The state table of docs/payments.md against a model of a few lines: whatever is done in whatever order, and whatever
gets lost, the shop's status is the table's, and no payment is charged twice."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import count

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, rule, run_state_machine_as_test

from app.domain.pos.models import PosTransaction
from app.domain.pos.payments import settlement, transitions
from app.domain.pos.payments.creation import PaymentRequest, create_payment
from app.domain.pos.processor import Intent
from app.domain.shared.problems import DomainError
from app.domain.work.context import WorkContext
from app.extensions import db
from app.transaction import transaction
from tests.domain.pos.payments.conftest import Shop
from tests.examples import examples
from tests.fakes.payment_processor import (
    ERROR_500_BEFORE,
    MISCONFIGURED,
    RATE_LIMITED_429,
    TIMEOUT_AFTER,
    TIMEOUT_BEFORE,
    FakeProcessor,
    Fault,
)

WAITING, PROCESSING, HELD, PAID, CANCELED = (
    "requires_payment_method", "processing", "requires_capture", "succeeded", "canceled",
)  # fmt: skip
SHOWN = {WAITING: "PENDING", PROCESSING: "PROCESSING", HELD: "AUTHORIZED", PAID: "SUCCEEDED", CANCELED: "CANCELLED"}
FINAL = ("SUCCEEDED", "CANCELLED", "FAILED")
AFTER_TAP = {"4242": PAID, "slow": PROCESSING, "stuck_capture": HELD, "declined": WAITING}
LOST, REFUSED = (TIMEOUT_BEFORE, TIMEOUT_AFTER), (MISCONFIGURED, RATE_LIMITED_429)
_keys = count(1)
faults = st.sampled_from((None, None, *LOST, *REFUSED))


@dataclass
class Model:
    """A payment as the table has it: `shop` the shop's status, `intent` the processor's, None where it has none. `seen`
    is every state that the intent was in, for events that come late; `canceled_at` the version, and with it the key, at
    which the intent was cancelled without an answer."""

    transaction_id: str
    key: str
    intent_id: str | None = None
    shop: str = "CREATING"
    intent: str | None = None
    is_declined: bool = False
    seen: tuple[Intent, ...] = ()
    canceled_at: int | None = None

    def read(self) -> None:
        """The shop learns what the processor has."""
        assert self.intent is not None
        if self.shop not in FINAL or self.intent == PAID:
            self.shop = SHOWN[self.intent]

    def lose(self) -> None:
        if self.shop not in FINAL:
            self.shop = "UNKNOWN"


class PaymentMachine(RuleBasedStateMachine):
    payments: Bundle[Model] = Bundle("payments")
    lost: Bundle[Model] = Bundle("lost")

    def __init__(self, shop: Shop) -> None:
        super().__init__()
        self.shop, self.processor = shop, FakeProcessor(shop.author.clock)
        self.context = WorkContext(shop.author.clock, transaction)
        self.models: list[Model] = []
        self.known = {row.id for row in db.session.query(PosTransaction.id)}

    @rule(target=payments)
    def create(self) -> Model:
        model = self._created(None)
        assert model.shop == "PENDING"
        return model

    @rule(target=lost, fault=st.sampled_from((TIMEOUT_BEFORE, TIMEOUT_AFTER)))
    def lose_a_creation(self, fault: Fault) -> Model:
        model = self._created(fault)
        assert model.shop == "UNKNOWN"
        return model

    @rule(fault=st.sampled_from(REFUSED))
    def fail_a_creation(self, fault: Fault) -> None:
        assert self._created(fault).shop == "FAILED"

    @rule(model=lost, fault=st.sampled_from((TIMEOUT_BEFORE, TIMEOUT_AFTER, ERROR_500_BEFORE)))
    def retry_a_creation_in_vain(self, model: Model, fault: Fault) -> None:
        if fault is not ERROR_500_BEFORE:  # Which would be repeated for a day.
            self.processor.fail("create_intent", fault)
            assert self._answer(lambda: self._create(model.key)) == "processor_timeout"

    @rule(target=payments, model=consumes(lost))
    def retry_a_creation(self, model: Model) -> Model:
        created = create_payment(self.context, self.processor, self.shop.cashier, _request(model.key))
        assert created.transaction_id == model.transaction_id
        model.intent_id, model.intent = created.intent.id, WAITING
        model.read()
        return model

    @rule(target=payments, model=consumes(lost))
    def find_the_intent_of_a_creation(self, model: Model) -> Model:
        """As an event or the reconciliation does; where there is none the payment waits on."""
        found = [one for one in self.processor.intents() if one.metadata["transactionId"] == model.transaction_id]
        intent = found[0] if found else self._create_at_processor(model)
        self._apply(model, intent)
        model.intent_id, model.intent = intent.id, WAITING
        model.read()
        return model

    @rule(model=payments, card=st.sampled_from(list(AFTER_TAP)))
    def tap(self, model: Model, card: str) -> None:
        if model.intent == WAITING:
            self.processor.tap(model.intent_id or "", card)
            model.intent, model.is_declined = AFTER_TAP[card], card == "declined"
        self._remember(model)

    @rule(model=payments)
    def finish_processing(self, model: Model) -> None:
        if model.intent == PROCESSING:
            self.processor.finish(model.intent_id or "")
            model.intent = PAID

    @rule(model=payments, fault=faults)
    def read(self, model: Model, fault: Fault | None) -> None:
        answer = self._called(settlement.read_payment, "retrieve_intent", model, fault)
        if model.shop in FINAL:
            assert answer == model.shop
        elif fault is None:
            model.read()
            assert answer == model.shop
        else:
            assert answer == fault.error().code

    @rule(model=payments, fault=faults)
    def capture(self, model: Model, fault: Fault | None) -> None:
        answer = self._called(settlement.capture, "retrieve_intent", model, fault)
        if model.shop in FINAL:
            assert answer == ("SUCCEEDED" if model.shop == "SUCCEEDED" else "payment_canceled")
        elif fault in LOST:
            model.lose()
            assert answer == "UNKNOWN"
        elif fault in REFUSED:
            assert answer == fault.error().code
        else:
            model.intent = PAID if model.intent == HELD else model.intent
            model.read()
            assert answer == _capture_answer(model)

    @rule(model=payments, fault=faults)
    def cancel(self, model: Model, fault: Fault | None) -> None:
        version = db.session.query(PosTransaction.version).filter_by(id=model.transaction_id).scalar()
        answer = self._called(settlement.cancel, "cancel_intent", model, fault)
        if model.shop in FINAL:
            assert answer == ("already_captured" if model.shop == "SUCCEEDED" else "CANCELLED")
            return
        takes_effect = model.intent in (WAITING, HELD) and (fault is None or fault.after)
        if fault in REFUSED:
            assert answer == fault.error().code
        elif fault is TIMEOUT_BEFORE or (fault is TIMEOUT_AFTER and (takes_effect or version == model.canceled_at)):
            if takes_effect:
                model.intent, model.canceled_at = CANCELED, version
            model.lose()
            assert answer == "UNKNOWN"
        else:  # What cannot be cancelled is refused with the intent, before any answer could get lost, but under a key
            # that was used: its answer is repeated, and can get lost again.
            model.intent = CANCELED if takes_effect else model.intent
            model.read()
            assert answer == _cancel_answer(model)

    @rule(model=payments)
    def money_comes_after_all(self, model: Model) -> None:
        """For what was cancelled; it wins."""
        if model.intent == CANCELED:
            self.processor.finish(model.intent_id or "")
            model.intent, model.shop = PAID, "SUCCEEDED"
            self._apply(model, self._intent(model))

    @rule(model=payments, which=st.integers(0, 3))
    def an_event_comes_late(self, model: Model, which: int) -> None:
        """What it says of the intent may be old; the status never leaves money behind."""
        if not model.seen:
            return
        intent = model.seen[which % len(model.seen)]
        self._apply(model, intent)
        if model.shop not in FINAL:
            model.shop = SHOWN[intent.status.value]
        elif intent.status.value == PAID:
            model.shop = "SUCCEEDED"

    @invariant()
    def the_shop_has_the_status_of_the_table(self) -> None:
        db.session.rollback()
        rows = db.session.query(PosTransaction.id, PosTransaction.status, PosTransaction.captured_amount)
        own = PosTransaction.id.in_([model.transaction_id for model in self.models])
        stored = {row.id: row for row in rows.filter(own)}
        for model in self.models:
            row = stored[model.transaction_id]
            assert row.status == model.shop
            assert row.captured_amount == (1_250 if model.shop == "SUCCEEDED" else 0)

    @invariant()
    def nothing_is_charged_twice_and_no_money_is_invented(self) -> None:
        ledger = self.processor.ledger()
        assert set(ledger.values()) <= {1_250}
        assert {model.transaction_id for model in self.models if model.shop == "SUCCEEDED"} <= set(ledger)

    def teardown(self) -> None:
        """Once everything answers again, the shop has what the processor has."""
        for model in self.models:
            if model.intent_id is not None:
                self._apply(model, self._intent(model))
                assert db.session.get_one(PosTransaction, model.transaction_id).status == SHOWN[model.intent or ""]

    def _created(self, fault: Fault | None) -> Model:
        key = f"key {next(_keys)}"
        self.processor.fail("create_intent", fault)
        answer = self._answer(lambda: self._create(key))
        (transaction_id,) = {row.id for row in db.session.query(PosTransaction.id)} - self.known
        self.known.add(transaction_id)
        model = Model(transaction_id, key)
        self.models.append(model)
        if fault is None:
            model.intent_id, model.intent, model.shop = answer, WAITING, "PENDING"
            self._remember(model)
        else:
            model.shop = "UNKNOWN" if fault in LOST else "FAILED"
        return model

    def _create(self, key: str) -> str:
        return create_payment(self.context, self.processor, self.shop.cashier, _request(key)).intent.id

    def _create_at_processor(self, model: Model) -> Intent:
        return create_payment(self.context, self.processor, self.shop.cashier, _request(model.key)).intent

    def _called(
        self, operation: Callable[..., settlement.PaymentState], call: str, model: Model, fault: Fault | None
    ) -> str:
        """The status that it ends in, or the code of its error. `fault` meets the first such call."""
        more = (None,) if operation is settlement.cancel else ()
        if model.shop not in FINAL:
            self.processor.fail(call, fault)
        arguments = (self.context, self.processor, self.shop.cashier, model.intent_id, *more)
        answer = self._answer(lambda: operation(*arguments).payment.status)
        self._remember(model)
        return answer

    def _answer(self, work: Callable[[], str]) -> str:
        try:
            return work()
        except DomainError as error:
            return error.code

    def _apply(self, model: Model, intent: Intent) -> None:
        with transaction():
            transitions.apply_intent(self.shop.author, model.transaction_id, intent, "event")

    def _intent(self, model: Model) -> Intent:
        return self.processor.intent(model.intent_id or "")

    def _remember(self, model: Model) -> None:
        model.seen = (*model.seen, self._intent(model))


def _request(key: str) -> PaymentRequest:
    return PaymentRequest(1_250, key=key)


def _capture_answer(model: Model) -> str:
    if model.intent == WAITING:
        return "card_declined" if model.is_declined else "payment_not_collected"
    return "payment_canceled" if model.intent == CANCELED else model.shop


def _cancel_answer(model: Model) -> str:
    return {PAID: "already_captured", PROCESSING: "payment_processing"}.get(model.intent or "", model.shop)


def test_any_order_of_anything_follows_the_table(shop: Shop) -> None:
    run_state_machine_as_test(
        lambda: PaymentMachine(shop),
        settings=settings(max_examples=examples(100), stateful_step_count=20, deadline=None),
    )


def test_a_cancellation_whose_answer_is_lost_again_stays_unknown_until_it_is_read(shop: Shop) -> None:
    machine = PaymentMachine(shop)
    payment = machine.create()
    for fault in (TIMEOUT_BEFORE, TIMEOUT_AFTER, TIMEOUT_AFTER, None):
        machine.cancel(payment, fault)
        machine.the_shop_has_the_status_of_the_table()
    assert payment.shop == "CANCELLED"


@pytest.mark.parametrize("card", AFTER_TAP)
def test_each_card_of_the_model_does_what_it_says(processor: FakeProcessor, shop: Shop, card: str) -> None:
    context = WorkContext(shop.author.clock, transaction)
    intent = create_payment(context, processor, shop.cashier, PaymentRequest(1_250)).intent
    assert processor.tap(intent.id, card).status.value == AFTER_TAP[card]
