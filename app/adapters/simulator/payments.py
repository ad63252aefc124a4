"""Payments of the simulator: what a tap, a capture, a cancellation and a refund make of one, how it stands at a moment,
and the events that report it, in Stripe's JSON.

What time changes (a slow payment, a refund that fails later) is not written when it happens: it follows from the row
and the clock.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from enum import Enum
from typing import Any

from sqlalchemy.orm import Session

from app.adapters.simulator.models import SimulatorEvent, SimulatorIntent, SimulatorRefund
from app.adapters.stripe_objects import INTENT, RECEIPT_FIELDS, REFUND
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
from app.domain.pos.simulator import CARDS, Answer, CardNotRead, Delivery, Tap

SLOW = timedelta(seconds=3)
SMALLEST = {"gbp": 30, "eur": 50, "usd": 50}
LARGEST = 99_999_999
REFUND_FAILS_AFTER = timedelta(seconds=5)
LATE_AFTER = timedelta(seconds=10)
OUT_OF_ORDER_AFTER = timedelta(seconds=1)
WAITING, PROCESSING = IntentStatus.REQUIRES_PAYMENT_METHOD, IntentStatus.PROCESSING
AUTHORISED, PAID, CANCELED = IntentStatus.REQUIRES_CAPTURE, IntentStatus.SUCCEEDED, IntentStatus.CANCELED


class Action(Enum):
    """What may happen to a payment. The value is the refusal where its status does not allow that."""

    TAP = "This payment expects no card."
    SETTLE = "This payment is not being processed."
    CAPTURE = "Only an authorised payment can be captured."
    CANCEL = "This payment can no longer be cancelled."
    REFUND = "This payment took no money that could be given back."


# THE state machine: the statuses that an action may lead to; the card decides about a tap. `statuses_after` reads it.
TRANSITIONS: Mapping[tuple[IntentStatus, Action], tuple[IntentStatus, ...]] = {
    (WAITING, Action.TAP): (WAITING, PROCESSING, AUTHORISED, PAID),
    (WAITING, Action.CANCEL): (CANCELED,),
    (PROCESSING, Action.SETTLE): (PAID,),
    (AUTHORISED, Action.CAPTURE): (PAID,),
    (AUTHORISED, Action.CANCEL): (CANCELED,),
    (PAID, Action.REFUND): (PAID,),
}
EVENT_TYPES = {
    WAITING: "payment_intent.payment_failed",
    PROCESSING: "payment_intent.processing",
    AUTHORISED: "payment_intent.amount_capturable_updated",
    PAID: "payment_intent.succeeded",
    CANCELED: "payment_intent.canceled",
}


def new_id(prefix: str) -> str:
    return f"{prefix}_sim_{uuid.uuid4().hex[:24]}"


def new_intent(ref: AccountRef, request: IntentRequest, now: datetime) -> SimulatorIntent:
    """Return a new payment. Raises Rejected for an amount that no card can be charged."""
    if request.amount < SMALLEST.get(request.currency, 1):
        raise Rejected("The amount is below what can be charged.", "amount_too_small")
    if request.amount > LARGEST:
        raise Rejected("The amount is above what can be charged.", "amount_too_large")
    row = SimulatorIntent(id=new_id("pi"), account_id=ref.account_id, refunds=[])
    row.amount, row.currency, row.description = request.amount, request.currency, request.description
    row.labels, row.status = dict(request.metadata), WAITING.value
    row.created_at = now.replace(microsecond=0)
    return row


def statuses_after(row: SimulatorIntent, action: Action, now: datetime) -> tuple[IntentStatus, ...]:
    """Return the statuses that an action may lead to now. Raises InvalidState, and Rejected for a refund."""
    after = TRANSITIONS.get((status_at(row, now), action))
    if after is None and action is Action.REFUND:
        raise Rejected(action.value, "charge_not_refundable")
    if after is None:
        raise InvalidState(action.value, intent_at(row, now))
    return after


def capture(row: SimulatorIntent, now: datetime) -> None:
    row.status = statuses_after(row, Action.CAPTURE, now)[0].value


def cancel(row: SimulatorIntent, now: datetime) -> None:
    row.status = statuses_after(row, Action.CANCEL, now)[0].value


def present_card(row: SimulatorIntent, tap: Tap, now: datetime) -> bool:
    """Present a card to the reader; False for a repeated tap of the card that paid, which changes nothing. Raises
    CardNotRead, InvalidState, and OutcomeUnknown where the tap never reached the simulator."""
    card, is_second_tap = tap.card, row.card == tap.card.name
    if is_second_tap and status_at(row, now) not in (WAITING, CANCELED):
        return False
    may_become = statuses_after(row, Action.TAP, now)
    if card.unreadable:
        code, reason = card.unreadable
        raise CardNotRead(reason, code)
    if card.asks_for_pin and tap.pin is None:
        raise CardNotRead("The card asks for its PIN.", "pin_required")
    if card.answer is Answer.NEVER_MADE:
        raise OutcomeUnknown("The card reader had no answer in time.")
    declined = card.issuer_declines(row.amount, tap.pin, is_second_tap)
    becomes = WAITING if declined else card.becomes
    assert becomes in may_become
    row.card, row.has_pin = card.name, card.asks_for_pin
    row.charge_id = new_id("ch")  # Of each attempt, also one that is declined.
    row.error_code = declined.code if declined else None
    row.decline_code = declined.decline_code or None if declined else None
    # A slow payment is stored as it will end, with the time until which it is not there yet.
    row.status = TRANSITIONS.get((becomes, Action.SETTLE), (becomes,))[0].value
    row.settles_at = now + SLOW if becomes is PROCESSING else None
    return True


def new_refund(row: SimulatorIntent, amount: int | None, now: datetime) -> SimulatorRefund:
    """Return a new refund of an amount, or of all that is left where none is named. Raises Rejected."""
    statuses_after(row, Action.REFUND, now)
    left = row.amount - refunded_at(row, now)
    if left == 0:
        raise Rejected("This payment was refunded already.", "charge_already_refunded")
    if amount is not None and not 0 < amount <= left:
        raise Rejected("The refund is larger than what is left of the payment.", "amount_too_large")
    fails_at = now + REFUND_FAILS_AFTER if row.card and CARDS[row.card].refunds_fail else None
    refund = SimulatorRefund(id=new_id("re"), account_id=row.account_id, intent_id=row.id)
    refund.amount, refund.fails_at, refund.created_at = amount or left, fails_at, now
    return refund


def status_at(row: SimulatorIntent, now: datetime) -> IntentStatus:
    if row.settles_at is not None and now < row.settles_at:
        return PROCESSING
    return IntentStatus(row.status)


def refunded_at(row: SimulatorIntent, now: datetime) -> int:
    refunds = (refund_at(refund, now) for refund in row.refunds)
    return sum(refund.amount for refund in refunds if refund.status is not RefundStatus.FAILED)


def refund_at(row: SimulatorRefund, now: datetime) -> Refund:
    has_failed = row.fails_at is not None and now >= row.fails_at
    status = RefundStatus.FAILED if has_failed else RefundStatus.SUCCEEDED
    return Refund(row.id, row.intent_id, row.amount, status, row.labels)


def intent_at(row: SimulatorIntent, now: datetime) -> Intent:
    """Return the intent as it is at a moment, without the client secret. A declined attempt leaves neither a charge nor
    a card, only its error."""
    status, error, card = status_at(row, now), None, None
    if row.error_code:
        error = PaymentError(row.error_code, row.decline_code or "", row.charge_id or "")
    elif row.charge_id and row.card:
        authorization = f"{sum(map(ord, row.id)) * 7919 % 1_000_000:06}"  # Any six digits that stay the same.
        card = CARDS[row.card].details(row.has_pin, authorization)
    return Intent(
        id=row.id,
        amount=row.amount,
        currency=row.currency,
        status=status,
        created=row.created_at,
        amount_received=row.amount if status is PAID else 0,
        refunded=refunded_at(row, now),
        charge_id="" if error else row.charge_id or "",
        card=card,
        last_error=error,
        metadata=row.labels,
    )


def intent_json(intent: Intent) -> dict[str, Any]:
    """Return an intent as an answer of Stripe's shows it, with its charge and without the client secret."""
    charge = {
        "id": intent.charge_id,
        "amount_refunded": intent.refunded,
        "payment_method_details": {"card_present": intent.card and _card_json(intent.card)},
    }
    return _intent_json(intent, charge if intent.charge_id else None)


def _intent_json(intent: Intent, charge: dict[str, Any] | str | None) -> dict[str, Any]:
    error = intent.last_error
    return {
        "id": intent.id,
        "object": INTENT,
        "amount": intent.amount,
        "amount_received": intent.amount_received,
        "currency": intent.currency,
        "status": intent.status.value,
        "created": int(intent.created.timestamp()),
        "livemode": False,
        "latest_charge": charge,
        "last_payment_error": error
        and {"code": error.code, "decline_code": error.decline_code, "charge": error.charge_id or None},
        "metadata": dict(intent.metadata),
    }


def _card_json(card: CardDetails) -> dict[str, Any]:
    receipt = {theirs: card.emv[ours] for ours, theirs in RECEIPT_FIELDS.items() if ours in card.emv}
    plain = {name: getattr(card, name) for name in ("brand", "last4", "funding", "read_method")}
    return {**plain, "wallet": None, "receipt": receipt}


def refund_json(refund: Refund) -> dict[str, Any]:
    return {
        "id": refund.id,
        "object": REFUND,
        "payment_intent": refund.intent_id,
        "amount": refund.amount,
        "status": refund.status.value,
        "metadata": dict(refund.metadata),
    }


def store_creation_event(session: Session, row: SimulatorIntent, now: datetime) -> None:
    body = _event("payment_intent.created", row.account_id, now, _intent_json(intent_at(row, now), None))
    _store_event(session, body, now, now)


def store_status_events(
    session: Session, row: SimulatorIntent, now: datetime, delivery: Delivery = Delivery.ONCE
) -> None:
    """Store the event of an intent's new status and, where it is being processed, that of the status after it."""
    intent = intent_at(row, now)
    first = now + LATE_AFTER if delivery is Delivery.LATE else now
    body = _intent_event(row.account_id, intent, now)
    for _ in range(2 if delivery is Delivery.TWICE else 1):
        _store_event(session, body, now, first)
    if delivery is Delivery.OUT_OF_ORDER:
        before = replace(intent, status=PROCESSING, amount_received=0, charge_id="")
        _store_event(session, _intent_event(row.account_id, before, now), now, now + OUT_OF_ORDER_AFTER)
    if row.settles_at is not None and row.settles_at > now:
        settled = _intent_event(row.account_id, intent_at(row, row.settles_at), row.settles_at)
        _store_event(session, settled, now, row.settles_at)


def store_refund_events(session: Session, row: SimulatorIntent, refund: SimulatorRefund, now: datetime) -> None:
    """Store the events of a refund, and that of its failure where it will fail."""
    charge = {"id": row.charge_id, "object": "charge", "payment_intent": row.id}
    refunded = charge | {"amount_refunded": refunded_at(row, now)}
    created = refund_json(refund_at(refund, now))
    _store_event(session, _event("refund.created", row.account_id, now, created), now, now)
    _store_event(session, _event("charge.refunded", row.account_id, now, refunded), now, now)
    if refund.fails_at is not None:
        failed = refund_json(refund_at(refund, refund.fails_at))
        body = _event("charge.refund.updated", row.account_id, refund.fails_at, failed)
        _store_event(session, body, now, refund.fails_at)


def _intent_event(account_id: str, intent: Intent, at: datetime) -> str:
    """Return the event of an intent. As Stripe's, it names the charge and does not show it."""
    return _event(EVENT_TYPES[intent.status], account_id, at, _intent_json(intent, intent.charge_id or None))


def _event(kind: str, account_id: str, at: datetime, about: Mapping[str, Any]) -> str:
    event = {
        "id": new_id("evt"),
        "object": "event",
        "type": kind,
        "account": account_id or None,
        "created": int(at.timestamp()),
        "livemode": False,
        "data": {"object": about},
    }
    return json.dumps(event, separators=(",", ":"))


def _store_event(session: Session, body: str, now: datetime, due_at: datetime) -> None:
    session.add(SimulatorEvent(body=body, created_at=now, due_at=due_at))
