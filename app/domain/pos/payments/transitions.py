"""Status changes of a transaction, which are made here only: by compare and set on its version, with an entry in the
timeline, the time of the next check and what follows for the order. Call these within a database transaction; the
processor's answer was read before it began."""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import select, update

from app.domain.alerts.alerts import end_alert, raise_alert
from app.domain.alerts.causes import Cause
from app.domain.orders.payment import PaidMark, mark_paid, release_payment_lock
from app.domain.pos.models import PosTransaction, PosTransactionEvent
from app.domain.pos.processor import Intent
from app.domain.pos.rules import note_problems
from app.domain.pos.states import (
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


def apply_intent(
    author: Author, transaction_id: str, intent: Intent, action: str, checked: bool = False
) -> PosTransaction:
    """Apply an intent that was just read, and return the transaction. `checked`: by a check, which schedules the next
    one also where nothing changed."""
    return _advance(
        author, transaction_id, lambda payment: outcome_of_intent(payment, intent, author.now()), action, checked
    )


def apply_refunds(author: Author, transaction_id: str, refunded: int, action: str) -> PosTransaction:
    """Apply the refunded sum of a paid transaction; it is lower than before where a refund failed."""
    return _advance(author, transaction_id, lambda payment: outcome_of_refunds(payment, refunded), action)


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
) -> PosTransaction:
    """Write the outcome of a transaction, with what follows from it. Raises NotFound, and Conflict where others keep
    changing the transaction."""
    query = select(PosTransaction).where(PosTransaction.site_id == author.site_id, PosTransaction.id == transaction_id)
    for _ in range(MOST_TRIES):
        payment = db.session.scalar(query.execution_options(populate_existing=True))
        if payment is None:
            raise NotFound("There is no such payment.", "transaction_not_found")
        before, anomaly_before, outcome = TransactionStatus(payment.status), payment.anomaly, outcome_of(payment)
        if not outcome.values and not checked:
            return payment
        if _compare_and_set(author, payment, outcome, checked):
            db.session.refresh(payment)
            if outcome.values:
                db.session.add(timeline_entry(author, payment, action, outcome.detail))
                _follow_order(author, payment, before)
                if payment.anomaly not in (None, anomaly_before):
                    _raise_alert(author, payment, payment.anomaly or "")
            return payment
    raise Conflict("This payment is being changed by others just now. Try again.", "payment_changed")


def _compare_and_set(author: Author, payment: PosTransaction, outcome: Outcome, checked: bool) -> bool:
    """Write the outcome; return False when another change was faster."""
    now, status = author.now(), TransactionStatus(str(outcome.values.get("status", payment.status)))
    checks = payment.checks + 1 if checked and status == payment.status else 0
    times = {"next_check_at": next_check(status, checks, payment.created_at, now), "checks": checks}
    unchanged = (PosTransaction.id == payment.id, PosTransaction.version == payment.version)
    written = update(PosTransaction).where(*unchanged).execution_options(synchronize_session=False)
    values = outcome.values | times | {"version": payment.version + 1, "updated_at": now}
    done = db.session.execute(written.values(values).returning(PosTransaction.id)).first()
    return done is not None


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


def _follow_order(author: Author, payment: PosTransaction, before: TransactionStatus) -> None:
    """Mark the order paid when the transaction becomes paid; release its payment lock when the transaction ends without
    money."""
    if payment.order_id is None:
        return
    if payment.status in PAID_STATUSES and before not in PAID_STATUSES:
        paid = mark_paid(author.clock, payment.order_id, payment.id, payment.captured_amount)
        if paid is PaidMark.TWICE:
            payment.anomaly = payment.anomaly or PAID_TWICE
            db.session.flush()
    elif before in OPEN_STATUSES and payment.status not in OPEN_STATUSES:
        release_payment_lock(payment.order_id, payment.id)


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
    end_alert(author.clock, Cause.PAYMENT_ANOMALY, author.site_id, payment.id)
    end_alert(author.clock, Cause.REFUND_FAILED, author.site_id, payment.id)
    words, payment.anomaly = describe_anomaly(payment.anomaly), None
    payment.version += 1
    db.session.add(timeline_entry(author, payment, "settled", f"{words}: {note}"))
    activity.record(author, "pos.anomaly_settled", ("pos_transaction", payment.id), f"Settled: {words}. {note}")
    db.session.flush()
