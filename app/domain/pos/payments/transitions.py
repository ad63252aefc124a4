"""Status changes of a transaction, which are made here only: by compare and set on its version, with a line in the
timeline, the time of the next check and what follows for the order. Call these within a database transaction; the
processor's answer was read before it began."""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import select, update

from app.domain.alerts.alerts import raise_alert
from app.domain.alerts.causes import Cause
from app.domain.orders.payment import PaidMark, mark_paid, release_payment_lock
from app.domain.pos.models import PosTransaction, PosTransactionEvent
from app.domain.pos.payments import outcomes
from app.domain.pos.payments.anomalies import anomaly_detail, anomaly_words
from app.domain.pos.payments.outcomes import Outcome
from app.domain.pos.processor import Intent
from app.domain.pos.states import OPEN_STATUSES, PAID_STATUSES, TransactionStatus
from app.domain.shared.author import Author
from app.domain.shared.problems import Conflict, NotFound
from app.extensions import db

MOST_TRIES = 20
PAID_TWICE = "order_paid_twice"


def apply_intent(
    author: Author, transaction_id: str, intent: Intent, action: str, checked: bool = False
) -> PosTransaction:
    """Apply an intent that was just read, and return the transaction. `checked`: by a check, which schedules the next
    one also where nothing changed."""
    return _advance(
        author, transaction_id, lambda known: outcomes.of_intent(known, intent, author.now()), action, checked
    )


def apply_refunds(author: Author, transaction_id: str, refunded: int, action: str) -> PosTransaction:
    """Apply the refunded sum of a paid transaction; it is lower than before where a refund failed."""
    return _advance(author, transaction_id, lambda known: outcomes.of_refunds(known, refunded), action)


def creation_failed(author: Author, transaction_id: str, code: str, action: str = "create") -> PosTransaction:
    """Apply a failed creation: the processor made no intent, and never will under this transaction's key."""
    return _advance(author, transaction_id, lambda known: outcomes.of_failed_creation(known, code), action)


def creation_unknown(author: Author, transaction_id: str, action: str = "create") -> PosTransaction:
    return _advance(author, transaction_id, outcomes.of_unknown_creation, action)


def outcome_unknown(author: Author, transaction_id: str, action: str) -> PosTransaction:
    """Note that a capture or cancellation got no conclusive answer."""
    return _advance(author, transaction_id, outcomes.of_unknown_outcome, action)


def payment_disputed(author: Author, transaction_id: str, action: str) -> PosTransaction:
    """Apply a dispute of the cardholder. The alert is raised also where the payment has another anomaly already: a
    dispute has a deadline."""
    known = _advance(author, transaction_id, outcomes.of_dispute, action)
    if known.anomaly != outcomes.DISPUTED:
        detail = f"Payment {known.id}: {anomaly_words(outcomes.DISPUTED)}."
        raise_alert(author.clock, Cause.PAYMENT_ANOMALY, detail, known.site_id, known.id)
    return known


def nothing_learned(author: Author, transaction_id: str, action: str) -> PosTransaction:
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
    for _ in range(MOST_TRIES):
        known = _read(author.site_id, transaction_id)
        before, anomaly_before, outcome = TransactionStatus(known.status), known.anomaly, outcome_of(known)
        if not outcome.values and not checked:
            return known
        if _is_written(author, known, outcome, checked):
            db.session.refresh(known)
            if outcome.values:
                db.session.add(note_of(author, known, action, outcome.detail))
                _follow_order(author, known, before)
                _warn(author, known, anomaly_before)
            return known
    raise Conflict("This payment is being changed by others just now. Try again.", "payment_changed")


def _read(site_id: int, transaction_id: str) -> PosTransaction:
    query = select(PosTransaction).where(PosTransaction.site_id == site_id, PosTransaction.id == transaction_id)
    found = db.session.scalar(query.execution_options(populate_existing=True))
    if found is None:
        raise NotFound("There is no such payment.", "transaction_not_found")
    return found


def _is_written(author: Author, known: PosTransaction, outcome: Outcome, checked: bool) -> bool:
    """Write the outcome; return False when another change was faster."""
    now, status = author.now(), TransactionStatus(str(outcome.values.get("status", known.status)))
    checks = known.checks + 1 if checked and status == known.status else 0
    times = {"next_check_at": outcomes.next_check(status, checks, known.created_at, now), "checks": checks}
    unchanged = (PosTransaction.id == known.id, PosTransaction.version == known.version)
    written = update(PosTransaction).where(*unchanged).execution_options(synchronize_session=False)
    values = outcome.values | times | {"version": known.version + 1, "updated_at": now}
    done = db.session.execute(written.values(values).returning(PosTransaction.id)).first()
    return done is not None


def note_of(author: Author, known: PosTransaction, action: str, detail: str = "") -> PosTransactionEvent:
    """Return a line of the transaction's timeline."""
    return PosTransactionEvent(
        site_id=known.site_id,
        transaction_id=known.id,
        at=author.now(),
        actor=author.name[:100],
        action=action[:40],
        status=known.status,
        detail=detail[:300],
    )


def _warn(author: Author, known: PosTransaction, anomaly_before: str | None) -> None:
    """Raise an alert about a new anomaly."""
    if known.anomaly not in (None, anomaly_before):
        raise_alert(author.clock, Cause.PAYMENT_ANOMALY, anomaly_detail(known), known.site_id, known.id)


def _follow_order(author: Author, known: PosTransaction, before: TransactionStatus) -> None:
    """Mark the order paid when the transaction becomes paid; release its payment lock when the transaction ends without
    money."""
    if known.order_id is None:
        return
    if known.status in PAID_STATUSES and before not in PAID_STATUSES:
        paid = mark_paid(author.clock, known.order_id, known.id, known.captured_amount)
        if paid is PaidMark.TWICE:
            known.anomaly = known.anomaly or PAID_TWICE
            db.session.flush()
    elif before in OPEN_STATUSES and known.status not in OPEN_STATUSES:
        release_payment_lock(known.order_id, known.id)
