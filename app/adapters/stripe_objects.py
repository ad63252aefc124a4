"""Stripe's objects as the port's, the same for answers and for events, and the same for Stripe and the simulator, which
speaks Stripe's JSON. Pure.

Each field is read as of the type that Stripe's documentation gives: another type raises ValueError, so that nothing of
such an event or answer is used.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from app.domain.pos.processor import (
    CardDetails,
    Intent,
    IntentStatus,
    MalformedEvent,
    PaymentError,
    ProcessorEvent,
    Reader,
    ReaderAction,
    ReaderActionStatus,
    ReaderNotFound,
    ReaderStatus,
    Refund,
    RefundStatus,
)
from app.domain.shared import strict_json
from app.domain.shared.money import LARGEST

Sent = Mapping[str, Any]
MOST_MARKS = 50_000  # Brackets and commas; an event has some hundred.
LONGEST_TEXT = 255  # Characters, as the columns of ids have.
LARGEST_WHOLE = 2**63 - 1
LAST_SECOND = 253_402_300_799  # Of the year 9999, the last one that a datetime has.
INTENT, REFUND, READER = "payment_intent", "refund", "terminal.reader"
ABOUT_MONEY = (INTENT, "charge", REFUND, "dispute")
AMOUNTS = ("amount", "amount_captured", "amount_received", "amount_refunded")
RECEIPT_FIELDS = {
    "applicationPreferredName": "application_preferred_name",
    "dedicatedFileName": "dedicated_file_name",
    "authorizationCode": "authorization_code",
    "cardholderVerificationMethod": "cardholder_verification_method",
    "accountType": "account_type",
}
STATUSES = frozenset(IntentStatus)
REFUND_STATUS = {status.value: status for status in RefundStatus}  # Stripe's requires_action is pending to us.


class UnknownStatus(ValueError):
    """The status of the intent belongs to another version of the API."""


def intent_of(sent: Sent) -> Intent:
    """Return the port's intent. It has card and refunded amount only where `latest_charge` was expanded. Raises
    ValueError for what is no intent, and UnknownStatus for one with a status that we do not know."""
    charge = _charge_of(sent)
    return Intent(
        id=text(sent, "id"),
        amount=whole(sent, "amount"),
        currency=text(sent, "currency"),
        created=moment(sent, "created"),
        amount_received=optional_whole(sent, "amount_received"),
        refunded=optional_whole(charge, "amount_refunded"),
        charge_id=optional_text(charge, "id"),
        client_secret=optional_text(sent, "client_secret") or None,
        card=_card_of(charge),
        last_error=_last_error_of(sent),
        metadata=texts(sent, "metadata"),
        status=_status_of(sent),  # Last, so that an unknown status says that all else is sound.
    )


def _status_of(sent: Sent) -> IntentStatus:
    status = text(sent, "status")
    if status not in STATUSES:
        raise UnknownStatus(f"The status {status} is not known.")
    return IntentStatus(status)


def _charge_of(sent: Sent) -> Sent:
    """Return the charge that took or holds the money, empty where there is none; that of a declined try is left out."""
    if isinstance(sent.get("latest_charge"), str):
        charge_id = text(sent, "latest_charge")
        return {} if sent.get("last_payment_error") else {"id": charge_id}
    charge = optional_part(sent, "latest_charge")
    return charge if optional_text(charge, "status") != "failed" else {}


def _card_of(charge: Sent) -> CardDetails | None:
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


def _last_error_of(sent: Sent) -> PaymentError | None:
    if sent.get("last_payment_error") is None:
        return None
    error = part(sent, "last_payment_error")
    code = optional_text(error, "code") or optional_text(error, "type") or "unknown"
    return PaymentError(code, optional_text(error, "decline_code"), reference(error, "charge") or "")


def refund_of(sent: Sent) -> Refund:
    """Return the port's refund. Raises ValueError for what is none."""
    status = REFUND_STATUS.get(optional_text(sent, "status"), RefundStatus.PENDING)
    intent_id = reference(sent, "payment_intent") or ""
    return Refund(text(sent, "id"), intent_id, whole(sent, "amount"), status, texts(sent, "metadata"))


def reader_of(sent: Sent) -> Reader:
    """Return the port's reader. Raises ValueError for what is none, and ReaderNotFound for one that is no smart
    reader."""
    reader = smart_reader_of(sent)
    if reader is None:
        raise ReaderNotFound
    return reader


def smart_reader_of(sent: Sent) -> Reader | None:
    """Return the port's reader, None for one that Stripe does not drive: it was removed, or it belongs to a phone and
    has no status. Raises ValueError for what is no reader."""
    if sent.get("deleted") is True or sent.get("status") is None:
        return None
    action = optional_part(sent, "action")
    return Reader(
        id=text(sent, "id"),
        label=optional_text(sent, "label"),
        device_type=optional_text(sent, "device_type"),
        status=ReaderStatus.ONLINE if text(sent, "status") == "online" else ReaderStatus.OFFLINE,
        location_id=reference(sent, "location") or "",
        action=_action_of(action) if action else None,
    )


def _action_of(action: Sent) -> ReaderAction:
    return ReaderAction(
        type=text(action, "type"),
        status=ReaderActionStatus(text(action, "status")),
        intent_id=_intent_of_action(action),
        failure_code=optional_text(action, "failure_code") or None,
        failure_message=long_text(action, "failure_message") or None,
    )


def _intent_of_action(action: Sent) -> str | None:
    """Return the id of the payment that an action is about: its part under the name of its type names it."""
    return reference(optional_part(action, text(action, "type")), INTENT)


def event_of(raw: bytes) -> ProcessorEvent:
    """Return the event in a body whose signature was verified. Raises MalformedEvent."""
    try:
        sent = _object("body", strict_json.loads(raw, MOST_MARKS))
        about = part(part(sent, "data"), "object")
        kind = text(about, "object")
        texts(about, "metadata")
        if kind in ABOUT_MONEY:  # Fields that are not used here are checked as well.
            text(about, "id")
            for name in AMOUNTS:
                optional_whole(about, name)
        return ProcessorEvent(
            id=text(sent, "id"),
            type=text(sent, "type"),
            account_id=optional_text(sent, "account"),
            live=flag(sent, "livemode"),
            created=moment(sent, "created"),
            intent_id=_intent_id_of_event(kind, about),
            intent=_intent_of_event(about) if kind == INTENT else None,
            refund=_refund_of_event(about) if kind == REFUND else None,
        )
    except ValueError as error:
        raise MalformedEvent(f"What was sent is no event of Stripe’s: {error}") from error


def _intent_id_of_event(kind: str, about: Sent) -> str | None:
    """Return the id of the intent that an event is about. A charge, a refund or a dispute names it, a reader in its
    action; other objects have none."""
    if kind == INTENT:
        return text(about, "id")
    if kind == READER:
        action = optional_part(about, "action")
        return _intent_of_action(action) if action else None
    return reference(about, INTENT)


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


def text(sent: Sent, name: str) -> str:
    value = sent.get(name)
    if not isinstance(value, str) or not 0 < len(value) <= LONGEST_TEXT:
        raise ValueError(f"{name} is no text of 1 to {LONGEST_TEXT} characters.")
    return value


def optional_text(sent: Sent, name: str) -> str:
    """Return a text, empty where the field is missing, null or empty."""
    return text(sent, name) if sent.get(name) not in (None, "") else ""


def long_text(sent: Sent, name: str) -> str:
    """Return the beginning of a text of any length, empty where the field is missing or null."""
    value = sent.get(name)
    if value is not None and not isinstance(value, str):
        raise ValueError(f"{name} is no text.")
    return (value or "")[:LONGEST_TEXT]


def whole(sent: Sent, name: str, most: int = LARGEST_WHOLE) -> int:
    """Return a whole number from 0 to `most`."""
    value = sent.get(name)
    if type(value) is not int or not 0 <= value <= most:
        raise ValueError(f"{name} is no whole number from 0 to {most}.")
    return value


def optional_whole(sent: Sent, name: str) -> int:
    """Return a whole number, 0 where the field is missing or null."""
    return 0 if sent.get(name) is None else whole(sent, name)


def flag(sent: Sent, name: str) -> bool:
    value = sent.get(name)
    if not isinstance(value, bool):
        raise ValueError(f"{name} is neither true nor false.")
    return value


def moment(sent: Sent, name: str) -> datetime:
    """Return a time that is sent as seconds since 1970."""
    return datetime.fromtimestamp(whole(sent, name, LAST_SECOND), UTC)


def part(sent: Sent, name: str) -> Sent:
    return _object(name, sent.get(name))


def optional_part(sent: Sent, name: str) -> Sent:
    """Return an object, empty where the field is missing or null."""
    return {} if sent.get(name) is None else part(sent, name)


def parts(sent: Sent, name: str) -> list[Sent]:
    """Return a list of objects."""
    value = sent.get(name)
    if not isinstance(value, list):
        raise ValueError(f"{name} is no list.")
    return [_object(name, item) for item in value]


def texts(sent: Sent, name: str) -> dict[str, str]:
    """Return an object whose values are texts, empty where the field is missing or null."""
    found = dict(optional_part(sent, name))
    if not all(isinstance(value, str) for value in found.values()):
        raise ValueError(f"{name} holds something other than texts.")
    return found


def reference(sent: Sent, name: str) -> str | None:
    """Return the id of a referenced object, which is sent as its id or expanded; None where the field is missing or
    null."""
    value = sent.get(name)
    if value is None:
        return None
    return text(value, "id") if isinstance(value, Mapping) else text(sent, name)


def _object(name: str, value: object) -> Sent:
    if not isinstance(value, Mapping):
        raise ValueError(f"{name} is no object.")
    return value
