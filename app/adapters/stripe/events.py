"""Stripe's webhooks: verified on the raw bytes before anything of them is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from app.adapters.sent_fields import Sent, event_object, flag, moment, optional_text, read_object, reference, text
from app.adapters.stripe.mapping import UnknownStatus, intent_of, refund_of
from app.adapters.webhook_signatures import verify
from app.domain.pos.processor import BadSignature, Intent, MalformedEvent, ProcessorEvent, Refund
from app.domain.shared.money import LARGEST

INTENT, REFUND = "payment_intent", "refund"


def event_of(raw: bytes, headers: Mapping[str, str], now: datetime, secrets: Sequence[str]) -> ProcessorEvent:
    """Return the event in a signed body. `secrets` are of the endpoints that send here: the account's own and the one
    of connected accounts. Raises BadSignature, and MalformedEvent for what is signed but no event."""
    header = next((value for name, value in headers.items() if name.lower() == "stripe-signature"), "")
    if not any(_is_signed(secret, header, raw, now) for secret in secrets):
        raise BadSignature("The event is not signed by the payment processor, or not within the last five minutes.")
    return _read(raw)


def _is_signed(secret: str, header: str, raw: bytes, now: datetime) -> bool:
    try:
        # The SDK's own check looks at the stamp only for being old, and by the machine's clock.
        verify(secret.strip().encode(), header, raw, now)
    except BadSignature:
        return False
    return True


def _read(raw: bytes) -> ProcessorEvent:
    """Return the event in a signed body. Raises MalformedEvent."""
    try:
        sent = read_object(raw)
        kind, about = event_object(sent)
        return ProcessorEvent(
            id=text(sent, "id"),
            type=text(sent, "type"),
            account_id=optional_text(sent, "account"),
            live=flag(sent, "livemode"),
            created=moment(sent, "created"),
            # A charge, a refund or a dispute names the intent; other objects have none.
            intent_id=text(about, "id") if kind == INTENT else reference(about, INTENT),
            intent=_intent(about) if kind == INTENT else None,
            refund=_refund(about) if kind == REFUND else None,
        )
    except ValueError as error:
        raise MalformedEvent(f"What was sent is no event of Stripe’s: {error}") from error


def _intent(about: Sent) -> Intent | None:
    """Return the intent of an event; None where an endpoint of another API version sends a status that we do not know,
    and where it is about more money than a payment of the shop: it can be read anew. Raises ValueError."""
    try:
        intent = intent_of({**about, "client_secret": None})
    except UnknownStatus:
        return None
    return intent if max(intent.amount, intent.amount_received, intent.refunded) <= LARGEST else None


def _refund(about: Sent) -> Refund | None:
    """Return the refund of an event; None where it is larger than any of the shop's. Raises ValueError."""
    refund = refund_of(about)
    return refund if refund.amount <= LARGEST else None
