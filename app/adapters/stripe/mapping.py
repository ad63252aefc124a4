"""Stripe's objects as the port's: pure, and the same for answers and for events."""

from __future__ import annotations

from app.adapters.sent_fields import (
    Sent,
    moment,
    optional_part,
    optional_text,
    optional_whole,
    part,
    reference,
    text,
    texts,
    whole,
)
from app.domain.pos.processor import CardDetails, Intent, IntentStatus, PaymentError, Refund, RefundStatus

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
