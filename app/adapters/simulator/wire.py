"""Intents, refunds and events as JSON, in the shapes of Stripe's as far as the shop reads them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any

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
from app.domain.shared.money import LARGEST

INTENT, REFUND = "payment_intent", "refund"


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


def event_body(event_id: str, kind: str, account_id: str, at: datetime, about: Mapping[str, Any]) -> str:
    event = {
        "id": event_id,
        "object": "event",
        "type": kind,
        "account": account_id or None,
        "created": int(at.timestamp()),
        "livemode": False,
        "data": {"object": about},
    }
    return json.dumps(event, separators=(",", ":"))


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
