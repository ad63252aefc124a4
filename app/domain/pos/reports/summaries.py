"""The words of a transaction for staff: labels of states, anomalies and codes. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from app.domain.pos.payments.anomalies import anomaly_words

STATUS_LABELS: Mapping[str, str] = {
    "CREATING": "Waiting for a card",
    "PENDING": "Waiting for a card",
    "PROCESSING": "Processing",
    "AUTHORIZED": "Authorised",
    "SUCCEEDED": "Paid",
    "PARTIALLY_REFUNDED": "Partly refunded",
    "REFUNDED": "Refunded",
    "CANCELLED": "Cancelled",
    "FAILED": "Failed",
    "UNKNOWN": "Outcome unknown",
}
ADVICE: Mapping[str, str] = {
    "unexpected_payment": "Hand over the goods, or refund it.",
    "amount_differs": "Compare with the processor, and refund the difference.",
    "second_intent": "Look at the processor whether both were taken.",
    "order_paid_twice": "Refund one of the payments.",
    "refund_failed": "Refund it again, or pay the customer back in another way.",
    "disputed": "Send the evidence at the processor before its deadline.",
    "refund_unclear": "Look at the processor whether it was, before you give anything back again.",
}
TYPE_LABELS: Mapping[str, str] = {"QUICK_PAYMENT": "Quick payment", "ORDER_PAYMENT": "Order"}


def status_label(status: str) -> str:
    return STATUS_LABELS.get(status, status)


def anomaly_text(anomaly: str) -> str:
    """Return the sentences that say what an anomaly is and what to do about it."""
    return f"{in_words(anomaly_words(anomaly))}. {ADVICE.get(anomaly, 'Compare with the processor.')}"


def card_name(brand: str | None, last4: str | None) -> str:
    """Return the name of a card, such as `Visa •••• 4242`; "" where no card was read."""
    name = in_words(brand or "")
    return f"{name or 'Card'} •••• {last4}" if last4 else name


def in_words(code: str) -> str:
    """Return a code in words: `insufficient_funds` as “Insufficient funds”, `contactless_emv` as “Contactless EMV”."""
    text = code.replace("_", " ").strip().replace(" emv", " EMV")
    return text[:1].upper() + text[1:]
