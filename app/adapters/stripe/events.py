"""Stripe's webhooks: verified on the raw bytes before anything of them is read."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime

from app.adapters.stripe.mapping import Sent, intent_of, moment, reference, refund_of
from app.adapters.webhook_signatures import verify
from app.domain.pos.processor import BadSignature, Intent, ProcessorEvent, Refund


def event_of(raw: bytes, headers: Mapping[str, str], now: datetime, secrets: Sequence[str]) -> ProcessorEvent:
    """Return the event in a signed body. `secrets` are of the endpoints that send here: the account's own and the one
    of connected accounts. Raises BadSignature."""
    header = next((value for name, value in headers.items() if name.lower() == "stripe-signature"), "")
    for secret in secrets:
        with suppress(BadSignature):
            # The SDK's own check looks at the stamp only for being old, and by the machine's clock.
            verify(secret.strip().encode(), header, raw, now)
            return _read(raw)
    raise BadSignature("The event is not signed by the payment processor, or not within the last five minutes.")


def _read(raw: bytes) -> ProcessorEvent:
    """Return the event in a signed body. Raises BadSignature for what is signed but no event: nothing can be done with
    it."""
    try:
        sent = json.loads(raw)
        about = sent["data"]["object"]
        return ProcessorEvent(
            id=sent["id"],
            type=sent["type"],
            account_id=sent.get("account") or "",
            live=bool(sent["livemode"]),
            created=moment(sent["created"]),
            intent_id=_intent_id(about),
            intent=_intent(about),
            refund=_refund(about),
        )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise BadSignature("What was sent is no event of Stripe’s.") from error


def _intent_id(about: Sent) -> str | None:
    """Return the id of the intent that an event is about: of the intent itself, or that which a charge, refund or
    dispute names; None where there is none."""
    return reference(about) if about.get("object") == "payment_intent" else reference(about.get("payment_intent"))


def _intent(about: Sent) -> Intent | None:
    """Return the intent of an event; None for another object, and where an endpoint of another API version sends a
    status that we do not know: it can be read anew."""
    if about.get("object") != "payment_intent":
        return None
    try:
        return intent_of({**about, "client_secret": None})
    except (KeyError, ValueError):
        return None


def _refund(about: Sent) -> Refund | None:
    return refund_of(about) if about.get("object") == "refund" else None
