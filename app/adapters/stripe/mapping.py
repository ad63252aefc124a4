"""Stripe's objects as the port's: pure, and the same for answers and for events."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from app.domain.pos.processor import CardDetails, Intent, IntentStatus, PaymentError, Refund, RefundStatus

Sent = Mapping[str, Any]
RECEIPT_FIELDS = {
    "applicationPreferredName": "application_preferred_name",
    "dedicatedFileName": "dedicated_file_name",
    "authorizationCode": "authorization_code",
    "cardholderVerificationMethod": "cardholder_verification_method",
    "accountType": "account_type",
}
REFUND_STATUS = {status.value: status for status in RefundStatus}  # Stripe's requires_action is pending to us.


def intent_of(sent: Sent) -> Intent:
    """Return the port's intent. It has card and refunded amount only where `latest_charge` was expanded. Raises
    KeyError and ValueError for what is no intent."""
    charge = _charge(sent)
    return Intent(
        id=sent["id"],
        amount=sent["amount"],
        currency=sent["currency"],
        status=IntentStatus(sent["status"]),
        created=moment(sent["created"]),
        amount_received=sent.get("amount_received") or 0,
        refunded=charge.get("amount_refunded") or 0,
        charge_id=charge.get("id") or "",
        client_secret=sent.get("client_secret"),
        card=_card(charge),
        last_error=_last_error(sent),
        metadata=dict(sent.get("metadata") or {}),
    )


def refund_of(sent: Sent) -> Refund:
    status = REFUND_STATUS.get(sent.get("status") or "", RefundStatus.PENDING)
    intent_id, metadata = reference(sent.get("payment_intent")) or "", dict(sent.get("metadata") or {})
    return Refund(sent["id"], intent_id, sent["amount"], status, metadata)


def moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def reference(value: object) -> str | None:
    """Return the id of a referenced object, which is sent as its id or expanded; None for anything else."""
    if isinstance(value, Mapping):
        value = value.get("id")
    return value if isinstance(value, str) else None


def _charge(sent: Sent) -> Sent:
    """Return the charge that took or holds the money, empty where there is none; that of a declined try is left out."""
    charge = sent.get("latest_charge")
    if isinstance(charge, str):
        return {"id": charge} if not sent.get("last_payment_error") else {}
    return charge if isinstance(charge, Mapping) and charge.get("status") != "failed" else {}


def _card(charge: Sent) -> CardDetails | None:
    card = (charge.get("payment_method_details") or {}).get("card_present")
    if not card:
        return None
    receipt = card.get("receipt") or {}
    return CardDetails(
        brand=card.get("brand") or "",
        last4=card.get("last4") or "",
        funding=card.get("funding") or "",
        read_method=card.get("read_method") or "",
        wallet=(card.get("wallet") or {}).get("type") or "",
        emv={ours: str(receipt[theirs]) for ours, theirs in RECEIPT_FIELDS.items() if receipt.get(theirs)},
    )


def _last_error(sent: Sent) -> PaymentError | None:
    error = sent.get("last_payment_error")
    if not error:
        return None
    code, charge_id = error.get("code") or error.get("type") or "unknown", reference(error.get("charge")) or ""
    return PaymentError(code, error.get("decline_code") or "", charge_id)
