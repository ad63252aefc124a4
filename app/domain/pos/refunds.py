"""Refunds: stored, sent to the processor, then applied, in this order, so that none is sent twice and none is lost. The
refunds of a payment together never exceed what was captured."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select

from app.domain.alerts.alerts import raise_alert
from app.domain.alerts.causes import Cause
from app.domain.pos.models import PosAgent, PosRefund, PosTransaction
from app.domain.pos.payments.outcomes import CHECKED_AFTER
from app.domain.pos.payments.processor_calls import about
from app.domain.pos.payments.transitions import note_of
from app.domain.pos.processor import (
    AccountRef,
    Busy,
    KeyReused,
    Misconfigured,
    OutcomeUnknown,
    PaymentProcessor,
    ProcessorError,
)
from app.domain.pos.refund_states import REFUND_ID, RefundState, is_made, refundable, settle_refund
from app.domain.pos.states import PAID_STATUSES
from app.domain.pos.typed_text import note_problems
from app.domain.shared.author import Author
from app.domain.shared.money import format_money
from app.domain.shared.problems import Conflict, Forbidden, Invalid, NotFound, Unprocessable
from app.domain.shared.records import existing, find_record
from app.domain.shared.text import one_line
from app.domain.sites import audit
from app.domain.work.context import WorkContext
from app.extensions import db

LONGEST_REASON = 200
NO_SUCH_PAYMENT = "There is no such payment."


@dataclass(frozen=True, slots=True)
class RefundRequest:
    """A request for a refund. `amount` None is all that is left. `key` makes repetitions of one request the same
    refund. `agent` is the one who requests it at a till, None an admin; `location_id` the location that the payment
    must be of, None for any."""

    transaction_id: str
    amount: int | None
    reason: str
    key: str | None = None
    agent: PosAgent | None = None
    location_id: int | None = None


@dataclass(frozen=True, slots=True)
class RefundSummary:
    """A refund as clients see it. UNKNOWN: the processor did not answer, and the shop finds out by itself."""

    id: str
    transaction_id: str
    amount: int
    currency: str
    reason: str
    status: str
    created_at: datetime
    is_replayed: bool = False

    @property
    def is_settled(self) -> bool:
        return self.status in (RefundState.SUCCEEDED, RefundState.FAILED)


def request_refund(
    context: WorkContext, author: Author, processor: PaymentProcessor, request: RefundRequest
) -> RefundSummary:
    """Refund a payment, in part or in full. Raises Invalid for a missing reason, NotFound, Forbidden
    `refund_not_permitted`, Unprocessable `amount_invalid` or `refund_exceeds_payment`, Conflict
    `payment_not_refundable` or `already_refunded`, and ProcessorError where the processor refused, also an earlier time
    under the same key; without its answer the refund is UNKNOWN. Call it outside a transaction."""
    reason = one_line(request.reason)
    if problems := note_problems(reason, "The reason", LONGEST_REASON, "#/reason"):
        raise Invalid(problems)
    refund_id, is_new = context.commit(lambda: _write_down(author, request, reason))
    with about(request.transaction_id):
        if is_new:
            send_refund(context, author, processor, refund_id)
        _check_not_failed(refund_id)
    return summary_of(author.site_id, refund_id, is_replayed=not is_new)


def _check_not_failed(refund_id: str) -> None:
    """Check that the refund has not failed. Raises ProcessorError: a repeated request gets the first answer."""
    refund = db.session.get_one(PosRefund, refund_id, populate_existing=True)
    if refund.status == RefundState.FAILED:
        raise ProcessorError(refund.error or "The payment processor did not make the refund.")


def summary_of(site_id: int, refund_id: str, is_replayed: bool = False) -> RefundSummary:
    """Return the summary of a refund, read anew. Raises NotFound."""
    db.session.expire_all()
    refund = existing(find_record(PosRefund, site_id, refund_id), "There is no such refund.")
    currency = db.session.get_one(PosTransaction, refund.transaction_id).currency
    return RefundSummary(
        refund.id,
        refund.transaction_id,
        refund.amount,
        currency,
        refund.reason,
        refund.status,
        refund.created_at,
        is_replayed,
    )


def _write_down(author: Author, request: RefundRequest, reason: str) -> tuple[str, bool]:
    """Store the requested refund; return its id, and whether it is new. The payment is locked, so that two requests
    cannot both take what is left."""
    known = _payment_of(author.site_id, request)
    refund_id = _id_of(author, request)
    earlier = db.session.get(PosRefund, refund_id)
    if earlier is not None:
        _check_same(known, earlier, request, reason)
        return refund_id, False
    refund = PosRefund(
        id=refund_id,
        site_id=author.site_id,
        transaction_id=known.id,
        amount=_amount_of(known, request.amount),
        reason=reason,
        status=RefundState.PENDING.value,
        requested_by=author.name[:100],
        created_at=author.now(),
        updated_at=author.now(),
        next_check_at=author.now() + CHECKED_AFTER[2],
    )
    db.session.add(refund)
    amount = format_money(refund.amount, known.currency)
    db.session.add(note_of(author, known, "refund requested", f"{amount}: {reason}"))
    audit.record(author, "pos.refund", ("pos_transaction", known.id), f"Refunded {amount}: {reason}")
    db.session.flush()
    return refund_id, True


def _payment_of(site_id: int, request: RefundRequest) -> PosTransaction:
    """Return the payment, locked. Raises NotFound and Forbidden."""
    known = find_record(PosTransaction, site_id, request.transaction_id, to_change=True)
    if known is None or request.location_id not in (None, known.location_id):
        raise NotFound(NO_SUCH_PAYMENT, "transaction_not_found")
    agent = request.agent
    if agent is not None and not agent.can_refund:
        raise Forbidden("You may not give refunds. Ask an admin.", "refund_not_permitted")
    if agent is not None and agent.id != known.agent_id:
        raise NotFound(NO_SUCH_PAYMENT, "transaction_not_found")
    return known


def _amount_of(known: PosTransaction, wanted: int | None) -> int:
    """Return the amount to refund: `wanted`, or all that is left where it is None. Raises Unprocessable and
    Conflict."""
    left = refundable(known)
    if wanted is not None and wanted <= 0:
        raise Unprocessable("A refund is more than nothing.", "amount_invalid")
    if known.status not in PAID_STATUSES:
        message = "Only a payment that succeeded can be refunded."
        raise Conflict(message, "payment_not_refundable", transactionStatus=known.status)
    if left <= 0:
        raise Conflict("All of this payment was refunded already.", "already_refunded")
    if wanted is not None and wanted > left:
        raise Unprocessable(
            f"At most {format_money(left, known.currency)} of this payment can be refunded.",
            "refund_exceeds_payment",
            maxAmountInPence=left,
        )
    return left if wanted is None else wanted


def _id_of(author: Author, request: RefundRequest) -> str:
    """Return the id of a requested refund. A key always gives the same id, so that the database refuses a second refund
    under it."""
    if request.key is None:
        return str(uuid.uuid4())
    return str(uuid.uuid5(uuid.NAMESPACE_OID, f"{author.site_id}/{request.transaction_id}/{request.key}"))


def _check_same(known: PosTransaction, earlier: PosRefund, request: RefundRequest, reason: str) -> None:
    """Check that a repeated key asks for the same refund. Raises Unprocessable."""
    is_same = not _left_some(known, earlier) if request.amount is None else request.amount == earlier.amount
    if earlier.reason != reason or not is_same:
        raise Unprocessable("This Idempotency-Key was used for another request.", "idempotency_mismatch")


def _left_some(known: PosTransaction, refund: PosRefund) -> bool:
    """Whether a refund was certainly of a part: with all that was requested before it and all that was refunded at the
    processor alone, it is less than the payment. Failed refunds count, since they had not failed yet then."""
    refunds = refunds_of(known.site_id, known.id)
    until_then = sum(one.amount for one in refunds if one.created_at <= refund.created_at)
    elsewhere = max(0, known.refunded_amount - sum(one.amount for one in refunds if is_made(one)))
    return until_then + elsewhere < known.captured_amount


def send_refund(
    context: WorkContext, author: Author, processor: PaymentProcessor, refund_id: str, is_repeated: bool = False
) -> None:
    """Send a refund to the processor, which makes it once however often it is sent within a day, and save the outcome.
    Raises ProcessorError where it refused."""
    refund = db.session.get_one(PosRefund, refund_id, populate_existing=True)
    known = db.session.get_one(PosTransaction, refund.transaction_id)
    ref, intent_id, amount = AccountRef(known.processor_account_id), known.processor_intent_id or "", refund.amount
    db.session.rollback()  # Nothing is held while the processor is waited for.
    try:
        answer = processor.refund(ref, intent_id, amount, f"pos-refund-{refund_id}", {REFUND_ID: refund_id})
    except (OutcomeUnknown, Busy, KeyReused) as unclear:
        message = unclear.message
        context.commit(lambda: settle_refund(author, refund_id, RefundState.UNKNOWN, error=message))
    except ProcessorError as refused:
        error = refused
        context.commit(lambda: _refuse(author, refund_id, error, is_repeated))
        raise
    else:
        state = RefundState.of(answer.status)
        context.commit(lambda: settle_refund(author, refund_id, state, answer.id, is_expected=not is_repeated))


def _refuse(author: Author, refund_id: str, refused: ProcessorError, is_repeated: bool) -> None:
    """Save the refusal of a refund: as FAILED, but as UNKNOWN where a repetition met a wrong configuration, since an
    earlier try may have been carried out."""
    is_misconfigured = isinstance(refused, Misconfigured)
    state = RefundState.UNKNOWN if is_misconfigured and is_repeated else RefundState.FAILED
    settle_refund(author, refund_id, state, error=refused.message, is_expected=not is_repeated)
    if is_misconfigured:
        raise_alert(author.clock, Cause.PROCESSOR_MISCONFIGURED, refused.message, author.site_id)


def refunds_of(site_id: int, transaction_id: str) -> list[PosRefund]:
    """Return the refunds of a payment, the oldest first."""
    query = select(PosRefund).where(PosRefund.site_id == site_id, PosRefund.transaction_id == transaction_id)
    return list(db.session.scalars(query.order_by(PosRefund.created_at, PosRefund.id)))
