"""The simulator's events: stored in the transaction of what they report, and sent to the shop by a job until it takes
them."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from app.adapters.simulator.models import SimulatorEvent, SimulatorIntent, SimulatorRefund
from app.adapters.simulator.storage import reading, writing
from app.adapters.simulator.views import intent_at, refund_at, refunded_at
from app.adapters.simulator.wire import event_body, intent_json, refund_json
from app.adapters.webhook_signatures import sign
from app.domain.pos.processor import Intent, IntentStatus
from app.domain.pos.simulator import Delivery, SentEvent

SIGNATURE_HEADER = "Stripe-Signature"
LATE = timedelta(seconds=10)
OVERTAKEN = timedelta(seconds=1)
SENT_FOR = timedelta(days=3)
FIRST_PAUSE = timedelta(seconds=5)  # After a failure; it doubles with each further one.
MOST_DOUBLINGS = 10
MOST_AT_ONCE = 200
OF_STATUS = {
    IntentStatus.REQUIRES_PAYMENT_METHOD: "payment_intent.payment_failed",
    IntentStatus.PROCESSING: "payment_intent.processing",
    IntentStatus.REQUIRES_CAPTURE: "payment_intent.amount_capturable_updated",
    IntentStatus.SUCCEEDED: "payment_intent.succeeded",
    IntentStatus.CANCELED: "payment_intent.canceled",
}


def note_creation(session: Session, row: SimulatorIntent, now: datetime) -> None:
    body = _body("payment_intent.created", row.account_id, now, intent_json(intent_at(row, now)))
    _store(session, body, now, now)


def note_intent(session: Session, row: SimulatorIntent, now: datetime, delivery: Delivery = Delivery.ONCE) -> None:
    """Store the event of an intent's new status and, where it is still to settle, that of the status after it."""
    intent = intent_at(row, now)
    first = now + LATE if delivery is Delivery.LATE else now
    body = _of_intent(row.account_id, intent, now)
    for _ in range(2 if delivery is Delivery.TWICE else 1):
        _store(session, body, now, first)
    if delivery is Delivery.OUT_OF_ORDER:
        before = replace(intent, status=IntentStatus.PROCESSING, amount_received=0, charge_id="", card=None)
        _store(session, _of_intent(row.account_id, before, now), now, now + OVERTAKEN)
    if row.settles_at is not None and row.settles_at > now:
        settled = _of_intent(row.account_id, intent_at(row, row.settles_at), row.settles_at)
        _store(session, settled, now, row.settles_at)


def note_refund(session: Session, row: SimulatorIntent, refund: SimulatorRefund, now: datetime) -> None:
    """Store the events of a refund, and that of its failure where it will fail."""
    charge = {"id": row.charge_id, "object": "charge", "payment_intent": row.id}
    refunded = charge | {"amount_refunded": refunded_at(row, now)}
    made = refund_json(refund_at(refund, now))
    _store(session, _body("refund.created", row.account_id, now, made), now, now)
    _store(session, _body("charge.refunded", row.account_id, now, refunded), now, now)
    if refund.fails_at is not None:
        failed = refund_json(refund_at(refund, refund.fails_at))
        body = _body("charge.refund.updated", row.account_id, refund.fails_at, failed)
        _store(session, body, now, refund.fails_at)


def due(now: datetime, waited: timedelta, secret: bytes) -> list[SentEvent]:
    query = select(SimulatorEvent.id, SimulatorEvent.body).where(SimulatorEvent.due_at <= now - waited)
    with reading() as session:
        rows = session.execute(query.order_by(SimulatorEvent.due_at, SimulatorEvent.id).limit(MOST_AT_ONCE)).all()
    seconds = int(now.timestamp())
    return [
        SentEvent(number, body.encode(), {SIGNATURE_HEADER: sign(secret, seconds, body.encode())})
        for number, body in rows
    ]


def forget(number: int) -> None:
    with writing() as session:
        session.execute(delete(SimulatorEvent).where(SimulatorEvent.id == number))


def postpone(number: int, now: datetime) -> None:
    with writing() as session:
        event = session.get(SimulatorEvent, number, with_for_update=True)
        if event is None:
            return
        if now - event.created_at > SENT_FOR:
            session.delete(event)
        event.due_at = now + FIRST_PAUSE * 2 ** min(event.attempts, MOST_DOUBLINGS)
        event.attempts += 1


def _of_intent(account_id: str, intent: Intent, at: datetime) -> str:
    """Return the event of an intent. As Stripe's, it names the charge and does not show it."""
    return _body(OF_STATUS[intent.status], account_id, at, intent_json(replace(intent, card=None, refunded=0)))


def _body(kind: str, account_id: str, at: datetime, about: Mapping[str, Any]) -> str:
    return event_body(f"evt_sim_{uuid.uuid4().hex[:24]}", kind, account_id, at, about)


def _store(session: Session, body: str, now: datetime, due_at: datetime) -> None:
    session.add(SimulatorEvent(body=body, created_at=now, due_at=due_at))
