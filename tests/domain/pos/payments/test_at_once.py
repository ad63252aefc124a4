"""Requests that come at once charge nobody twice, on every database."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from flask import Flask
from sqlalchemy import func

from app.domain.orders.models import Order
from app.domain.pos.journal import verify
from app.domain.pos.journal_models import PosJournalEntry
from app.domain.pos.models import PosAgent, PosIdempotencyKey, PosTransaction
from app.domain.pos.payments import settlement
from app.domain.pos.payments.cash import CashRequest, take_cash
from app.domain.pos.payments.creation import PaymentRequest, create_payment
from app.domain.shared.problems import DomainError
from app.domain.sites.models import Site
from app.domain.work.context import WorkContext
from app.extensions import db
from app.transaction import transaction
from tests.broken_transactions import noting
from tests.domain.pos.payments.conftest import Shop
from tests.factories import make_order, make_work_session
from tests.fakes.payment_processor import FakeProcessor

pytestmark = pytest.mark.concurrent

AT_ONCE = 50
PART, PARTS, AGENTS = 1_000, 3, 20
TOO_LATE = {"order_already_paid", "payment_in_progress", "amount_exceeds_due"}


def at_once(app: Flask, number: int, work: Callable[[int], str]) -> Counter[str]:
    """What each of so many threads answered: a result, or the code of an error."""

    def answer(index: int) -> str:
        with app.app_context():
            try:
                return work(index)
            except DomainError as error:
                return error.code

    db.session.remove()
    with ThreadPoolExecutor(20) as pool:
        return Counter(pool.map(answer, range(number)))


def test_of_requests_under_one_key_one_creates(app: Flask, shop: Shop, processor: FakeProcessor) -> None:
    context, cashier = WorkContext(shop.author.clock, transaction), shop.cashier

    def create(_index: int) -> str:
        return create_payment(context, processor, cashier, PaymentRequest(1_250, key="tap")).intent.id

    answers = at_once(app, AT_ONCE, create)
    created = [intent.id for intent in processor.intents()]
    assert len(created) == processor.made("create_intent") == 1
    assert set(answers) <= {created[0], "idempotency_in_progress"}
    assert db.session.query(PosTransaction).count() == db.session.query(PosIdempotencyKey).count() == 1


def test_of_payments_of_one_order_one_is_begun(app: Flask, shop: Shop, processor: FakeProcessor) -> None:
    context, cashier = WorkContext(shop.author.clock, transaction), shop.cashier
    with transaction():
        db.session.get_one(Order, shop.order_id).status = "SUBMITTED"

    def create(index: int) -> str:
        request = PaymentRequest(None, currency=None, order_id=shop.order_id, key=f"tap {index}")
        create_payment(context, processor, cashier, request)
        return "created"

    assert at_once(app, 12, create) == {"created": 1, "payment_in_progress": 11}
    assert len(processor.intents()) == 1


@pytest.mark.parametrize("rounds", [4, pytest.param(100, marks=pytest.mark.torture)])
def test_agents_who_pay_the_last_parts_of_an_order_at_once_never_take_too_much(
    app: Flask, shop: Shop, processor: FakeProcessor, rounds: int
) -> None:
    """By card and in cash. Nobody waits in a circle, either."""
    broken: list[str] = []
    context, cashier = WorkContext(shop.author.clock, noting(broken)), replace(shop.cashier, session_id=_session(shop))
    for number in range(rounds):
        order_id = _order(shop, PARTS * PART)

        def pay(index: int, number: int = number, order_id: str = order_id) -> str:
            key = f"{number} {index}"
            if index % 2:
                return take_cash(context, cashier, CashRequest(PART, order_id=order_id, key=key)).payment.status
            request = PaymentRequest(PART, takes_part=True, order_id=order_id, key=key)
            intent_id = create_payment(context, processor, cashier, request).intent.id
            processor.tap(intent_id)
            return settlement.capture(context, processor, cashier, intent_id).payment.status

        answers = at_once(app, AGENTS, pay)
        assert answers["SUCCEEDED"] == PARTS and set(answers) <= {"SUCCEEDED", *TOO_LATE}
        order = db.session.get_one(Order, order_id)
        assert (order.paid_amount, order.reserved_amount, order.paid_at is not None) == (PARTS * PART, 0, True)
    assert [error for error in broken if "deadlock" in error] == []
    assert db.session.query(PosTransaction).filter(PosTransaction.anomaly.is_not(None)).count() == 0
    written = db.session.query(func.count(), func.sum(PosJournalEntry.amount)).one()
    assert tuple(written) == (rounds * PARTS, rounds * PARTS * PART) and verify(shop.author.site_id).is_whole


def _session(shop: Shop) -> str:
    with transaction():
        return make_work_session(db.session.get_one(PosAgent, shop.agent_id)).id


def _order(shop: Shop, total: int) -> str:
    with transaction():
        return make_order(db.session.get_one(Site, shop.author.site_id), total=total).id


def test_captures_and_cancellations_end_as_the_processor_has_it(
    app: Flask, shop: Shop, processor: FakeProcessor
) -> None:
    context, cashier = WorkContext(shop.author.clock, transaction), shop.cashier
    for card in ("4242", "stuck_capture", None) * 3:
        intent_id = create_payment(context, processor, cashier, PaymentRequest(1_250)).intent.id

        def settle(index: int, intent_id: str = intent_id, card: str | None = card) -> str:
            if index == 0 and card:
                processor.tap(intent_id, card)
            elif index % 2:
                return settlement.capture(context, processor, cashier, intent_id).payment.status
            return settlement.cancel(context, processor, cashier, intent_id, None).payment.status

        at_once(app, 6, settle)
        settlement.read_payment(context, processor, cashier, intent_id)
        paid = next(intent for intent in processor.intents() if intent.id == intent_id)
        stored = db.session.query(PosTransaction).filter_by(processor_intent_id=intent_id).one()
        assert {"succeeded": "SUCCEEDED", "canceled": "CANCELLED"}[paid.status.value] == stored.status
        assert stored.captured_amount == paid.amount_received


def test_the_shops_ledger_is_the_processors(app: Flask, shop: Shop, processor: FakeProcessor) -> None:
    context, cashier = WorkContext(shop.author.clock, transaction), shop.cashier

    def sell(index: int) -> str:
        created = create_payment(context, processor, cashier, PaymentRequest(1_000 + index, key=str(index)))
        processor.tap(created.intent.id)
        return settlement.capture(context, processor, cashier, created.intent.id).payment.status

    assert at_once(app, 20, sell) == {"SUCCEEDED": 20}
    kept = db.session.query(PosTransaction.id, PosTransaction.captured_amount).all()
    assert processor.ledger() == dict(map(tuple, kept))


def test_nothing_of_the_database_is_held_while_the_processor_is_called(
    app: Flask, shop: Shop, processor: FakeProcessor
) -> None:
    context, cashier, held = WorkContext(shop.author.clock, transaction), shop.cashier, []
    processor.before_call = lambda call: held.append((call.operation, db.session().in_transaction()))
    created = create_payment(context, processor, cashier, PaymentRequest(1_250, key="k"))
    create_payment(context, processor, cashier, PaymentRequest(1_250, key="k"))
    settlement.read_payment(context, processor, cashier, created.intent.id)
    processor.tap(created.intent.id, "stuck_capture")
    settlement.capture(context, processor, cashier, created.intent.id)
    given_up = create_payment(context, processor, cashier, PaymentRequest(99))
    settlement.cancel(context, processor, cashier, given_up.intent.id, None)
    assert {operation for operation, _ in held} == {
        "create_intent", "retrieve_intent", "capture_intent", "cancel_intent",
    }  # fmt: skip
    assert not any(in_transaction for _, in_transaction in held)
