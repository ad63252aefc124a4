from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from flask import Flask

from app.domain.orders.models import Order
from app.domain.pos.models import PosTransaction, PosTransactionEvent
from app.domain.pos.payments import transitions
from app.domain.pos.processor import CardDetails, Intent, PaymentError
from app.domain.pos.states import OTHER_AMOUNT, PAID_TWICE, SECOND_INTENT, UNEXPECTED_PAYMENT
from app.domain.shared.author import Author
from app.domain.shared.problems import NotFound
from app.extensions import db
from app.transaction import transaction
from tests.domain.pos.payments.conftest import Payment, Shop, intent, stored

CARD = CardDetails("visa", "4242", "credit", "contactless_emv", "apple_pay", {"authorizationCode": "A1"})


def read(shop: Shop, transaction_id: str, found: Intent, action: str = "capture", **more: bool) -> PosTransaction:
    with transaction():
        transitions.apply_intent(shop.author, transaction_id, found, action, **more)
    return stored(transaction_id)


def timeline(transaction_id: str) -> list[tuple[str, str, str]]:
    rows = db.session.query(PosTransactionEvent).filter_by(transaction_id=transaction_id).order_by("id")
    return [(row.actor, row.action, row.status) for row in rows]


def test_money_that_came_in_is_noted_with_the_card_that_paid(shop: Shop, payment: Payment) -> None:
    paid = read(shop, payment(), intent("succeeded", card=CARD, charge_id="ch_1"))
    assert (paid.status, paid.captured_amount, paid.captured_at) == ("SUCCEEDED", 1_250, shop.author.now())
    assert (paid.card_brand, paid.card_last4, paid.funding, paid.wallet) == ("visa", "4242", "credit", "apple_pay")
    assert (paid.read_method, paid.emv, paid.processor_charge_id) == (
        "contactless_emv", {"authorizationCode": "A1"}, "ch_1",
    )  # fmt: skip
    assert (paid.version, paid.next_check_at) == (2, None)
    assert timeline(paid.id) == [("Tilly Till", "capture", "SUCCEEDED")]


def test_what_was_known_already_changes_nothing(shop: Shop, payment: Payment) -> None:
    number = payment()
    read(shop, number, intent("succeeded", card=CARD))
    assert read(shop, number, intent("succeeded", card=CARD)).version == 2
    assert len(timeline(number)) == 1


@pytest.mark.parametrize("late", ("processing", "requires_payment_method", "requires_capture", "canceled"))
def test_no_late_reading_takes_money_away(shop: Shop, payment: Payment, late: str) -> None:
    assert read(shop, payment("SUCCEEDED"), intent(late)).status == "SUCCEEDED"


@pytest.mark.parametrize("given_up", ("CANCELLED", "FAILED"))
def test_money_that_comes_after_a_payment_was_given_up_wins_and_is_an_anomaly(
    shop: Shop, payment: Payment, given_up: str
) -> None:
    paid = read(shop, payment(given_up), intent("succeeded"))
    assert (paid.status, paid.anomaly) == ("SUCCEEDED", UNEXPECTED_PAYMENT)


def test_another_amount_than_the_shops_is_an_anomaly(shop: Shop, payment: Payment) -> None:
    assert read(shop, payment(), intent("succeeded", amount_received=900)).anomaly == OTHER_AMOUNT


def test_a_second_intent_of_a_transaction_is_an_anomaly_and_changes_no_status(shop: Shop, payment: Payment) -> None:
    known = read(shop, payment(), intent("succeeded", "pi_2"))
    assert (known.status, known.anomaly, known.processor_intent_id) == ("PENDING", SECOND_INTENT, "pi_1")


def test_every_decline_counts_once(shop: Shop, payment: Payment) -> None:
    number, error = payment(), PaymentError("card_declined", "insufficient_funds")
    first, second = (intent(last_error=error, charge_id=charge) for charge in ("ch_1", "ch_2"))
    assert [read(shop, number, found).attempts for found in (first, first, second, second)] == [1, 1, 2, 2]
    assert (stored(number).last_error_code, stored(number).decline_code) == ("card_declined", "insufficient_funds")


def test_an_intent_found_later_is_attached(shop: Shop, payment: Payment) -> None:
    known = read(shop, payment("UNKNOWN", processor_intent_id=None), intent("requires_payment_method", "pi_9"))
    assert (known.status, known.processor_intent_id) == ("PENDING", "pi_9")


def test_a_creation_that_failed_after_its_intent_was_known_stays(shop: Shop, payment: Payment) -> None:
    number = payment("CREATING", processor_intent_id=None)
    read(shop, number, intent())
    with transaction():
        transitions.mark_creation_failed(shop.author, number, "rejected")
        transitions.mark_creation_unknown(shop.author, number)
    assert stored(number).status == "PENDING"


@pytest.mark.parametrize(("status", "after"), (("PENDING", "UNKNOWN"), ("SUCCEEDED", "SUCCEEDED")))
def test_an_answer_that_got_lost_makes_only_an_open_payment_unknown(
    shop: Shop, payment: Payment, status: str, after: str
) -> None:
    number = payment(status)
    with transaction():
        transitions.mark_outcome_unknown(shop.author, number, "cancel")
    assert stored(number).status == after


def test_a_refund_never_falls_by_an_intent_that_was_read_before_it(shop: Shop, payment: Payment) -> None:
    number = payment("SUCCEEDED")
    with transaction():
        transitions.apply_refunds(shop.author, number, 250, "refund")
    assert stored(number).status == "PARTIALLY_REFUNDED"
    assert read(shop, number, intent("succeeded")).refunded_amount == 250
    assert read(shop, number, intent("succeeded", refunded=1_250)).status == "REFUNDED"
    with transaction():
        transitions.apply_refunds(shop.author, number, 0, "refund_failed")
    assert stored(number).status == "SUCCEEDED"


def test_reconciliation_looks_ever_less_often_until_something_changes(shop: Shop, payment: Payment) -> None:
    number, waits = payment("PROCESSING"), []
    for _ in range(7):
        read(shop, number, intent("processing"), "reconcile", checked=True)
        waits.append(stored(number).next_check_at - shop.author.now())
    assert [wait.total_seconds() for wait in waits] == [15, 60, 300, 900, 3600, 3600, 3600]
    assert stored(number).checks == 7
    read(shop, number, intent("requires_capture"), "reconcile", checked=True)
    assert stored(number).next_check_at == shop.author.now() + timedelta(seconds=5)


def test_a_payment_without_a_card_is_looked_at_when_it_counts_as_abandoned(shop: Shop, payment: Payment) -> None:
    number = payment(created_at=shop.author.now() - timedelta(minutes=29, seconds=50), checks=4)
    read(shop, number, intent(), "reconcile", checked=True)
    assert stored(number).next_check_at == shop.author.now() + timedelta(seconds=10)


def test_an_order_is_paid_once(shop: Shop, payment: Payment) -> None:
    number = payment(type="ORDER_PAYMENT", order_id=shop.order_id, id="of-order")
    for _ in range(2):
        read(shop, number, intent("succeeded"))
    order = db.session.get(Order, shop.order_id)
    assert (order.paid_amount, order.paid_at) == (1_250, shop.author.now())


def test_a_second_payment_of_an_order_is_an_anomaly(shop: Shop, payment: Payment) -> None:
    for number in ("first", "second"):
        given_up = payment(
            "CANCELLED", type="ORDER_PAYMENT", order_id=shop.order_id, id=number, processor_intent_id=number
        )
        read(shop, given_up, intent("succeeded", number))
    assert (stored("first").anomaly, stored("second").anomaly) == (UNEXPECTED_PAYMENT, PAID_TWICE)
    third = payment(type="ORDER_PAYMENT", order_id=shop.order_id, id="third")
    assert read(shop, third, intent("succeeded")).anomaly == PAID_TWICE
    assert db.session.get(Order, shop.order_id).paid_amount == 1_250
    assert [stored(number).is_surplus for number in ("first", "second", "third")] == [False, True, True]


def test_a_cancelled_payment_unlocks_its_order(shop: Shop, payment: Payment) -> None:
    number = payment(type="ORDER_PAYMENT", order_id=shop.order_id, id="of-order")
    with transaction():
        db.session.get(Order, shop.order_id).reserved_amount = 1_250
    assert read(shop, number, intent("canceled")).cancelled_at == shop.author.now()
    order = db.session.get(Order, shop.order_id)
    assert (order.paid_amount, order.is_locked) == (0, False)


def test_another_shops_payment_is_not_found(shop: Shop, payment: Payment) -> None:
    number = payment()
    with pytest.raises(NotFound), transaction():
        transitions.apply_intent(Author(shop.author.site_id + 1, "X", shop.author.clock), number, intent(), "capture")


@pytest.mark.concurrent
def test_of_readings_at_once_each_is_applied_and_the_order_paid_once(app: Flask, shop: Shop, payment: Payment) -> None:
    number = payment(type="ORDER_PAYMENT", order_id=shop.order_id, id="of-order")
    db.session.remove()

    def apply(_number: int) -> None:
        with app.app_context():
            read(shop, number, intent("succeeded"))

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(apply, range(6)))
    assert stored(number).version == 2
    assert db.session.get(Order, shop.order_id).paid_amount == 1_250
    assert len(timeline(number)) == 1
