"""Refunds: those to a card are stored, sent to the processor, then applied, in this order, so that none is sent twice
and none is lost; cash is given back at once. The refunds of a payment together never exceed what was captured.

Every change of the state of a refund to a card goes through `settle_refund`, which is called within a transaction and
locks the payment's row first, so that no refund is counted twice.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from sqlalchemy import select

from app.domain.alerts.alerts import end_alert, raise_alert
from app.domain.alerts.causes import Cause
from app.domain.pos import refund_mails, sessions
from app.domain.pos.journal import EntryType
from app.domain.pos.models import PosAgent, PosRefund, PosTransaction
from app.domain.pos.payments.cashier import check_processor, errors_about
from app.domain.pos.payments.surplus import end_surplus
from app.domain.pos.payments.transitions import apply_refunds, follow_order, record_money, timeline_entry
from app.domain.pos.processor import (
    AccountRef,
    Busy,
    KeyReused,
    Misconfigured,
    OutcomeUnknown,
    PaymentProcessor,
    ProcessorError,
    Refund,
    RefundStatus,
)
from app.domain.pos.rules import LONGEST_REASON, check_cash, note_problems, round_cash
from app.domain.pos.states import (
    CARD,
    CASH,
    CHECKED_AFTER,
    PAID_STATUSES,
    REFUND_FAILED,
    REFUND_UNCLEAR,
    status_after_refunds,
)
from app.domain.shared.author import Author
from app.domain.shared.money import format_money
from app.domain.shared.problems import Conflict, Forbidden, Invalid, NotFound, Unprocessable
from app.domain.shared.records import existing, find_record
from app.domain.shared.text import one_line
from app.domain.sites import activity
from app.domain.sites.settings import settings_of
from app.domain.work.context import WorkContext
from app.extensions import db

REFUND_ID = "refundId"  # In the metadata of a refund at the processor.
ACTION = "refund"
UNCLEAR = "No answer came, and what was given back of the payment does not tell whether this was"
AT_THE_PROCESSOR = "Refunded at the payment processor"
LONGEST_ERROR = 200
NO_SUCH_PAYMENT = "There is no such payment."


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


@dataclass(frozen=True, slots=True)
class RefundRequest:
    """A request for a refund. `amount` None is all that is left, `tender_type` None as it was paid. `key` makes
    repetitions of one request the same refund. `agent` is the one who requests it at a till, None an admin;
    `location_id` the location that the payment must be of, None for any. `session_id` is the work session whose drawer
    and report it belongs to, None for none."""

    transaction_id: str
    amount: int | None
    reason: str
    key: str | None = None
    agent: PosAgent | None = None
    location_id: int | None = None
    tender_type: str | None = None
    session_id: str | None = None


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
    tender_type: str
    rounding: int
    is_replayed: bool = False

    @property
    def is_settled(self) -> bool:
        return self.status in (RefundState.SUCCEEDED, RefundState.FAILED)


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


def refunds_of(site_id: int, transaction_id: str) -> list[PosRefund]:
    """Return the refunds of a payment, the oldest first."""
    query = select(PosRefund).where(PosRefund.site_id == site_id, PosRefund.transaction_id == transaction_id)
    return list(db.session.scalars(query.order_by(PosRefund.created_at, PosRefund.id)))


def card_refunds_of(site_id: int, transaction_id: str) -> list[PosRefund]:
    """Return the refunds of a payment to its card, the oldest first."""
    return [refund for refund in refunds_of(site_id, transaction_id) if refund.tender_type == CARD]


def refundable_amount(payment: PosTransaction) -> int:
    """Return the amount of a payment that can still be refunded. Refunds made elsewhere reduce it, and those that may
    have been made."""
    alive = [refund for refund in card_refunds_of(payment.site_id, payment.id) if refund.status != RefundState.FAILED]
    made = sum(refund.amount for refund in alive if is_made(refund))
    waiting = sum(refund.amount for refund in alive if not is_made(refund))
    return payment.captured_amount - payment.refunded_in_cash - max(payment.refunded_to_card, made) - waiting


def request_refund(
    context: WorkContext, author: Author, processor: PaymentProcessor, request: RefundRequest
) -> RefundSummary:
    """Refund a payment, in part or in full, to the card or in cash. Raises Invalid for a missing reason, NotFound,
    Forbidden `refund_not_permitted`, Unprocessable `amount_invalid`, `refund_exceeds_payment` or `tender_not_possible`,
    Conflict `payment_not_refundable`, `already_refunded`, `work_session_closed` or for a card payment of another
    processor, and ProcessorError where the processor refused, also an earlier time under the same key; without its
    answer the refund is UNKNOWN. Call it outside a transaction."""
    reason = one_line(request.reason)
    if problems := note_problems(reason, "The reason", LONGEST_REASON, "#/reason"):
        raise Invalid(problems)
    refund_id, is_new = context.commit(lambda: _store(author, processor, request, reason))
    with errors_about(request.transaction_id):
        if is_new and db.session.get_one(PosRefund, refund_id).tender_type == CARD:
            send_refund(context, author, processor, refund_id)
        refund = db.session.get_one(PosRefund, refund_id, populate_existing=True)
        if refund.status == RefundState.FAILED:  # A repeated request gets the first answer.
            raise ProcessorError(refund.error or "The payment processor did not make the refund.")
    return summary_of(author.site_id, refund_id, is_replayed=not is_new)


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
        refund.tender_type,
        refund.rounding,
        is_replayed,
    )


def _store(author: Author, processor: PaymentProcessor, request: RefundRequest, reason: str) -> tuple[str, bool]:
    """Store the requested refund; return its id, and whether it is new. The payment is locked, so that two requests
    cannot both take what is left."""
    payment = _payment_of(author.site_id, request)
    refund_id = _refund_id(author, request)
    earlier = db.session.get(PosRefund, refund_id)
    if earlier is not None:
        _check_same_request(payment, earlier, request, reason)
        return refund_id, False
    tender, amount = _tender_of(payment, request), _amount_to_refund(payment, request.amount)
    if tender == CARD:
        check_processor(payment, processor)
    if request.session_id is not None:
        sessions.hold_open(author.site_id, request.session_id)
    refund = PosRefund(
        id=refund_id,
        site_id=author.site_id,
        transaction_id=payment.id,
        session_id=request.session_id,
        tender_type=tender,
        amount=amount,
        reason=reason,
        status=RefundState.PENDING.value,
        requested_by=author.name[:100],
        created_at=author.now(),
        updated_at=author.now(),
        next_check_at=author.now() + CHECKED_AFTER[2],
    )
    db.session.add(refund)
    how = f"{format_money(amount, payment.currency)}{' in cash' if tender == CASH else ''}"
    db.session.add(timeline_entry(author, payment, "refund requested", f"{how}: {reason}"))
    activity.record(author, "pos.refund", ("pos_transaction", payment.id), f"Refunded {how}: {reason}")
    db.session.flush()
    if tender == CASH:
        _give_back_cash(author, payment, refund)
    return refund_id, True


def _tender_of(payment: PosTransaction, request: RefundRequest) -> str:
    """Return the tender of a refund: as it was paid, unless another is requested. Raises Unprocessable for the card of
    a payment in cash, and Forbidden where an agent who takes no cash would give cash for a card payment."""
    if request.tender_type == CARD and payment.tender_type == CASH:
        raise Unprocessable("This was paid in cash, so it is given back in cash.", "tender_not_possible")
    tender, agent = request.tender_type or payment.tender_type, request.agent
    if tender == CASH and payment.tender_type == CARD and agent is not None:
        check_cash(settings_of(payment.site_id)["posAllowCash"], agent.can_take_cash)
    return tender


def _give_back_cash(author: Author, payment: PosTransaction, refund: PosRefund) -> None:
    """Save that a refund was given back in cash, rounded as the site rounds cash. The payment is locked."""
    given = _cash_to_give(payment, refund.amount)
    refund.rounding, refund.status, refund.next_check_at = given - refund.amount, RefundState.SUCCEEDED.value, None
    payment.refunded_amount += refund.amount
    payment.refunded_in_cash += refund.amount
    payment.status = status_after_refunds(payment.captured_amount, payment.refunded_amount).value
    payment.updated_at, payment.version = author.now(), payment.version + 1
    db.session.flush()
    db.session.add(timeline_entry(author, payment, "refund", format_money(given, payment.currency)))
    follow_order(author, payment)
    end_surplus(author, payment, refund.amount)
    record_money(author, payment, EntryType.REFUND, -given, refund.session_id, CASH)
    refund_mails.request_mail(author, payment, refund)


def _cash_to_give(payment: PosTransaction, amount: int) -> int:
    """Return the cash to give back for an amount, rounded as the site rounds cash. What was given back of the payment
    in cash is rounded as a whole, so that many small refunds never come to more than one large one."""
    earlier = [one for one in refunds_of(payment.site_id, payment.id) if one.tender_type == CASH]
    given = sum(one.amount + one.rounding for one in earlier if one.status == RefundState.SUCCEEDED)
    step = settings_of(payment.site_id)["posCashRounding"]
    return max(0, round_cash(payment.refunded_in_cash + amount, step) - given)


def _payment_of(site_id: int, request: RefundRequest) -> PosTransaction:
    """Return the payment, locked. Raises NotFound and Forbidden."""
    payment = find_record(PosTransaction, site_id, request.transaction_id, to_change=True)
    if payment is None or request.location_id not in (None, payment.location_id):
        raise NotFound(NO_SUCH_PAYMENT, "transaction_not_found")
    if (agent := request.agent) is not None and not agent.can_refund:
        raise Forbidden("You may not give refunds. Ask an admin.", "refund_not_permitted")
    if agent is not None and agent.id != payment.agent_id:
        raise NotFound(NO_SUCH_PAYMENT, "transaction_not_found")
    return payment


def _amount_to_refund(payment: PosTransaction, wanted: int | None) -> int:
    """Return the amount to refund, all that is left where `wanted` is None. Raises Unprocessable and Conflict."""
    left = refundable_amount(payment)
    if wanted is not None and wanted <= 0:
        raise Unprocessable("A refund is more than nothing.", "amount_invalid")
    if payment.status not in PAID_STATUSES:
        message = "Only a payment that succeeded can be refunded."
        raise Conflict(message, "payment_not_refundable", transactionStatus=payment.status)
    if left <= 0:
        raise Conflict("All of this payment was refunded already.", "already_refunded")
    if wanted is not None and wanted > left:
        raise Unprocessable(
            f"At most {format_money(left, payment.currency)} of this payment can be refunded.",
            "refund_exceeds_payment",
            maxAmountInPence=left,
        )
    return left if wanted is None else wanted


def _refund_id(author: Author, request: RefundRequest) -> str:
    """Return the id of a requested refund. A key always gives the same id, so that the database refuses a second refund
    under it."""
    if request.key is None:
        return str(uuid.uuid4())
    return str(uuid.uuid5(uuid.NAMESPACE_OID, f"{author.site_id}/{request.transaction_id}/{request.key}"))


def _check_same_request(payment: PosTransaction, earlier: PosRefund, request: RefundRequest, reason: str) -> None:
    """Check that a repeated key asks for the same refund. Raises Unprocessable."""
    is_same = not _left_some(payment, earlier) if request.amount is None else request.amount == earlier.amount
    is_same = is_same and (request.tender_type or payment.tender_type) == earlier.tender_type
    if earlier.reason != reason or not is_same:
        raise Unprocessable("This Idempotency-Key was used for another request.", "idempotency_mismatch")


def _left_some(payment: PosTransaction, refund: PosRefund) -> bool:
    """Whether a refund was certainly of a part: with all that was requested before it and all that was refunded at the
    processor alone, it is less than the payment. Failed refunds count, since they had not failed yet then."""
    refunds = refunds_of(payment.site_id, payment.id)
    until_then = sum(one.amount for one in refunds if one.created_at <= refund.created_at)
    elsewhere = max(0, payment.refunded_amount - sum(one.amount for one in refunds if is_made(one)))
    return until_then + elsewhere < payment.captured_amount


def send_refund(
    context: WorkContext, author: Author, processor: PaymentProcessor, refund_id: str, is_repeated: bool = False
) -> None:
    """Send a refund to the processor, which makes it once however often it is sent within a day, and save the outcome.
    Raises ProcessorError where it refused."""
    refund = db.session.get_one(PosRefund, refund_id, populate_existing=True)
    payment = db.session.get_one(PosTransaction, refund.transaction_id)
    ref, intent_id, amount = AccountRef(payment.processor_account_id), payment.processor_intent_id or "", refund.amount
    db.session.rollback()  # Nothing is held while the processor is waited for.
    try:
        answer = processor.refund(ref, intent_id, amount, f"pos-refund-{refund_id}", {REFUND_ID: refund_id})
    except (OutcomeUnknown, Busy, KeyReused) as unclear:
        message = unclear.message
        context.commit(lambda: settle_refund(author, refund_id, RefundState.UNKNOWN, error=message))
    except ProcessorError as refused:
        error = refused
        context.commit(lambda: _note_refusal(author, refund_id, error, is_repeated))
        raise
    else:
        state = RefundState.of(answer.status)
        context.commit(lambda: settle_refund(author, refund_id, state, answer.id, is_expected=not is_repeated))


def _note_refusal(author: Author, refund_id: str, refused: ProcessorError, is_repeated: bool) -> None:
    """Save the refusal of a refund: as FAILED, but as UNKNOWN where a repetition met a wrong configuration, since an
    earlier try may have been carried out."""
    is_misconfigured = isinstance(refused, Misconfigured)
    state = RefundState.UNKNOWN if is_misconfigured and is_repeated else RefundState.FAILED
    settle_refund(author, refund_id, state, error=refused.message, is_expected=not is_repeated)
    if is_misconfigured:
        raise_alert(author.clock, Cause.PROCESSOR_MISCONFIGURED, refused.message, author.site_id)


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
    payment = _lock_payment(refund.transaction_id)
    db.session.refresh(refund)
    if refund.status == RefundState.FAILED or (state is RefundState.UNKNOWN and is_made(refund)):
        return
    was_made, before = is_made(refund), refund.status
    if processor_refund_id is not None:
        refund.processor_refund_id = processor_refund_id
    refund.status, refund.error = state.value, error and error[:LONGEST_ERROR]
    schedule_refund_check(author, refund)
    db.session.flush()
    if before != refund.status:
        amount = format_money(refund.amount, payment.currency)
        detail = f"{amount} {error or ''}".strip()
        db.session.add(timeline_entry(author, payment, f"refund {state.value.lower()}", detail))
        refund_mails.request_mail(author, payment, refund)
    _follow_payment(author, payment, refund, was_made)
    if is_made(refund) and not was_made:
        end_surplus(author, payment, refund.amount)
    _end_unclear_anomaly(author, payment)
    _update_alert(author, payment, refund, is_expected)


def leave_to_admin(author: Author, refund_id: str) -> None:
    """Leave a refund to an admin, since nothing that the shop can read says whether it was made: one alert is raised.
    An event of the processor may still settle it."""
    is_news = db.session.get_one(PosRefund, refund_id).error != UNCLEAR
    settle_refund(author, refund_id, RefundState.UNKNOWN, error=UNCLEAR)
    refund = db.session.get_one(PosRefund, refund_id)
    if not is_news or refund.status != RefundState.UNKNOWN:
        return
    payment = db.session.get_one(PosTransaction, refund.transaction_id)
    detail = f"{format_money(refund.amount, payment.currency)} of payment {payment.id}: {UNCLEAR}."
    raise_alert(author.clock, Cause.PAYMENT_ANOMALY, detail, payment.site_id, payment.id)
    _replace_anomaly(payment, None, REFUND_UNCLEAR)


def apply_reported_refund(author: Author, transaction_id: str, reported: Refund) -> None:
    """Save a refund that the processor reported: one of the shop's, perhaps before the answer to its request came, or
    one made elsewhere, which is added."""
    payment = _lock_payment(transaction_id)
    refunds = card_refunds_of(payment.site_id, payment.id)
    by_id = [refund for refund in refunds if refund.processor_refund_id == reported.id]
    by_metadata = [refund for refund in refunds if _is_named(refund, reported)]
    found = next(iter(by_id or by_metadata), None)
    if found is None:
        found = _add_reported_refund(author, payment, reported)
    settle_refund(author, found.id, RefundState.of(reported.status), reported.id)


def _is_named(refund: PosRefund, reported: Refund) -> bool:
    """Whether the processor's refund names this one in its metadata. A failed refund is never matched: where money was
    given back after all, that is a refund of its own."""
    is_open = refund.processor_refund_id is None and refund.status != RefundState.FAILED
    return is_open and refund.id == reported.metadata.get(REFUND_ID)


def _add_reported_refund(author: Author, payment: PosTransaction, reported: Refund) -> PosRefund:
    refund = PosRefund(
        id=str(uuid.uuid4()),
        site_id=payment.site_id,
        transaction_id=payment.id,
        amount=reported.amount,
        reason=AT_THE_PROCESSOR,
        status=RefundState.UNKNOWN.value,
        requested_by=author.name[:100],
        created_at=author.now(),
        updated_at=author.now(),
    )
    db.session.add(refund)
    db.session.flush()
    return refund


def schedule_refund_check(author: Author, refund: PosRefund) -> None:
    """Set the time of a refund's next check: at growing intervals while it is unsettled, none afterwards."""
    refund.updated_at = author.now()
    if refund.status not in UNSETTLED:
        refund.next_check_at = None
        return
    refund.next_check_at = author.now() + CHECKED_AFTER[min(refund.checks, len(CHECKED_AFTER) - 1)]
    refund.checks += 1


def _follow_payment(author: Author, payment: PosTransaction, refund: PosRefund, was_made: bool) -> None:
    made = sum(other.amount for other in card_refunds_of(payment.site_id, payment.id) if is_made(other))
    before, session_id = payment.refunded_to_card, refund.session_id
    if is_made(refund):
        apply_refunds(author, payment.id, max(before, made), ACTION, session_id)
    elif was_made:
        apply_refunds(author, payment.id, max(before - refund.amount, made), f"{ACTION} failed", session_id)


def _update_alert(author: Author, payment: PosTransaction, refund: PosRefund, is_expected: bool) -> None:
    if refund.status == RefundState.SUCCEEDED:
        end_alert(author.clock, Cause.REFUND_FAILED, payment.site_id, payment.id)
        _replace_anomaly(payment, REFUND_FAILED, None)
    elif refund.status == RefundState.FAILED and not is_expected:
        amount = format_money(refund.amount, payment.currency)
        detail = f"{amount} of payment {payment.id}: {refund.error or 'refused later'}."
        raise_alert(author.clock, Cause.REFUND_FAILED, detail, payment.site_id, payment.id)
        _replace_anomaly(payment, None, REFUND_FAILED)


def _end_unclear_anomaly(author: Author, payment: PosTransaction) -> None:
    """End the anomaly and the alert of unclear refunds once all refunds of the payment are known."""
    unclear = any(refund.error == UNCLEAR for refund in refunds_of(payment.site_id, payment.id))
    if payment.anomaly == REFUND_UNCLEAR and not unclear:
        end_alert(author.clock, Cause.PAYMENT_ANOMALY, payment.site_id, payment.id)
        _replace_anomaly(payment, REFUND_UNCLEAR, None)


def _replace_anomaly(payment: PosTransaction, before: str | None, after: str | None) -> None:
    """Replace the anomaly `before` by `after`. Another one stays: it matters more."""
    db.session.refresh(payment)
    if payment.anomaly == before:
        payment.anomaly = after
        db.session.flush()


def _lock_payment(transaction_id: str) -> PosTransaction:
    query = select(PosTransaction).where(PosTransaction.id == transaction_id).with_for_update()
    return db.session.scalars(query.execution_options(populate_existing=True)).one()
