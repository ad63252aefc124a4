"""Transitions of a refund and of its payment, by what the processor answers or reports, or when it does neither. Call
these within a transaction; the payment's row is locked first, so that no refund is counted twice."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from enum import StrEnum

from sqlalchemy import select

from app.domain.alerts.alerts import end_alert, raise_alert
from app.domain.alerts.causes import Cause
from app.domain.pos.models import PosRefund, PosTransaction
from app.domain.pos.payments.outcomes import CHECKED_AFTER
from app.domain.pos.payments.transitions import apply_refunds, note_of
from app.domain.pos.processor import Refund, RefundStatus
from app.domain.shared.author import Author
from app.domain.shared.money import format_money
from app.extensions import db

REFUND_ID = "refundId"  # In the metadata of a refund at the processor.
ACTION, REFUND_FAILED, REFUND_UNCLEAR = "refund", "refund_failed", "refund_unclear"
UNCLEAR = "No answer came, and what was given back of the payment does not tell whether this was"
AT_THE_PROCESSOR = "Refunded at the payment processor"
LONGEST_ERROR = 200


class RefundState(StrEnum):
    PENDING = "PENDING"
    SUCCEEDED = "SUCCEEDED"
    FAILED = "FAILED"
    UNKNOWN = "UNKNOWN"

    @classmethod
    def of(cls, status: RefundStatus) -> RefundState:
        """Return the state of a refund as the processor has just reported it."""
        return _OF_PROCESSOR[status]


_OF_PROCESSOR = {
    RefundStatus.PENDING: RefundState.PENDING,
    RefundStatus.SUCCEEDED: RefundState.SUCCEEDED,
    RefundStatus.FAILED: RefundState.FAILED,
    RefundStatus.CANCELED: RefundState.FAILED,
}
UNSETTLED = (RefundState.PENDING.value, RefundState.UNKNOWN.value)


def is_made(refund: PosRefund) -> bool:
    """Whether the processor has accepted the refund, so that it counts in the refunded sum of the charge."""
    accepted = refund.status == RefundState.PENDING and refund.processor_refund_id is not None
    return accepted or refund.status == RefundState.SUCCEEDED


def was_refund_made(amount: int, unanswered: Sequence[int], unexplained: int) -> bool | None:
    """Whether an unanswered refund of `amount` was made, inferred from `unexplained`: the part of the charge's refunded
    sum that no known refund accounts for. `unanswered` are the amounts of the other refunds without an answer. None
    where both are possible, or where no set of the refunds adds up to `unexplained`. Refunds of one amount are
    interchangeable."""
    if unexplained < amount:
        return False
    sums, alike = {0}, [other for other in unanswered if other == amount]
    for other in unanswered:
        if other != amount:
            sums |= {one + other for one in sums}
    possible = [made for made in range(len(alike) + 2) if unexplained - made * amount in sums]
    return possible[0] > 0 if len(possible) == 1 else None


def refundable(known: PosTransaction) -> int:
    """Return the amount of a payment that can still be refunded. Refunds made elsewhere reduce it, and those that may
    have been made."""
    alive = [refund for refund in _refunds_of(known.id) if refund.status != RefundState.FAILED]
    made = sum(refund.amount for refund in alive if is_made(refund))
    waiting = sum(refund.amount for refund in alive if not is_made(refund))
    return known.captured_amount - max(known.refunded_amount, made) - waiting


def settle_refund(
    author: Author,
    refund_id: str,
    state: RefundState,
    processor_refund_id: str | None = None,
    error: str | None = None,
    is_expected: bool = False,
) -> None:
    """Save the state of a refund, and update its payment accordingly; a failed refund stays failed. `is_expected`: the
    user who requested the refund sees at once that it failed, so no alert is raised."""
    refund = db.session.get_one(PosRefund, refund_id)
    known = _locked(refund.transaction_id)
    db.session.refresh(refund)
    if refund.status == RefundState.FAILED or (state is RefundState.UNKNOWN and is_made(refund)):
        return
    was_made, before = is_made(refund), refund.status
    if processor_refund_id is not None:
        refund.processor_refund_id = processor_refund_id
    refund.status, refund.error = state.value, error and error[:LONGEST_ERROR]
    schedule(author, refund)
    db.session.flush()
    if before != refund.status:
        amount = format_money(refund.amount, known.currency)
        db.session.add(note_of(author, known, f"refund {state.value.lower()}", f"{amount} {error or ''}".strip()))
    _follow_payment(author, known, refund, was_made)
    _end_unclear(author, known)
    _alert(author, known, refund, is_expected)


def leave_to_people(author: Author, refund_id: str) -> None:
    """Leave a refund to an admin, since nothing that the shop can read says whether it was made: one alert is raised.
    An event of the processor may still settle it."""
    is_news = db.session.get_one(PosRefund, refund_id).error != UNCLEAR
    settle_refund(author, refund_id, RefundState.UNKNOWN, error=UNCLEAR)
    refund = db.session.get_one(PosRefund, refund_id)
    if not is_news or refund.status != RefundState.UNKNOWN:
        return
    known = db.session.get_one(PosTransaction, refund.transaction_id)
    detail = f"{format_money(refund.amount, known.currency)} of payment {known.id}: {UNCLEAR}."
    raise_alert(author.clock, Cause.PAYMENT_ANOMALY, detail, known.site_id, known.id)
    _mark(known, None, REFUND_UNCLEAR)


def refund_seen(author: Author, transaction_id: str, seen: Refund) -> None:
    """Save a refund that the processor reported: one of the shop's, perhaps before the answer to its request came, or
    one made elsewhere, which is added."""
    known = _locked(transaction_id)
    refunds = _refunds_of(known.id)
    known_by_id = [refund for refund in refunds if refund.processor_refund_id == seen.id]
    known_by_name = [refund for refund in refunds if _is_named(refund, seen)]
    found = next(iter(known_by_id or known_by_name), None)
    if found is None:
        found = _made_elsewhere(author, known, seen)
    settle_refund(author, found.id, RefundState.of(seen.status), seen.id)


def _is_named(refund: PosRefund, seen: Refund) -> bool:
    """Whether the processor's refund names this one in its metadata. A failed refund is never matched: where money was
    given back after all, that is a refund of its own."""
    is_open = refund.processor_refund_id is None and refund.status != RefundState.FAILED
    return is_open and refund.id == seen.metadata.get(REFUND_ID)


def _made_elsewhere(author: Author, known: PosTransaction, seen: Refund) -> PosRefund:
    refund = PosRefund(
        id=str(uuid.uuid4()),
        site_id=known.site_id,
        transaction_id=known.id,
        amount=seen.amount,
        reason=AT_THE_PROCESSOR,
        status=RefundState.UNKNOWN.value,
        requested_by=author.name[:100],
        created_at=author.now(),
        updated_at=author.now(),
    )
    db.session.add(refund)
    db.session.flush()
    return refund


def schedule(author: Author, refund: PosRefund) -> None:
    """Set the time of a refund's next check: at growing intervals while it is unsettled, none afterwards."""
    refund.updated_at = author.now()
    if refund.status not in UNSETTLED:
        refund.next_check_at = None
        return
    refund.next_check_at = author.now() + CHECKED_AFTER[min(refund.checks, len(CHECKED_AFTER) - 1)]
    refund.checks += 1


def _follow_payment(author: Author, known: PosTransaction, refund: PosRefund, was_made: bool) -> None:
    made = sum(other.amount for other in _refunds_of(known.id) if is_made(other))
    if is_made(refund):
        apply_refunds(author, known.id, max(known.refunded_amount, made), ACTION)
    elif was_made:
        apply_refunds(author, known.id, max(known.refunded_amount - refund.amount, made), f"{ACTION} failed")


def _alert(author: Author, known: PosTransaction, refund: PosRefund, is_expected: bool) -> None:
    if refund.status == RefundState.SUCCEEDED:
        end_alert(author.clock, Cause.REFUND_FAILED, known.site_id, known.id)
        _mark(known, REFUND_FAILED, None)
    elif refund.status == RefundState.FAILED and not is_expected:
        amount = format_money(refund.amount, known.currency)
        detail = f"{amount} of payment {known.id}: {refund.error or 'refused later'}."
        raise_alert(author.clock, Cause.REFUND_FAILED, detail, known.site_id, known.id)
        _mark(known, None, REFUND_FAILED)


def _end_unclear(author: Author, known: PosTransaction) -> None:
    """End the anomaly and the alert of unclear refunds once all refunds of the payment are known."""
    unclear = any(refund.error == UNCLEAR for refund in _refunds_of(known.id))
    if known.anomaly == REFUND_UNCLEAR and not unclear:
        end_alert(author.clock, Cause.PAYMENT_ANOMALY, known.site_id, known.id)
        _mark(known, REFUND_UNCLEAR, None)


def _mark(known: PosTransaction, before: str | None, after: str | None) -> None:
    """Replace the anomaly `before` by `after`. Another one stays: it matters more."""
    db.session.refresh(known)
    if known.anomaly == before:
        known.anomaly = after
        db.session.flush()


def _locked(transaction_id: str) -> PosTransaction:
    query = select(PosTransaction).where(PosTransaction.id == transaction_id).with_for_update()
    return db.session.scalars(query.execution_options(populate_existing=True)).one()


def _refunds_of(transaction_id: str) -> Sequence[PosRefund]:
    query = select(PosRefund).where(PosRefund.transaction_id == transaction_id)
    return db.session.scalars(query.order_by(PosRefund.created_at, PosRefund.id)).all()
