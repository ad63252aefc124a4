"""Intents, refunds and events of the simulator as JSON, in the shapes of Stripe's as far as the shop reads them; and
its events on their way: stored in the transaction of what they report, and sent to the shop by a job until it takes
them."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from dataclasses import asdict, replace
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from app.adapters.sent_fields import (
    Sent,
    event_object,
    flag,
    moment,
    optional_text,
    part,
    read_object,
    text,
    texts,
    whole,
)
from app.adapters.simulator.models import SimulatorEvent, SimulatorIntent, SimulatorRefund, reading, writing
from app.adapters.simulator.state import intent_at, refund_at, refunded_at
from app.adapters.webhook_signatures import sign
from app.domain.pos.processor import (
    CardDetails,
    Intent,
    IntentStatus,
    MalformedEvent,
    PaymentError,
    ProcessorEvent,
    Refund,
    RefundStatus,
)
from app.domain.pos.simulator import Delivery, SentEvent
from app.domain.shared.money import LARGEST

INTENT, REFUND = "payment_intent", "refund"
SIGNATURE_HEADER = "Stripe-Signature"
LATE_AFTER = timedelta(seconds=10)
OUT_OF_ORDER_AFTER = timedelta(seconds=1)
SENT_FOR = timedelta(days=3)
FIRST_PAUSE = timedelta(seconds=5)  # After a failure; it doubles with each further one.
MOST_DOUBLINGS = 10
MOST_AT_ONCE = 200
EVENT_TYPES = {
    IntentStatus.REQUIRES_PAYMENT_METHOD: "payment_intent.payment_failed",
    IntentStatus.PROCESSING: "payment_intent.processing",
    IntentStatus.REQUIRES_CAPTURE: "payment_intent.amount_capturable_updated",
    IntentStatus.SUCCEEDED: "payment_intent.succeeded",
    IntentStatus.CANCELED: "payment_intent.canceled",
}


def intent_json(intent: Intent) -> dict[str, Any]:
    """Return an intent as JSON, without the client secret."""
    return {
        "id": intent.id,
        "object": "payment_intent",
        "amount": intent.amount,
        "amount_received": intent.amount_received,
        "amount_refunded": intent.refunded,
        "currency": intent.currency,
        "status": intent.status.value,
        "created": int(intent.created.timestamp()),
        "livemode": False,
        "latest_charge": intent.charge_id or None,
        "card_present": None if intent.card is None else asdict(intent.card),
        "last_payment_error": None if intent.last_error is None else asdict(intent.last_error),
        "metadata": dict(intent.metadata),
    }


def intent_of(sent: Sent) -> Intent:
    """Return the intent of JSON. Raises ValueError for what is none."""
    return Intent(
        id=text(sent, "id"),
        amount=whole(sent, "amount", LARGEST),
        currency=text(sent, "currency"),
        status=IntentStatus(text(sent, "status")),
        created=moment(sent, "created"),
        amount_received=whole(sent, "amount_received", LARGEST),
        refunded=whole(sent, "amount_refunded", LARGEST),
        charge_id=optional_text(sent, "latest_charge"),
        card=_card(sent),
        last_error=_last_error(sent),
        metadata=texts(sent, "metadata"),
    )


def _card(sent: Sent) -> CardDetails | None:
    if sent["card_present"] is None:
        return None
    card = part(sent, "card_present")
    plain = {name: optional_text(card, name) for name in ("brand", "last4", "funding", "read_method", "wallet")}
    return CardDetails(**plain, emv=texts(card, "emv"))


def _last_error(sent: Sent) -> PaymentError | None:
    if sent["last_payment_error"] is None:
        return None
    error = part(sent, "last_payment_error")
    return PaymentError(text(error, "code"), optional_text(error, "decline_code"), optional_text(error, "charge_id"))


def refund_json(refund: Refund) -> dict[str, Any]:
    return {
        "id": refund.id,
        "object": "refund",
        "payment_intent": refund.intent_id,
        "amount": refund.amount,
        "status": refund.status.value,
        "metadata": dict(refund.metadata),
    }


def refund_of(sent: Sent) -> Refund:
    """Return the refund of JSON. Raises ValueError for what is none."""
    status, metadata = RefundStatus(text(sent, "status")), texts(sent, "metadata")
    return Refund(text(sent, "id"), text(sent, "payment_intent"), whole(sent, "amount", LARGEST), status, metadata)


def event_of(raw: bytes) -> ProcessorEvent:
    """Return the event of bytes whose signature holds. Raises MalformedEvent for what the simulator does not write."""
    try:
        sent = read_object(raw)
        kind, about = event_object(sent)
        return ProcessorEvent(
            id=text(sent, "id"),
            type=text(sent, "type"),
            account_id=optional_text(sent, "account"),
            live=flag(sent, "livemode"),
            created=moment(sent, "created"),
            intent_id=text(about, "id") if kind == INTENT else text(about, INTENT),
            intent=intent_of(about) if kind == INTENT else None,
            refund=refund_of(about) if kind == REFUND else None,
        )
    except (KeyError, ValueError) as error:
        raise MalformedEvent(f"This is no event of the payment simulator: {error}") from error


def note_creation(session: Session, row: SimulatorIntent, now: datetime) -> None:
    body = _event("payment_intent.created", row.account_id, now, intent_json(intent_at(row, now)))
    _store_event(session, body, now, now)


def note_intent(session: Session, row: SimulatorIntent, now: datetime, delivery: Delivery = Delivery.ONCE) -> None:
    """Store the event of an intent's new status and, where it is still to settle, that of the status after it."""
    intent = intent_at(row, now)
    first = now + LATE_AFTER if delivery is Delivery.LATE else now
    body = _intent_event(row.account_id, intent, now)
    for _ in range(2 if delivery is Delivery.TWICE else 1):
        _store_event(session, body, now, first)
    if delivery is Delivery.OUT_OF_ORDER:
        before = replace(intent, status=IntentStatus.PROCESSING, amount_received=0, charge_id="", card=None)
        _store_event(session, _intent_event(row.account_id, before, now), now, now + OUT_OF_ORDER_AFTER)
    if row.settles_at is not None and row.settles_at > now:
        settled = _intent_event(row.account_id, intent_at(row, row.settles_at), row.settles_at)
        _store_event(session, settled, now, row.settles_at)


def note_refund(session: Session, row: SimulatorIntent, refund: SimulatorRefund, now: datetime) -> None:
    """Store the events of a refund, and that of its failure where it will fail."""
    charge = {"id": row.charge_id, "object": "charge", "payment_intent": row.id}
    refunded = charge | {"amount_refunded": refunded_at(row, now)}
    made = refund_json(refund_at(refund, now))
    _store_event(session, _event("refund.created", row.account_id, now, made), now, now)
    _store_event(session, _event("charge.refunded", row.account_id, now, refunded), now, now)
    if refund.fails_at is not None:
        failed = refund_json(refund_at(refund, refund.fails_at))
        body = _event("charge.refund.updated", row.account_id, refund.fails_at, failed)
        _store_event(session, body, now, refund.fails_at)


def due_events(now: datetime, waited: timedelta, secret: bytes) -> list[SentEvent]:
    query = select(SimulatorEvent.id, SimulatorEvent.body).where(SimulatorEvent.due_at <= now - waited)
    with reading() as session:
        rows = session.execute(query.order_by(SimulatorEvent.due_at, SimulatorEvent.id).limit(MOST_AT_ONCE)).all()
    seconds = int(now.timestamp())
    return [
        SentEvent(number, body.encode(), {SIGNATURE_HEADER: sign(secret, seconds, body.encode())})
        for number, body in rows
    ]


def delete_event(number: int) -> None:
    with writing() as session:
        session.execute(delete(SimulatorEvent).where(SimulatorEvent.id == number))


def postpone_event(number: int, now: datetime) -> None:
    with writing() as session:
        event = session.get(SimulatorEvent, number, with_for_update=True)
        if event is None:
            return
        if now - event.created_at > SENT_FOR:
            session.delete(event)
        event.due_at = now + FIRST_PAUSE * 2 ** min(event.attempts, MOST_DOUBLINGS)
        event.attempts += 1


def _event(kind: str, account_id: str, at: datetime, about: Mapping[str, Any]) -> str:
    event = {
        "id": f"evt_sim_{uuid.uuid4().hex[:24]}",
        "object": "event",
        "type": kind,
        "account": account_id or None,
        "created": int(at.timestamp()),
        "livemode": False,
        "data": {"object": about},
    }
    return json.dumps(event, separators=(",", ":"))


def _intent_event(account_id: str, intent: Intent, at: datetime) -> str:
    """Return the event of an intent. As Stripe's, it names the charge and does not show it."""
    return _event(EVENT_TYPES[intent.status], account_id, at, intent_json(replace(intent, card=None, refunded=0)))


def _store_event(session: Session, body: str, now: datetime, due_at: datetime) -> None:
    session.add(SimulatorEvent(body=body, created_at=now, due_at=due_at))
