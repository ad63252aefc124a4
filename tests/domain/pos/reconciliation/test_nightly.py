"""Each night the payments of the day are compared with the processor's."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import date, timedelta

import pytest
from flask import Flask
from sqlalchemy import select
from sqlalchemy.exc import OperationalError

from app.domain.alerts.alerts import open_alerts
from app.domain.orders.models import Order
from app.domain.orders.payment import lock_order
from app.domain.pos import journal, ledger
from app.domain.pos.journal import EntryType, MoneyEvent
from app.domain.pos.models import LedgerDifference, PosReconciliation, PosTransaction
from app.domain.pos.processor import AccountRef, IntentRequest, OutcomeUnknown
from app.domain.pos.reconciliation import nightly
from app.domain.shared.problems import NotFound
from app.domain.sites.models import Site
from app.domain.work import leases
from app.extensions import db
from app.transaction import transaction
from tests.domain.pos.shop_with_till import ShopWithTill, stored
from tests.factories import make_order
from tests.factories import make_order
from tests.factories import make_order
from tests.factories import make_order
from tests.fakes.payment_processor import TIMEOUT_BEFORE
from tests.purging import purged
from tests.waiting import wait_until_one_waits


def compare(till: ShopWithTill, day: date | None = None) -> PosReconciliation:
    """The day of the test, on the morning after."""
    db.session.rollback()
    with transaction():
        run_id = nightly.request(till.author, day).id
    nightly.reconcile(till.context, till.processor, run_id)
    db.session.rollback()
    return db.session.get_one(PosReconciliation, run_id)


def found(till: ShopWithTill) -> list[tuple[str, str, str]]:
    db.session.rollback()
    return [(one.kind, one.ours, one.theirs) for one in ledger.unsettled_differences(till.site_id)]


@pytest.fixture
def paid(till: ShopWithTill) -> str:
    """Yesterday."""
    payment = till.payment()
    till.tap(payment)
    till.check()
    till.clock.move(days=1)
    return payment


def change(payment: str, **values: object) -> None:
    with transaction():
        db.session.query(PosTransaction).filter_by(id=payment).update(values)


def test_books_that_agree_are_said_to(till: ShopWithTill, paid: str) -> None:
    run = compare(till)
    assert (run.state, run.done, run.differences, run.foreign, run.day) == ("done", 1, 0, 0, date(2026, 11, 20))
    assert found(till) == [] and list(open_alerts(till.site_id)) == []


def test_a_payment_at_midnight_is_found_though_the_processors_clock_is_behind(till: ShopWithTill) -> None:
    till.clock.move(hours=11, minutes=59, seconds=58)  # Two seconds before midnight.
    payment = till.payment(created_at=till.clock.now() + timedelta(seconds=3))
    till.clock.move(seconds=10)
    till.tap(payment)
    till.check()
    till.clock.move(days=1)
    assert (stored(payment).status, compare(till).day) == ("SUCCEEDED", stored(payment).created_at.date())
    assert found(till) == []


@pytest.mark.parametrize(
    ("values", "difference"),
    [
        ({"amount_in_pence": 999}, ("amount", "£9.99", "£12.50")),
        ({"currency": "eur"}, ("currency", "EUR", "GBP")),
    ],
)
def test_other_money_is_a_difference_that_stays_until_an_admin_settles_it(
    till: ShopWithTill, paid: str, values: dict[str, object], difference: tuple[str, str, str]
) -> None:
    change(paid, **values)
    for _ in range(2):
        assert compare(till).differences == 1
        assert found(till) == [difference]
    assert "payment_mismatch" in [alert.cause for alert in open_alerts(till.site_id)]
    with transaction():
        ledger.settle_difference(till.author, ledger.unsettled_differences(till.site_id)[0].id)
    assert found(till) == [] and ledger.count_unsettled(till.site_id) == 0
    assert "payment_mismatch" not in [alert.cause for alert in open_alerts(till.site_id)]


@pytest.mark.concurrent
def test_a_difference_that_two_admins_settle_at_the_same_moment_keeps_the_first_name(
    app: Flask, till: ShopWithTill, paid: str
) -> None:
    change(paid, currency="eur")
    compare(till)
    difference_id = ledger.unsettled_differences(till.site_id)[0].id

    def settle_too() -> None:
        with app.app_context(), transaction():
            ledger.settle_difference(replace(till.author, name="The second"), difference_id)
            done.append(True)

    done: list[bool] = []
    second = threading.Thread(target=settle_too)
    with transaction():
        ledger.settle_difference(replace(till.author, name="The first"), difference_id)
        second.start()
        wait_until_one_waits()
    second.join()
    db.session.rollback()
    assert done == [True] and db.session.get_one(LedgerDifference, difference_id).settled_by == "The first"


def test_a_difference_that_is_gone_settles_itself(till: ShopWithTill, paid: str) -> None:
    change(paid, currency="eur")
    compare(till)
    change(paid, currency="gbp")
    compare(till)
    assert found(till) == []
    assert "payment_mismatch" not in [alert.cause for alert in open_alerts(till.site_id)]


def test_a_status_that_the_processor_knows_better_is_taken_over(till: ShopWithTill, paid: str) -> None:
    change(paid, status="CANCELLED", captured_amount=0, captured_at=None)
    assert compare(till).differences == 1
    assert (stored(paid).status, stored(paid).anomaly) == ("SUCCEEDED", "unexpected_payment")
    assert found(till) == [], "the anomaly is what a person must see to"
    (kept,) = db.session.scalars(select(LedgerDifference))
    assert (kept.kind, kept.ours, kept.theirs, kept.corrected) == ("status", "CANCELLED", "SUCCEEDED", True)


@pytest.mark.concurrent
def test_a_till_that_pays_an_order_meanwhile_waits_for_no_payment_that_is_corrected_before_it(
    app: Flask, till: ShopWithTill
) -> None:
    """Each payment is corrected in a transaction of its own, since the journal is locked until its end."""
    _, at_the_till = orders = [_paid_unnoticed(till), _paid_unnoticed(till)]
    till.clock.move(days=1)
    broken: list[OperationalError] = []
    night = threading.Thread(target=_compare_beside, args=(app, noting_breaks(till, broken)))
    with transaction():
        lock_order(at_the_till)
        night.start()
        wait_until_one_waits()
        journal.append(till.clock, till.site_id, MoneyEvent(EntryType.PAY_IN, till.clock.now(), amount=500))
    night.join()
    db.session.rollback()
    assert broken == [] and journal.verify(till.site_id).is_whole
    assert [db.session.get_one(Order, order_id).paid_amount for order_id in orders] == [1_250, 1_250]


def _paid_unnoticed(till: ShopWithTill) -> str:
    """An order for which a card paid; the shop has not heard of it."""
    with transaction():
        order_id = make_order(db.session.get_one(Site, till.site_id), total=1_250).id
    till.tap(till.payment(order_id=order_id, type="ORDER_PAYMENT", next_check_at=None))
    return order_id


def noting_breaks(till: ShopWithTill, broken: list[OperationalError]) -> ShopWithTill:
    """The till, which notes the transactions that the database broke off: they would be tried again in silence."""

    @contextmanager
    def noting() -> Iterator[None]:
        try:
            with transaction():
                yield
        except OperationalError as error:
            broken.append(error)
            raise

    return replace(till, context=replace(till.context, transaction=noting))


def _compare_beside(app: Flask, till: ShopWithTill) -> None:
    with app.app_context():
        compare(till)
        db.session.remove()


@pytest.mark.concurrent
def test_a_till_that_pays_an_order_meanwhile_waits_for_no_payment_that_is_corrected_before_it(
    app: Flask, till: ShopWithTill
) -> None:
    """Each payment is corrected in a transaction of its own, since the journal is locked until its end."""
    _, at_the_till = orders = [_paid_unnoticed(till), _paid_unnoticed(till)]
    till.clock.move(days=1)
    broken: list[OperationalError] = []
    night = threading.Thread(target=_compare_beside, args=(app, noting_breaks(till, broken)))
    with transaction():
        lock_order(at_the_till)
        night.start()
        wait_until_one_waits()
        journal.append(till.clock, till.site_id, MoneyEvent(EntryType.PAY_IN, till.clock.now(), amount=500))
    night.join()
    db.session.rollback()
    assert broken == [] and journal.verify(till.site_id).is_whole
    assert [db.session.get_one(Order, order_id).paid_amount for order_id in orders] == [1_250, 1_250]


def _paid_unnoticed(till: ShopWithTill) -> str:
    """An order for which a card paid; the shop has not heard of it."""
    with transaction():
        order_id = make_order(db.session.get_one(Site, till.site_id), total=1_250).id
    till.tap(till.payment(order_id=order_id, type="ORDER_PAYMENT", next_check_at=None))
    return order_id


def noting_breaks(till: ShopWithTill, broken: list[OperationalError]) -> ShopWithTill:
    """The till, which notes the transactions that the database broke off: they would be tried again in silence."""

    @contextmanager
    def noting() -> Iterator[None]:
        try:
            with transaction():
                yield
        except OperationalError as error:
            broken.append(error)
            raise

    return replace(till, context=replace(till.context, transaction=noting))


def _compare_beside(app: Flask, till: ShopWithTill) -> None:
    with app.app_context():
        compare(till)
        db.session.remove()


@pytest.mark.concurrent
def test_a_till_that_pays_an_order_meanwhile_waits_for_no_payment_that_is_corrected_before_it(
    app: Flask, till: ShopWithTill
) -> None:
    """Each payment is corrected in a transaction of its own, since the journal is locked until its end."""
    _, at_the_till = orders = [_paid_unnoticed(till), _paid_unnoticed(till)]
    till.clock.move(days=1)
    broken: list[OperationalError] = []
    night = threading.Thread(target=_compare_beside, args=(app, noting_breaks(till, broken)))
    with transaction():
        lock_order(at_the_till)
        night.start()
        wait_until_one_waits()
        journal.append(till.clock, till.site_id, MoneyEvent(EntryType.PAY_IN, till.clock.now(), amount=500))
    night.join()
    db.session.rollback()
    assert broken == [] and journal.verify(till.site_id).is_whole
    assert [db.session.get_one(Order, order_id).paid_amount for order_id in orders] == [1_250, 1_250]


def _paid_unnoticed(till: ShopWithTill) -> str:
    """An order for which a card paid; the shop has not heard of it."""
    with transaction():
        order_id = make_order(db.session.get_one(Site, till.site_id), total=1_250).id
    till.tap(till.payment(order_id=order_id, type="ORDER_PAYMENT", next_check_at=None))
    return order_id


def noting_breaks(till: ShopWithTill, broken: list[OperationalError]) -> ShopWithTill:
    """The till, which notes the transactions that the database broke off: they would be tried again in silence."""

    @contextmanager
    def noting() -> Iterator[None]:
        try:
            with transaction():
                yield
        except OperationalError as error:
            broken.append(error)
            raise

    return replace(till, context=replace(till.context, transaction=noting))


def _compare_beside(app: Flask, till: ShopWithTill) -> None:
    with app.app_context():
        compare(till)
        db.session.remove()


@pytest.mark.concurrent
def test_a_till_that_pays_an_order_meanwhile_waits_for_no_payment_that_is_corrected_before_it(
    app: Flask, till: ShopWithTill
) -> None:
    """Each payment is corrected in a transaction of its own, since the journal is locked until its end."""
    _, at_the_till = orders = [_paid_unnoticed(till), _paid_unnoticed(till)]
    till.clock.move(days=1)
    broken: list[OperationalError] = []
    night = threading.Thread(target=_compare_beside, args=(app, noting_breaks(till, broken)))
    with transaction():
        lock_order(at_the_till)
        night.start()
        wait_until_one_waits()
        journal.append(till.clock, till.site_id, MoneyEvent(EntryType.PAY_IN, till.clock.now(), amount=500))
    night.join()
    db.session.rollback()
    assert broken == [] and journal.verify(till.site_id).is_whole
    assert [db.session.get_one(Order, order_id).paid_amount for order_id in orders] == [1_250, 1_250]


def _paid_unnoticed(till: ShopWithTill) -> str:
    """An order for which a card paid; the shop has not heard of it."""
    with transaction():
        order_id = make_order(db.session.get_one(Site, till.site_id), total=1_250).id
    till.tap(till.payment(order_id=order_id, type="ORDER_PAYMENT", next_check_at=None))
    return order_id


def noting_breaks(till: ShopWithTill, broken: list[OperationalError]) -> ShopWithTill:
    """The till, which notes the transactions that the database broke off: they would be tried again in silence."""

    @contextmanager
    def noting() -> Iterator[None]:
        try:
            with transaction():
                yield
        except OperationalError as error:
            broken.append(error)
            raise

    return replace(till, context=replace(till.context, transaction=noting))


def _compare_beside(app: Flask, till: ShopWithTill) -> None:
    with app.app_context():
        compare(till)
        db.session.remove()


def test_a_payment_that_was_cancelled_there_and_paid_here_is_a_difference(till: ShopWithTill, paid: str) -> None:
    (intent,) = till.processor.accounts[""].intents.values()
    intent |= {"status": "canceled", "amount_received": 0}
    compare(till)
    assert found(till) == [("status", "SUCCEEDED", "CANCELLED")] and stored(paid).status == "SUCCEEDED"


def test_refunds_of_which_no_event_came_are_taken_over(till: ShopWithTill, paid: str) -> None:
    till.processor.refund(till.ref, till.intent_of(paid), 300, "by hand")
    compare(till)
    assert (stored(paid).status, stored(paid).refunded_amount) == ("PARTIALLY_REFUNDED", 300)
    assert found(till) == []


def test_a_payment_that_the_shop_has_no_record_of_is_a_difference(till: ShopWithTill, paid: str) -> None:
    """As after a restored backup."""
    with transaction():
        db.session.query(LedgerDifference).delete()
    ours, unpaid = _unrecorded(till, str(till.site_id)), _unrecorded(till, str(till.site_id))
    till.processor.tap(ours)
    till.clock.move(days=1)
    run = compare(till)
    assert (run.done, run.differences) == (2, 1)
    assert found(till) == [("missing_row", "", "£12.50, succeeded")]
    assert ledger.unsettled_differences(till.site_id)[0].intent_id == ours != unpaid


def test_what_other_programs_and_sites_take_on_the_same_account_is_counted_alone(till: ShopWithTill, paid: str) -> None:
    for site in ("", "77"):
        till.processor.tap(_unrecorded(till, site))
    till.clock.move(days=1)
    run = compare(till)
    assert (run.differences, run.foreign, found(till)) == (0, 2, [])


def _unrecorded(till: ShopWithTill, site: str) -> str:
    metadata = {"siteId": site, "transactionId": f"gone-{site}"} if site else {}
    return till.processor.create_intent(AccountRef(), IntentRequest(1_250, "gbp", metadata=metadata), "").id


def test_a_payment_that_the_processor_does_not_have_is_a_difference(till: ShopWithTill, paid: str) -> None:
    del till.processor.accounts[""].intents[till.intent_of(paid)]
    compare(till)
    assert found(till) == [("missing_intent", "£12.50, succeeded", "")]


def test_each_account_of_the_site_is_compared_by_itself(till: ShopWithTill) -> None:
    for account in ("acct_a", "acct_b"):
        till.tap(till.payment(account=account), account=account)
    till.check()
    till.clock.move(days=1)
    assert compare(till).done == 2
    listed = [call.account_id for call in till.processor.calls if call.operation == "list_intents"]
    assert listed == ["acct_a", "acct_b"]


def test_the_day_is_that_of_the_site(till: ShopWithTill) -> None:
    with transaction():
        db.session.get_one(Site, till.site_id).time_zone = "Pacific/Auckland"  # 13 hours ahead.
    till.payment()  # On the 21st there.
    till.clock.move(days=1)
    run = compare(till)
    assert (run.day, run.done) == (date(2026, 11, 21), 1)
    assert compare(till, date(2026, 11, 19)).done == 0


def test_a_run_that_cannot_read_the_processor_says_so(till: ShopWithTill, paid: str) -> None:
    till.processor.fail("list_intents", TIMEOUT_BEFORE)
    run = compare(till)
    assert (run.state, run.error) == ("failed", OutcomeUnknown("The payment processor did not answer.").message)
    assert compare(till).state == "done"


def test_an_account_that_cannot_be_read_holds_up_no_other_and_is_named(till: ShopWithTill) -> None:
    for account in ("acct_a", "acct_b"):
        till.tap(till.payment(account=account), account=account)
    till.check()
    till.clock.move(days=1)
    till.processor.fail("list_intents", TIMEOUT_BEFORE)
    run = compare(till)
    assert (run.state, run.done) == ("failed", 1)
    assert run.error == "acct_a: The payment processor did not answer."


def test_an_account_that_the_site_left_is_compared_no_more(till: ShopWithTill, paid: str) -> None:
    till.payment(account="acct_left", created_at=till.clock.now() - timedelta(days=30), next_check_at=None)
    compare(till)
    assert [call.account_id for call in till.processor.calls if call.operation == "list_intents"] == [""]


def test_payments_of_the_processor_before_are_not_looked_for_at_this_one(till: ShopWithTill, paid: str) -> None:
    before = till.record("SUCCEEDED", "before", "pi_before", next_check_at=None)
    change(before, processor="simulator", created_at=till.clock.now() - timedelta(days=1))
    assert compare(till).differences == 0


def test_differences_of_other_sites_are_not_found(till: ShopWithTill) -> None:
    with pytest.raises(NotFound), transaction():
        ledger.settle_difference(till.author, 1)


def test_reports_are_kept_for_a_year_and_a_month(till: ShopWithTill, paid: str) -> None:
    compare(till)
    kept = leases.retention(nightly.RECONCILIATION, "reconciliations of payments")
    till.clock.move(days=400)
    assert purged(till.clock, kept) == 0
    till.clock.move(seconds=1)
    assert purged(till.clock, kept) == 1
