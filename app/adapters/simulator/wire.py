"""Intents, refunds and events as JSON, in the shapes of Stripe's as far as the shop reads them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from app.domain.pos.processor import (
    BadSignature,
    CardDetails,
    Intent,
    IntentStatus,
    PaymentError,
    ProcessorEvent,
    Refund,
    RefundStatus,
)


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


def intent_of(sent: Mapping[str, Any]) -> Intent:
    card, error = sent["card_present"], sent["last_payment_error"]
    return Intent(
        id=sent["id"],
        amount=sent["amount"],
        currency=sent["currency"],
        status=IntentStatus(sent["status"]),
        created=_moment(sent["created"]),
        amount_received=sent["amount_received"],
        refunded=sent["amount_refunded"],
        charge_id=sent["latest_charge"] or "",
        card=None if card is None else CardDetails(**card),
        last_error=None if error is None else PaymentError(**error),
        metadata=sent["metadata"],
    )


def refund_json(refund: Refund) -> dict[str, Any]:
    return {
        "id": refund.id,
        "object": "refund",
        "payment_intent": refund.intent_id,
        "amount": refund.amount,
        "status": refund.status.value,
        "metadata": dict(refund.metadata),
    }


def refund_of(sent: Mapping[str, Any]) -> Refund:
    status = RefundStatus(sent["status"])
    return Refund(sent["id"], sent["payment_intent"], sent["amount"], status, sent.get("metadata") or {})


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
    """Return the event of bytes whose signature holds. Raises BadSignature for what the simulator does not write."""
    try:
        sent = json.loads(raw)
        about = sent["data"]["object"]
        kind = about["object"]
        return ProcessorEvent(
            id=sent["id"],
            type=sent["type"],
            account_id=sent["account"] or "",
            live=sent["livemode"],
            created=_moment(sent["created"]),
            intent_id=about["id"] if kind == "payment_intent" else about["payment_intent"],
            intent=intent_of(about) if kind == "payment_intent" else None,
            refund=refund_of(about) if kind == "refund" else None,
        )
    except (ValueError, KeyError, TypeError):
        raise BadSignature("This is no event of the payment simulator.") from None


def _moment(seconds: int) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
