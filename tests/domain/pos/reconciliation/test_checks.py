"""What is open is looked at each minute until the shop knows how it ended."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import timedelta

import pytest
from flask import Flask
from sqlalchemy import select

from app.domain.alerts.alerts import open_alerts
from app.domain.orders.models import Order
from app.domain.pos.ledger import count_unsettled
from app.domain.pos.models import PaymentCheckRun, PosRefund, PosTransaction, StoredProcessorEvent
from app.domain.pos.processor import AccountRef, IntentRequest
from app.domain.pos.reconciliation import checks
from app.domain.pos.refunds import RefundRequest, request_refund
from app.domain.sites.models import Site
from app.extensions import db
from app.operations.work_context import work_context
from app.transaction import transaction
from tests.domain.pos.shop_with_till import ShopWithTill, shop_with_till, stored
from tests.factories import make_order
from tests.fakes.clock import StoppedClock
from tests.fakes.payment_processor import (
    ERROR_500_BEFORE,
    MISCONFIGURED,
    TIMEOUT_AFTER,
    TIMEOUT_BEFORE,
    Call,
    FakeProcessor,
    Fault,
)
from tests.fakes.queue import RecordingQueue


def causes(till: ShopWithTill) -> list[str]:
    db.session.rollback()
    return [alert.cause for alert in open_alerts(till.site_id)]


def run(till: ShopWithTill) -> PaymentCheckRun:
    db.session.rollback()
    return db.session.get_one(PaymentCheckRun, till.site_id)


@pytest.mark.parametrize("status", ["PENDING", "PROCESSING", "AUTHORIZED", "UNKNOWN", "CREATING"])
def test_an_open_payment_that_the_processor_charged_succeeds(till: ShopWithTill, status: str) -> None:
    payment = till.payment(status)
    till.tap(payment)
    till.check()
    assert (stored(payment).status, stored(payment).next_check_at) == ("SUCCEEDED", None)
    assert (run(till).state, run(till).done, run(till).failed) == ("done", 1, 0)


def test_a_charge_whose_answer_was_lost_is_found_by_the_id_that_it_carries(till: ShopWithTill) -> None:
    """F36: within the minute, and no second one is made."""
    payment = till.payment("UNKNOWN", attached=False)
    till.tap(payment)
    till.check()
    assert (stored(payment).status, stored(payment).processor_intent_id) == ("SUCCEEDED", till.intent_of(payment))
    assert till.processor.made("create_intent") == 1


def test_one_that_nobody_finds_is_never_created_anew_and_fails_after_a_day(till: ShopWithTill) -> None:
    """F42: the processor has forgotten the key by then, so that repeating it would make a second one."""
    payment = till.record("UNKNOWN", "lost")
    till.processor.forget_keys()
    for hours, status in ((0, "UNKNOWN"), (12, "UNKNOWN"), (11, "UNKNOWN"), (1, "FAILED")):
        till.clock.move(hours=hours)
        till.check()
        assert stored(payment).status == status
    assert (stored(payment).last_error_code, till.processor.made("create_intent")) == ("not_found_at_processor", 0)


def test_one_that_shows_itself_after_it_was_given_up_counts_and_is_told(till: ShopWithTill) -> None:
    payment = till.record("UNKNOWN", "late")
    till.clock.move(hours=24)
    till.check()
    assert stored(payment).status == "FAILED"
    request = IntentRequest(1_250, "gbp", metadata={"transactionId": "late"})
    made = till.processor.create_intent(AccountRef(), request, "pos-create-late")
    till.processor.tap(made.id)
    till.event("payment_intent.succeeded", "late")
    assert (stored(payment).status, stored(payment).anomaly) == ("SUCCEEDED", "unexpected_payment")
    assert causes(till) == ["payment_anomaly"]


def test_the_looks_become_rarer(till: ShopWithTill) -> None:
    payment = till.payment()
    till.tap(payment, "slow")
    pauses = []
    for _ in range(7):
        till.check()
        due = stored(payment).next_check_at
        assert due is not None
        pauses.append((due - till.clock.now()).total_seconds())
        till.clock.move(seconds=pauses[-1])
    assert pauses[-5:] == [60, 300, 900, 3_600, 3_600]


def test_a_payment_without_a_card_is_cancelled_after_half_an_hour(till: ShopWithTill) -> None:
    payment = till.payment()
    till.clock.move(minutes=29)
    till.check()
    assert stored(payment).status == "PENDING"
    till.clock.move(minutes=1)
    till.check()
    assert stored(payment).status == "CANCELLED"
    assert till.processor.intents()[0].status == "canceled"


def test_a_tap_that_wins_against_the_abandonment_counts(till: ShopWithTill) -> None:
    payment = till.payment()
    till.clock.move(minutes=30)

    def tap_first(call: Call) -> None:
        if call.operation == "cancel_intent":
            till.tap(payment)

    till.processor.before_call = tap_first
    till.check()
    assert (stored(payment).status, stored(payment).anomaly) == ("SUCCEEDED", None)


def test_a_card_that_was_held_and_never_captured_is_a_matter_for_people(till: ShopWithTill) -> None:
    payment = till.payment()
    till.tap(payment, "stuck_capture")
    till.clock.move(minutes=30)
    till.check()
    assert stored(payment).status == "AUTHORIZED" and causes(till) == ["payment_anomaly"]


def test_an_abandoned_payment_unlocks_its_order(till: ShopWithTill) -> None:
    with transaction():
        order = make_order(db.session.get_one(Site, till.site_id), status="OPEN", number=None, total=1_250).id
    payment = till.payment(order_id=order, type="ORDER_PAYMENT")
    with transaction():
        db.session.get_one(Order, order).reserved_amount = 1_250
    till.clock.move(minutes=30)
    till.check()
    assert stored(payment).status == "CANCELLED"
    assert db.session.get_one(Order, order).reserved_amount == 0


def test_while_the_processor_is_away_a_run_ends_after_three_tries(till: ShopWithTill) -> None:
    payments = [till.payment() for _ in range(10)]
    till.processor.fault_of = lambda _call: TIMEOUT_BEFORE
    till.check()
    assert till.processor.made("retrieve_intent") == 3
    assert (run(till).state, run(till).failed) == ("failed", 3)
    del till.processor.fault_of
    till.processor.fault_of = lambda _call: None
    till.clock.move(minutes=1)
    till.check()
    assert {stored(payment).checks for payment in payments} <= {0, 1, 2} and run(till).state == "done"
    assert till.processor.made("retrieve_intent") == 13


def test_a_processor_that_refuses_the_shops_key_is_told_and_the_alert_ends_by_itself(till: ShopWithTill) -> None:
    till.payment()
    till.processor.fail("retrieve_intent", MISCONFIGURED)
    till.check()
    assert causes(till) == ["processor_misconfigured"]
    till.clock.move(minutes=1)
    till.check()
    assert causes(till) == []


def test_an_account_that_cannot_be_listed_holds_up_no_other(till: ShopWithTill) -> None:
    lost, known = till.payment("UNKNOWN", attached=False), till.payment()
    for payment in (lost, known):
        till.tap(payment)
    till.processor.fail("list_intents", TIMEOUT_BEFORE)
    till.check()
    assert (stored(lost).status, stored(known).status) == ("UNKNOWN", "SUCCEEDED")
    till.clock.move(minutes=1)
    till.check()
    assert stored(lost).status == "SUCCEEDED"


def test_a_payment_that_the_processor_does_not_have_is_a_difference(till: ShopWithTill) -> None:
    payment = till.record("PENDING", "ours", "pi_nowhere")
    till.check()
    assert stored(payment).status == "PENDING" and count_unsettled(till.site_id) == 1
    assert causes(till) == ["payment_mismatch"]


def test_every_call_is_made_on_the_account_of_its_payment(till: ShopWithTill) -> None:
    """T31: another account does not have the intent."""
    payments = {account: till.payment(account=account) for account in ("acct_a", "acct_b", "")}
    lost = till.payment("UNKNOWN", account="acct_a", attached=False)
    till.check()
    calls = {(call.operation, call.account_id) for call in till.processor.calls if "create" not in call.operation}
    assert calls == {("retrieve_intent", account) for account in payments} | {("list_intents", "acct_a")}
    assert stored(lost).processor_intent_id == till.intent_of(lost)


def test_sites_are_looked_at_apart(till: ShopWithTill, clock: StoppedClock, processor: FakeProcessor) -> None:
    other = shop_with_till(clock, processor, work_context(), "other.localhost")
    mine, theirs = till.payment(), other.payment()
    assert checks.sites_due(clock, processor) == [till.site_id, other.site_id]
    for payment in (mine, theirs):
        till.tap(payment)
    till.check()
    assert (stored(mine).status, stored(theirs).status) == ("SUCCEEDED", "PENDING")
    assert checks.sites_due(clock, processor) == [other.site_id]


def test_nothing_of_the_database_is_held_while_the_processor_is_waited_for(till: ShopWithTill, app: Flask) -> None:
    for attached in (True, False):
        till.tap(till.payment("UNKNOWN", attached=attached))
    held: list[bool] = []
    till.processor.before_call = lambda _call: held.append(db.session().in_transaction())
    till.check()
    assert held == [False, False]


@pytest.mark.concurrent
def test_two_that_look_at_once_settle_each_payment_once(till: ShopWithTill, app: Flask) -> None:
    payments = [till.payment() for _ in range(20)]
    for payment in payments:
        till.tap(payment)
    with transaction():
        checks.request(till.author)
    together = threading.Barrier(2)

    def look() -> None:
        with app.app_context():
            together.wait()
            checks.check(till.context, till.processor, till.site_id)
            db.session.remove()

    db.session.remove()
    threads = [threading.Thread(target=look) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert till.processor.made("retrieve_intent") == 20
    assert set(db.session.scalars(select(PosTransaction.status))) == {"SUCCEEDED"}


def test_people_need_not_wait_for_the_next_look(till: ShopWithTill) -> None:
    payment = till.payment(next_check_at=till.clock.now() + timedelta(hours=1))
    till.tap(payment)
    till.processor.fail("retrieve_intent", None, TIMEOUT_AFTER)
    with transaction():
        checks.bring_forward(till.author)
    till.check()
    assert stored(payment).status == "SUCCEEDED"


def test_what_a_run_has_no_time_for_is_due_at_once_and_requested_again(
    till: ShopWithTill, clock: StoppedClock, queue: RecordingQueue
) -> None:
    """A slow processor holds up no other site."""
    payments = [till.payment() for _ in range(5)]
    till.processor.before_call = lambda _call: clock.move(seconds=11)
    till.check()
    assert till.processor.made("retrieve_intent") == 2
    assert (run(till).state, queue.jobs[-1]) == ("waiting", ("pos:check_payments", (till.site_id,)))
    due = [payment for payment in payments if (stored(payment).next_check_at or clock.now()) <= clock.now()]
    assert len(due) >= 3


def only_of(account: str, fault: Fault) -> Callable[[Call], Fault | None]:
    """Each call for the account meets this fault, as when it was closed; what was created before is there."""
    return lambda call: fault if call.account_id == account and call.operation != "create_intent" else None


def waiting_events(till: ShopWithTill, count: int) -> None:
    """Of payments on an account that does not answer: what they said themselves may not be taken."""
    for _ in range(count):
        payment = till.payment("CANCELLED", account="acct_dead", next_check_at=None)
        assert till.event("payment_intent.canceled", payment, account_id="acct_dead") == "waiting"


@pytest.mark.parametrize("fault", [TIMEOUT_BEFORE, MISCONFIGURED], ids=["away", "refused"])
def test_events_that_cannot_be_read_hold_up_no_payment(till: ShopWithTill, fault: Fault) -> None:
    till.processor.fault_of = only_of("acct_dead", fault)
    waiting_events(till, 60)
    payment = till.payment()
    till.tap(payment)
    till.clock.move(minutes=1)
    till.check()
    assert stored(payment).status == "SUCCEEDED"
    assert (run(till).state, run(till).done) == ("failed", 1)


def test_events_of_other_accounts_are_followed_past_those_that_cannot_be_read(till: ShopWithTill) -> None:
    till.processor.fault_of = only_of("acct_dead", TIMEOUT_BEFORE)
    waiting_events(till, 60)
    payment = till.payment("CANCELLED", next_check_at=None)
    till.tap(payment)
    till.processor.fault_of = only_of("", TIMEOUT_BEFORE)
    till.event("payment_intent.succeeded", payment)
    till.processor.fault_of = only_of("acct_dead", TIMEOUT_BEFORE)
    till.clock.move(minutes=1)
    till.check()
    assert stored(payment).status == "SUCCEEDED"


def test_an_event_that_cannot_be_read_is_tried_ever_less_often(till: ShopWithTill) -> None:
    till.processor.fault_of = only_of("acct_dead", TIMEOUT_BEFORE)
    waiting_events(till, 1)
    before = till.processor.made("retrieve_intent")
    for _ in range(120):
        till.clock.move(minutes=1)
        till.check()
    assert till.processor.made("retrieve_intent") - before == 5


def test_an_event_of_a_payment_that_the_processor_does_not_have_ends(till: ShopWithTill) -> None:
    till.processor.fault_of = only_of("acct_dead", TIMEOUT_BEFORE)
    waiting_events(till, 1)
    till.processor.accounts["acct_dead"].intents.clear()
    till.processor.fault_of = lambda _call: None
    till.clock.move(minutes=1)
    till.check()
    assert list(db.session.scalars(select(StoredProcessorEvent.outcome))) == ["not_found"]


def test_payments_of_an_account_that_does_not_answer_hold_up_no_other(till: ShopWithTill) -> None:
    dead = [till.payment(account="acct_dead") for _ in range(60)]
    later = till.payment(next_check_at=till.clock.now() + timedelta(seconds=1))
    till.tap(later)
    till.clock.move(minutes=1)
    till.processor.fault_of = only_of("acct_dead", TIMEOUT_BEFORE)
    till.check()
    assert stored(later).status == "SUCCEEDED"
    assert (run(till).done, run(till).failed) == (1, 3) and stored(dead[-1]).status == "PENDING"


def test_the_alert_of_an_account_ends_when_that_account_answers(till: ShopWithTill) -> None:
    till.payment(account="acct_dead")
    till.processor.fault_of = only_of("acct_dead", MISCONFIGURED)
    till.check()
    till.clock.move(minutes=1)
    till.payment()
    till.processor.fault_of = only_of("", TIMEOUT_BEFORE)
    till.check()
    assert causes(till) == [], "the account answered"


def pending_refund(till: ShopWithTill, account: str) -> str:
    """Accepted, and not yet at the customer's bank."""
    payment = till.payment(account=account)
    till.tap(payment, account=account)
    till.clock.move(seconds=5)
    till.check()
    db.session.rollback()
    refund = request_refund(till.context, till.author, till.processor, RefundRequest(payment, None, "Broken")).id
    with transaction():
        db.session.get_one(PosRefund, refund).status = "PENDING"
        db.session.get_one(PosRefund, refund).next_check_at = till.clock.now()
    return refund


def stored_refund(refund_id: str) -> PosRefund:
    db.session.rollback()
    return db.session.get_one(PosRefund, refund_id)


def test_refunds_that_cannot_be_read_are_looked_at_ever_less_often_and_hold_up_no_other(till: ShopWithTill) -> None:
    dead = [pending_refund(till, "acct_dead") for _ in range(4)]
    alive = pending_refund(till, "")
    with transaction():  # Making one looks at those before it.
        for number, refund in enumerate((*dead, alive)):
            due = till.clock.now() - timedelta(seconds=9 - number)
            db.session.query(PosRefund).filter_by(id=refund).update({"status": "PENDING", "next_check_at": due})
    till.processor.fault_of = only_of("acct_dead", TIMEOUT_BEFORE)
    till.check()
    assert stored_refund(alive).status == "SUCCEEDED"
    before = till.processor.made("retrieve_refund")
    for _ in range(60):
        till.clock.move(minutes=1)
        till.check()
    assert till.processor.made("retrieve_refund") - before < 8 * len(dead)


def test_a_refund_that_cannot_be_read_for_a_week_is_a_matter_for_people(till: ShopWithTill) -> None:
    refund = pending_refund(till, "")
    till.processor.accounts[""].refunds.clear()
    till.check()
    assert stored_refund(refund).next_check_at == till.clock.now() + timedelta(seconds=5) and causes(till) == []
    till.clock.move(days=7)
    till.check()
    assert (stored_refund(refund).status, stored_refund(refund).next_check_at) == ("PENDING", None)
    assert causes(till) == ["refund_failed"]


def test_an_abandonment_that_failed_is_tried_again_under_another_key(till: ShopWithTill) -> None:
    """A processor repeats a fault of its own under the same key for a day."""
    payment = till.payment()
    till.clock.move(minutes=30)
    till.processor.fail("cancel_intent", ERROR_500_BEFORE)
    till.check()
    assert stored(payment).status == "PENDING"
    till.clock.move(minutes=1)
    till.check()
    assert stored(payment).status == "CANCELLED"
