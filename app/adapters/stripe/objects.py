"""Stripe's objects as the port's, the same for answers and for events; and its webhooks, verified on the raw bytes
before anything of them is read. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from app.adapters.sent_fields import (
    Sent,
    event_object,
    flag,
    moment,
    optional_part,
    optional_text,
    optional_whole,
    part,
    read_object,
    reference,
    text,
    texts,
    whole,
)
from app.adapters.webhook_signatures import verify
from app.domain.pos.processor import (
    BadSignature,
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

RECEIPT_FIELDS = {
    "applicationPreferredName": "application_preferred_name",
    "dedicatedFileName": "dedicated_file_name",
    "authorizationCode": "authorization_code",
    "cardholderVerificationMethod": "cardholder_verification_method",
    "accountType": "account_type",
}
STATUSES = frozenset(IntentStatus)
REFUND_STATUS = {status.value: status for status in RefundStatus}  # Stripe's requires_action is pending to us.
INTENT, REFUND = "payment_intent", "refund"


class UnknownStatus(ValueError):
    """The status of the intent belongs to another version of the API."""


def intent_of(sent: Sent) -> Intent:
    """Return the port's intent. It has card and refunded amount only where `latest_charge` was expanded. Raises
    ValueError for what is no intent, and UnknownStatus for one with a status that we do not know."""
    charge = _charge(sent)
    return Intent(
        id=text(sent, "id"),
        amount=whole(sent, "amount"),
        currency=text(sent, "currency"),
        created=moment(sent, "created"),
        amount_received=optional_whole(sent, "amount_received"),
        refunded=optional_whole(charge, "amount_refunded"),
        charge_id=optional_text(charge, "id"),
        client_secret=optional_text(sent, "client_secret") or None,
        card=_card(charge),
        last_error=_last_error(sent),
        metadata=texts(sent, "metadata"),
        status=_status(sent),  # Last, so that an unknown status says that all else is sound.
    )


def refund_of(sent: Sent) -> Refund:
    """Return the port's refund. Raises ValueError for what is none."""
    status = REFUND_STATUS.get(optional_text(sent, "status"), RefundStatus.PENDING)
    intent_id = reference(sent, "payment_intent") or ""
    return Refund(text(sent, "id"), intent_id, whole(sent, "amount"), status, texts(sent, "metadata"))


def _status(sent: Sent) -> IntentStatus:
    status = text(sent, "status")
    if status not in STATUSES:
        raise UnknownStatus(f"The status {status} is not known.")
    return IntentStatus(status)


def _charge(sent: Sent) -> Sent:
    """Return the charge that took or holds the money, empty where there is none; that of a declined try is left out."""
    if isinstance(sent.get("latest_charge"), str):
        charge_id = text(sent, "latest_charge")
        return {} if sent.get("last_payment_error") else {"id": charge_id}
    charge = optional_part(sent, "latest_charge")
    return charge if optional_text(charge, "status") != "failed" else {}


def _card(charge: Sent) -> CardDetails | None:
    card = optional_part(optional_part(charge, "payment_method_details"), "card_present")
    if not card:
        return None
    receipt = optional_part(card, "receipt")
    return CardDetails(
        brand=optional_text(card, "brand"),
        last4=optional_text(card, "last4"),
        funding=optional_text(card, "funding"),
        read_method=optional_text(card, "read_method"),
        wallet=optional_text(optional_part(card, "wallet"), "type"),
        emv={ours: value for ours, theirs in RECEIPT_FIELDS.items() if (value := optional_text(receipt, theirs))},
    )


def _last_error(sent: Sent) -> PaymentError | None:
    if sent.get("last_payment_error") is None:
        return None
    error = part(sent, "last_payment_error")
    code = optional_text(error, "code") or optional_text(error, "type") or "unknown"
    return PaymentError(code, optional_text(error, "decline_code"), reference(error, "charge") or "")


def event_of(raw: bytes, headers: Mapping[str, str], now: datetime, secrets: Sequence[str]) -> ProcessorEvent:
    """Return the event in a signed body. `secrets` are of the endpoints that send here: the account's own and the one
    of connected accounts. Raises BadSignature, and MalformedEvent for what is signed but no event."""
    header = next((value for name, value in headers.items() if name.lower() == "stripe-signature"), "")
    if not any(_is_signed(secret, header, raw, now) for secret in secrets):
        raise BadSignature("The event is not signed by the payment processor, or not within the last five minutes.")
    return _read_event(raw)


def _is_signed(secret: str, header: str, raw: bytes, now: datetime) -> bool:
    try:
        # The SDK's own check looks at the stamp only for being old, and by the machine's clock.
        verify(secret.strip().encode(), header, raw, now)
    except BadSignature:
        return False
    return True


def _read_event(raw: bytes) -> ProcessorEvent:
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
            intent=_intent_of_event(about) if kind == INTENT else None,
            refund=_refund_of_event(about) if kind == REFUND else None,
        )
    except ValueError as error:
        raise MalformedEvent(f"What was sent is no event of Stripe’s: {error}") from error


def _intent_of_event(about: Sent) -> Intent | None:
    """Return the intent of an event; None where an endpoint of another API version sends a status that we do not know,
    and where it is about more money than a payment of the shop: it can be read anew. Raises ValueError."""
    try:
        intent = intent_of({**about, "client_secret": None})
    except UnknownStatus:
        return None
    return intent if max(intent.amount, intent.amount_received, intent.refunded) <= LARGEST else None


def _refund_of_event(about: Sent) -> Refund | None:
    """Return the refund of an event; None where it is larger than any of the shop's. Raises ValueError."""
    refund = refund_of(about)
    return refund if refund.amount <= LARGEST else None
