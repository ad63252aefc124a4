"""The state machine of the simulator: what a tap, a capture, a cancellation and a refund make of a payment, and each
row as a value of the port at a moment. What time changes (a slow payment, a refund that fails later) is not written
when it happens: it follows from the row and the clock."""

from __future__ import annotations

import uuid
from datetime import datetime, timedelta

from app.adapters.simulator.models import SimulatorIntent, SimulatorRefund
from app.domain.pos.processor import (
    AccountRef,
    CardDetails,
    Intent,
    IntentRequest,
    IntentStatus,
    InvalidState,
    OutcomeUnknown,
    PaymentError,
    Refund,
    RefundStatus,
    Rejected,
)
from app.domain.pos.simulator import CARDS, Answer, CardNotRead, Tap

SLOW = timedelta(seconds=3)
SMALLEST = {"gbp": 30, "eur": 50, "usd": 50}
LARGEST = 99_999_999
REFUND_FAILS_AFTER = timedelta(seconds=5)


def intent_at(row: SimulatorIntent, now: datetime) -> Intent:
    """Return the intent as it is at a moment, without the client secret."""
    status = status_at(row, now)
    return Intent(
        id=row.id,
        amount=row.amount,
        currency=row.currency,
        status=status,
        created=row.created_at,
        amount_received=row.amount if status is IntentStatus.SUCCEEDED else 0,
        refunded=refunded_at(row, now),
        charge_id="" if row.error_code else row.charge_id or "",
        card=_card(row),
        last_error=_last_error(row),
        metadata=row.labels,
    )


def status_at(row: SimulatorIntent, now: datetime) -> IntentStatus:
    if row.settles_at is not None and now < row.settles_at:
        return IntentStatus.PROCESSING
    return IntentStatus(row.status)


def refunded_at(row: SimulatorIntent, now: datetime) -> int:
    refunds = (refund_at(refund, now) for refund in row.refunds)
    return sum(refund.amount for refund in refunds if refund.status is not RefundStatus.FAILED)


def refund_at(row: SimulatorRefund, now: datetime) -> Refund:
    has_failed = row.fails_at is not None and now >= row.fails_at
    status = RefundStatus.FAILED if has_failed else RefundStatus.SUCCEEDED
    return Refund(row.id, row.intent_id, row.amount, status, row.labels)


def _card(row: SimulatorIntent) -> CardDetails | None:
    """Return the card of the charge; a declined attempt leaves none."""
    if row.charge_id is None or row.card is None or row.error_code:
        return None
    authorization = f"{sum(map(ord, row.id)) * 7919 % 1_000_000:06}"  # Any six digits that stay the same.
    return CARDS[row.card].details(row.has_pin, authorization)


def _last_error(row: SimulatorIntent) -> PaymentError | None:
    return PaymentError(row.error_code, row.decline_code or "", row.charge_id or "") if row.error_code else None


def check_amount(request: IntentRequest) -> None:
    if request.amount < SMALLEST.get(request.currency, 1):
        raise Rejected("The amount is below what can be charged.", "amount_too_small")
    if request.amount > LARGEST:
        raise Rejected("The amount is above what can be charged.", "amount_too_large")


def new_intent(ref: AccountRef, request: IntentRequest, now: datetime) -> SimulatorIntent:
    row = SimulatorIntent(id=new_id("pi"), account_id=ref.account_id, refunds=[])
    row.amount, row.currency, row.description = request.amount, request.currency, request.description
    row.labels, row.status = dict(request.metadata), IntentStatus.REQUIRES_PAYMENT_METHOD.value
    row.created_at = now.replace(microsecond=0)
    return row


def present_card(row: SimulatorIntent, tap: Tap, now: datetime) -> bool:
    """Present a card to the reader; False for a repeated tap of the card that paid, which changes nothing. Raises
    CardNotRead, InvalidState, and OutcomeUnknown where the tap never reached the simulator."""
    status = status_at(row, now)
    if row.card == tap.card.name and status not in (IntentStatus.REQUIRES_PAYMENT_METHOD, IntentStatus.CANCELED):
        return False
    if status is not IntentStatus.REQUIRES_PAYMENT_METHOD:
        raise InvalidState("This payment expects no card.", intent_at(row, now))
    if tap.card.unreadable:
        code, reason = tap.card.unreadable
        raise CardNotRead(reason, code)
    if tap.card.asks_for_pin and tap.pin is None:
        raise CardNotRead("The card asks for its PIN.", "pin_required")
    if tap.card.answer is Answer.NEVER_MADE:
        raise OutcomeUnknown("The card reader had no answer in time.")
    declined = tap.card.issuer_declines(row.amount, tap.pin, is_second_tap=row.card == tap.card.name)
    row.card, row.has_pin = tap.card.name, tap.card.asks_for_pin
    row.charge_id = f"ch_sim_{uuid.uuid4().hex[:24]}"  # Of each attempt, also one that is declined.
    if declined:
        row.error_code, row.decline_code = declined.code, declined.decline_code or None
        return True
    is_slow = tap.card.becomes is IntentStatus.PROCESSING
    row.status = (IntentStatus.SUCCEEDED if is_slow else tap.card.becomes).value
    row.settles_at = now + SLOW if is_slow else None
    row.error_code = row.decline_code = None
    return True


def new_id(prefix: str) -> str:
    return f"{prefix}_sim_{uuid.uuid4().hex[:24]}"


def capture(row: SimulatorIntent, now: datetime) -> None:
    if status_at(row, now) is not IntentStatus.REQUIRES_CAPTURE:
        raise InvalidState("Only an authorised payment can be captured.", intent_at(row, now))
    row.status = IntentStatus.SUCCEEDED.value


def cancel(row: SimulatorIntent, now: datetime) -> None:
    if status_at(row, now) not in (IntentStatus.REQUIRES_PAYMENT_METHOD, IntentStatus.REQUIRES_CAPTURE):
        raise InvalidState("This payment can no longer be cancelled.", intent_at(row, now))
    row.status = IntentStatus.CANCELED.value


def new_refund(row: SimulatorIntent, amount: int | None, now: datetime) -> SimulatorRefund:
    """Return a new refund of an amount, or of all that is left where none is named. Raises Rejected."""
    if status_at(row, now) is not IntentStatus.SUCCEEDED:
        raise Rejected("This payment took no money that could be given back.", "charge_not_refundable")
    left = row.amount - refunded_at(row, now)
    if left == 0:
        raise Rejected("This payment was refunded already.", "charge_already_refunded")
    if amount is not None and not 0 < amount <= left:
        raise Rejected("The refund is larger than what is left of the payment.", "amount_too_large")
    fails_at = now + REFUND_FAILS_AFTER if row.card and CARDS[row.card].refunds_fail else None
    refund = SimulatorRefund(id=new_id("re"), account_id=row.account_id, intent_id=row.id)
    refund.amount, refund.fails_at, refund.created_at = amount or left, fails_at, now
    return refund
