"""Status changes of a transaction, which are made here only: by compare and set on its version, with an entry in the
timeline, the time of the next check, what follows for the order and the entry of the journal. Call these within a
database transaction; the processor's answer was read before it began."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select, update

from app.domain.alerts.alerts import end_alert, raise_alert
from app.domain.alerts.causes import Cause
from app.domain.orders.models import OPEN, Order
from app.domain.orders.payment import PaidSums, apply_payments, is_settled, lock_order, note_surplus
from app.domain.pos.journal import EntryType, MoneyEvent
from app.domain.pos.journal import append as append_to_journal
from app.domain.pos.models import PosRefund, PosTransaction, PosTransactionEvent
from app.domain.pos.processor import Intent
from app.domain.pos.rules import note_problems
from app.domain.pos.states import (
    CARD,
    CASH,
    DISPUTED,
    OPEN_STATUSES,
    PAID_STATUSES,
    PAID_TWICE,
    Outcome,
    TransactionStatus,
    describe_anomaly,
    next_check,
    outcome_of_dispute,
    outcome_of_failed_creation,
    outcome_of_intent,
    outcome_of_refunds,
    outcome_of_unanswered_call,
    outcome_of_unknown_creation,
)
from app.domain.shared.author import Author
from app.domain.shared.problems import Conflict, Invalid, NotFound
from app.domain.shared.records import existing, find_record
from app.domain.shared.text import one_line
from app.domain.sites import activity
from app.extensions import db

MOST_TRIES = 20
LONGEST_NOTE = 200
COUNTED = "It pays the basket now, since what had paid it before was given back"


def apply_intent(
    author: Author, transaction_id: str, intent: Intent, action: str, checked: bool = False
) -> PosTransaction:
    """Apply an intent that was just read, and return the transaction. `checked`: by a check, which schedules the next
    one also where nothing changed."""
    return _advance(
        author, transaction_id, lambda payment: outcome_of_intent(payment, intent, author.now()), action, checked
    )


def apply_refunds(
    author: Author, transaction_id: str, refunded: int, action: str, session_id: str | None = None
) -> PosTransaction:
    """Apply what was refunded to the card of a paid transaction in all; it is lower than before where a refund failed.
    `session_id` is the work session that made the latest refund."""
    return _advance(
        author, transaction_id, lambda payment: outcome_of_refunds(payment, refunded), action, session_id=session_id
    )


def mark_creation_failed(author: Author, transaction_id: str, code: str, action: str = "create") -> PosTransaction:
    """Apply a failed creation: the processor made no intent, and never will under this transaction's key."""
    return _advance(author, transaction_id, lambda payment: outcome_of_failed_creation(payment, code), action)


def mark_creation_unknown(author: Author, transaction_id: str, action: str = "create") -> PosTransaction:
    return _advance(author, transaction_id, outcome_of_unknown_creation, action)


def mark_outcome_unknown(author: Author, transaction_id: str, action: str) -> PosTransaction:
    """Note that a capture or cancellation got no conclusive answer."""
    return _advance(author, transaction_id, outcome_of_unanswered_call, action)


def mark_disputed(author: Author, transaction_id: str, action: str) -> PosTransaction:
    """Apply a dispute of the cardholder. The alert is raised also where the payment has another anomaly already: a
    dispute has a deadline."""
    payment = _advance(author, transaction_id, outcome_of_dispute, action)
    if payment.anomaly != DISPUTED:
        _raise_alert(author, payment, DISPUTED)
    return payment


def schedule_next_check(author: Author, transaction_id: str, action: str) -> PosTransaction:
    """Schedule the next check of a transaction whose intent could not be read."""
    return _advance(author, transaction_id, lambda _known: Outcome(), action, checked=True)


def _advance(
    author: Author,
    transaction_id: str,
    outcome_of: Callable[[PosTransaction], Outcome],
    action: str,
    checked: bool = False,
    session_id: str | None = None,
) -> PosTransaction:
    """Write the outcome of a transaction, with what follows from it. Raises NotFound, and Conflict where others keep
    changing the transaction."""
    query = select(PosTransaction).where(PosTransaction.site_id == author.site_id, PosTransaction.id == transaction_id)
    for _ in range(MOST_TRIES):
        payment = db.session.scalar(query.execution_options(populate_existing=True))
        if payment is None:
            raise NotFound("There is no such payment.", "transaction_not_found")
        before, anomaly_before, outcome = _MoneyState.of(payment), payment.anomaly, outcome_of(payment)
        if not outcome.values and not checked:
            return payment
        if _compare_and_set(author, payment, outcome, checked):
            if outcome.values:
                db.session.add(timeline_entry(author, payment, action, outcome.detail))
                _follow_money(author, payment, before, session_id)
                if payment.anomaly not in (None, anomaly_before):
                    _raise_alert(author, payment, payment.anomaly or "")
            return payment
    raise Conflict("This payment is being changed by others just now. Try again.", "payment_changed")


def _compare_and_set(author: Author, payment: PosTransaction, outcome: Outcome, checked: bool) -> bool:
    """Write the outcome to the row and the payment; return False when another change was faster."""
    now, status = author.now(), TransactionStatus(str(outcome.values.get("status", payment.status)))
    checks = payment.checks + 1 if checked and status == payment.status else 0
    times = {"next_check_at": next_check(status, checks, payment.created_at, now), "checks": checks}
    unchanged = (PosTransaction.id == payment.id, PosTransaction.version == payment.version)
    written = update(PosTransaction).where(*unchanged)
    written = written.execution_options(synchronize_session=False, populate_existing=True)
    values = outcome.values | times | {"version": payment.version + 1, "updated_at": now}
    done = db.session.scalars(written.values(values).returning(PosTransaction))
    return done.first() is not None


def timeline_entry(author: Author, payment: PosTransaction, action: str, detail: str = "") -> PosTransactionEvent:
    """Return a line of the transaction's timeline."""
    return PosTransactionEvent(
        site_id=payment.site_id,
        transaction_id=payment.id,
        at=author.now(),
        actor=author.name[:100],
        action=action[:40],
        status=payment.status,
        detail=detail[:300],
    )


def _raise_alert(author: Author, payment: PosTransaction, anomaly: str) -> None:
    detail = f"Payment {payment.id}: {describe_anomaly(anomaly)}."
    raise_alert(author.clock, Cause.PAYMENT_ANOMALY, detail, payment.site_id, payment.id)


@dataclass(frozen=True, slots=True)
class _MoneyState:
    """What a transaction means for its order and the journal: whether it may still bring money, whether it did, and
    what was refunded to the card."""

    is_open: bool
    is_paid: bool
    refunded: int

    @classmethod
    def of(cls, payment: PosTransaction) -> _MoneyState:
        status = payment.status
        return cls(status in OPEN_STATUSES, status in PAID_STATUSES, payment.refunded_to_card)


def _follow_money(author: Author, payment: PosTransaction, before: _MoneyState, session_id: str | None) -> None:
    """Bring the order up to date where a transaction moved money or ended without it, and append what moved to the
    journal, last, since the journal is locked until the commit."""
    after = _MoneyState.of(payment)
    if after == before:
        return
    is_sale = after.is_paid and not before.is_paid
    follow_order(author, payment, is_sale)
    if is_sale and payment.captured_amount:
        record_money(author, payment, EntryType.SALE, payment.captured_amount, payment.session_id)
    if given_back := after.refunded - before.refunded:
        made_in = session_id or _session_of_refund(payment, given_back)
        record_money(author, payment, EntryType.REFUND, -given_back, made_in)


def _session_of_refund(payment: PosTransaction, amount: int) -> str | None:
    """Return the work session that requested a refund of so much which was not answered yet: the intent may show it
    before its own event comes. None where there is no such refund."""
    row = PosRefund
    of_payment = row.site_id == payment.site_id, row.transaction_id == payment.id, row.tender_type == CARD
    unanswered = row.amount == amount, row.status.in_(("PENDING", "UNKNOWN"))
    query = select(row.session_id).where(*of_payment, *unanswered).order_by(row.created_at.desc(), row.id)
    return db.session.scalar(query.limit(1))


def follow_order(author: Author, payment: PosTransaction, is_sale: bool = False) -> None:
    """Save what the payments of a payment's order come to now. A sale of an order that was paid already, or above what
    was due, is an anomaly: the money must go back, unless what had paid a basket before goes back instead. The order's
    row is locked."""
    db.session.flush()
    if payment.order_id is None:
        return
    surplus = [] if is_sale else _lock_surplus(payment)
    order = lock_order(payment.order_id)
    if order is None:
        return
    if is_sale and is_settled(order):
        payment.is_surplus, payment.anomaly = True, PAID_TWICE
        note_surplus(author.clock, order, payment.id, payment.captured_amount)
        db.session.flush()
    sums = sums_of_order(order.site_id, order.id)
    is_needed = sums.paid < order.total if order.status == OPEN else sums.paid == 0
    if surplus and is_needed:
        sums = _count_surplus(author, order, surplus)
    if is_sale and sums.paid > order.total and payment.anomaly is None:
        payment.anomaly = PAID_TWICE
    apply_payments(author.clock, order, sums)


def _lock_surplus(payment: PosTransaction) -> list[PosTransaction]:
    """Return the surplus payments of a payment's order that were not given back, locked: payments before the order."""
    row = PosTransaction
    is_surplus = row.is_surplus.is_(True), row.captured_amount > row.refunded_amount
    query = select(row).where(row.site_id == payment.site_id, row.order_id == payment.order_id, *is_surplus)
    query = query.order_by(row.id).with_for_update().execution_options(populate_existing=True)
    return list(db.session.scalars(query))


def _count_surplus(author: Author, order: Order, surplus: Sequence[PosTransaction]) -> PaidSums:
    """Count surplus payments as paid for their basket, since what had paid it before was given back; return what the
    payments come to with them."""
    for payment in surplus:
        payment.is_surplus = False
        payment.version += 1
        db.session.add(timeline_entry(author, payment, "counted", COUNTED))
    db.session.flush()
    sums = sums_of_order(order.site_id, order.id)
    for payment in surplus:
        if sums.paid <= order.total and payment.anomaly == PAID_TWICE:
            end_anomaly(author, payment, "surplus counted", COUNTED)
    return sums


def sums_of_order(site_id: int, order_id: str) -> PaidSums:
    """Return what the payments of an order come to, by one statement. Of a payment that was refunded in part, the tip
    is what stays to the last."""
    row = PosTransaction
    columns = (
        row.tender_type,
        row.status,
        row.amount_in_pence,
        row.tip_in_pence,
        row.captured_amount,
        row.refunded_amount,
    )
    query = select(*columns).where(row.site_id == site_id, row.order_id == order_id, row.is_surplus.is_(False))
    by_tender, reserved = {CARD: 0, CASH: 0}, 0
    for tender, status, amount, tip, captured, refunded in db.session.execute(query):
        if status in PAID_STATUSES:
            by_tender[tender] += max(0, captured - tip - refunded)
        elif status in OPEN_STATUSES:
            reserved += amount
    return PaidSums(by_tender[CARD], by_tender[CASH], reserved)


def record_money(
    author: Author,
    payment: PosTransaction,
    type: EntryType,
    amount: int,
    session_id: str | None,
    tender_type: str | None = None,
    at: datetime | None = None,
) -> None:
    """Append money that a payment moved to the journal; `amount` in minor units as the drawer and the account see it,
    `tender_type` the payment's where it is None, `at` now."""
    event = MoneyEvent(
        type,
        at or author.now(),
        session_id,
        payment.id,
        payment.order_number,
        amount,
        tender_type or payment.tender_type,
    )
    append_to_journal(author.clock, author.site_id, event)


def settle_anomaly(author: Author, transaction_id: str, note: str) -> None:
    """Settle the anomaly of a payment in the name of an admin, as when the goods were handed over or the money given
    back, and end its alerts; the timeline keeps the anomaly and the note. Call it in a transaction. Raises Invalid,
    NotFound, and Conflict where nothing is wrong (any more)."""
    note = one_line(note)
    if problems := note_problems(note, "The note", LONGEST_NOTE, "#/note"):
        raise Invalid(problems)
    payment = existing(
        find_record(PosTransaction, author.site_id, transaction_id, to_change=True), "There is no such payment."
    )
    if payment.anomaly is None:
        raise Conflict("Nothing is wrong with this payment any more: another user saw to it.")
    end_anomaly(author, payment, "settled", note)


def end_anomaly(author: Author, payment: PosTransaction, action: str, note: str) -> None:
    """End the anomaly of a locked payment and its alerts; the timeline keeps both, `action` is its word for the end."""
    end_alert(author.clock, Cause.PAYMENT_ANOMALY, author.site_id, payment.id)
    end_alert(author.clock, Cause.REFUND_FAILED, author.site_id, payment.id)
    words, payment.anomaly = describe_anomaly(payment.anomaly or ""), None
    payment.version += 1
    db.session.add(timeline_entry(author, payment, action, f"{words}: {note}"))
    activity.record(author, "pos.anomaly_settled", ("pos_transaction", payment.id), f"Settled: {words}. {note}")
    db.session.flush()
