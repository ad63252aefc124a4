"""The states of a transaction: which may follow which, what changes when its intent is read or nothing is known of it,
and the labels of states and anomalies. Pure. Source: the state table of the payments contract, kept in
docs/payments.md."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Protocol

from app.domain.pos.processor import Intent, IntentStatus

CARD, CASH = "CARD", "CASH"  # Tenders.
CHECKED_AFTER = tuple(timedelta(seconds=seconds) for seconds in (5, 15, 60, 300, 900, 3600))
ABANDONED_AFTER = timedelta(minutes=30)
# Anomalies: what no rule can settle.
UNEXPECTED_PAYMENT, OTHER_AMOUNT, SECOND_INTENT = "unexpected_payment", "amount_differs", "second_intent"
PAID_TWICE, DISPUTED = "order_paid_twice", "disputed"
REFUND_FAILED, REFUND_UNCLEAR = "refund_failed", "refund_unclear"


class TransactionStatus(StrEnum):
    CREATING = "CREATING"
    PENDING = "PENDING"
    PROCESSING = "PROCESSING"
    AUTHORIZED = "AUTHORIZED"
    SUCCEEDED = "SUCCEEDED"
    CANCELLED = "CANCELLED"
    FAILED = "FAILED"
    UNKNOWN = "UNKNOWN"
    PARTIALLY_REFUNDED = "PARTIALLY_REFUNDED"
    REFUNDED = "REFUNDED"

    @property
    def shown(self) -> TransactionStatus:
        """The status as clients see it, for whom CREATING is PENDING."""
        return TransactionStatus.PENDING if self is TransactionStatus.CREATING else self


_S = TransactionStatus

OPEN_STATUSES = frozenset({_S.CREATING, _S.PENDING, _S.PROCESSING, _S.AUTHORIZED, _S.UNKNOWN})

WAITING_STATUSES = frozenset({_S.CREATING, _S.PENDING})  # No card was held to the reader, or it was declined.

PAID_STATUSES = frozenset({_S.SUCCEEDED, _S.PARTIALLY_REFUNDED, _S.REFUNDED})

OF_INTENT: dict[IntentStatus, TransactionStatus] = {
    IntentStatus.REQUIRES_PAYMENT_METHOD: _S.PENDING,
    IntentStatus.REQUIRES_CONFIRMATION: _S.PENDING,
    IntentStatus.REQUIRES_ACTION: _S.PENDING,
    IntentStatus.PROCESSING: _S.PROCESSING,
    IntentStatus.REQUIRES_CAPTURE: _S.AUTHORIZED,
    IntentStatus.SUCCEEDED: _S.SUCCEEDED,
    IntentStatus.CANCELED: _S.CANCELLED,
}


def status_after(current: TransactionStatus, intent: IntentStatus) -> TransactionStatus:
    """Return the status of a transaction whose intent was just read. Nothing but refunds follows SUCCEEDED; a cancelled
    or failed transaction becomes SUCCEEDED where the processor says that it was paid, and else stays."""
    read = OF_INTENT[intent]
    if current in PAID_STATUSES:
        return current
    if current in (_S.CANCELLED, _S.FAILED):
        return _S.SUCCEEDED if read is _S.SUCCEEDED else current
    return read


def status_after_refunds(captured: int, refunded: int) -> TransactionStatus:
    """Return the status of a paid transaction by what was given back."""
    if refunded <= 0:
        return _S.SUCCEEDED
    return _S.REFUNDED if refunded >= captured else _S.PARTIALLY_REFUNDED


def is_anomaly(current: TransactionStatus, after: TransactionStatus) -> bool:
    """Whether a cancelled or failed transaction was paid after all."""
    return after is _S.SUCCEEDED and current in (_S.CANCELLED, _S.FAILED)


class Recorded(Protocol):
    """A transaction as it is stored."""

    status: str
    amount_in_pence: int
    currency: str
    processor_intent_id: str | None
    processor_charge_id: str | None
    last_error_code: str | None
    decline_code: str | None
    attempts: int
    captured_amount: int
    refunded_amount: int
    refunded_in_cash: int
    anomaly: str | None
    created_at: datetime
    checks: int

    @property
    def charged_amount(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Outcome:
    """The changes of a transaction: the columns that change, and the sentence for the timeline."""

    values: dict[str, object] = field(default_factory=dict)
    detail: str = ""


def outcome_of_intent(payment: Recorded, intent: Intent, now: datetime) -> Outcome:
    """Return the outcome for a transaction whose intent was just read."""
    if payment.processor_intent_id not in (None, intent.id):
        return Outcome(
            _changed_columns(payment, {"anomaly": payment.anomaly or SECOND_INTENT}), f"Another intent: {intent.id}"
        )
    before = TransactionStatus(payment.status)
    after = status_after(before, intent.status)
    values: dict[str, object] = {"status": after.value, "processor_intent_id": intent.id}
    values |= _attempt(payment, intent) | _money(payment, intent, before, after, now) | _card(intent)
    if anomaly := _anomaly(payment, intent, before, after):
        values["anomaly"] = payment.anomaly or anomaly
    if after is TransactionStatus.CANCELLED and before is not after:
        values["cancelled_at"] = now
    return Outcome(_changed_columns(payment, values), _detail(payment, intent, anomaly))


def outcome_of_refunds(payment: Recorded, refunded: int) -> Outcome:
    """Return the outcome for a paid transaction of which `refunded` was given back to the card."""
    if TransactionStatus(payment.status) not in PAID_STATUSES:
        return Outcome()
    refunded += payment.refunded_in_cash
    status = status_after_refunds(payment.captured_amount, refunded)
    return Outcome(_changed_columns(payment, {"refunded_amount": refunded, "status": status.value}))


def outcome_of_dispute(payment: Recorded) -> Outcome:
    """Return the outcome of a dispute, by which the cardholder's bank took the money back for now. An anomaly that is
    there already stays: the timeline names this one."""
    return Outcome({"anomaly": payment.anomaly or DISPUTED}, "The cardholder disputes this payment")


def outcome_of_failed_creation(payment: Recorded, code: str) -> Outcome:
    """Return the outcome of a creation that the processor refused for good: FAILED, unless an event has brought the
    intent meanwhile."""
    if payment.processor_intent_id is not None or payment.status not in (_S.CREATING, _S.UNKNOWN):
        return Outcome()
    return Outcome({"status": _S.FAILED.value, "last_error_code": code[:60]}, code)


def outcome_of_unknown_creation(payment: Recorded) -> Outcome:
    """Return the outcome of a creation after which it is unknown whether there is an intent."""
    return Outcome({"status": _S.UNKNOWN.value}) if payment.status == _S.CREATING else Outcome()


def outcome_of_unanswered_call(payment: Recorded) -> Outcome:
    """Return the outcome of a capture or cancellation that got no answer."""
    is_open = payment.status in OPEN_STATUSES and payment.status != _S.UNKNOWN
    return Outcome({"status": _S.UNKNOWN.value}) if is_open else Outcome()


def next_check(status: TransactionStatus, checks: int, created_at: datetime, now: datetime) -> datetime | None:
    """Return the time of the next check of a transaction, None unless it is open: at growing intervals, and at the
    latest when one without a card is abandoned."""
    if status not in OPEN_STATUSES:
        return None
    at = now + CHECKED_AFTER[min(checks, len(CHECKED_AFTER) - 1)]
    abandoned = created_at + ABANDONED_AFTER
    return min(at, abandoned) if status is TransactionStatus.PENDING and now < abandoned else at


def _attempt(payment: Recorded, intent: Intent) -> dict[str, object]:
    """Return the error and the number of attempts to store. A second decline of the same kind is recognised by its
    charge, which differs."""
    error = intent.last_error
    if error is None:
        return {"last_error_code": None, "decline_code": None} if intent.status == "succeeded" else {}
    code, decline_code = error.code[:60], error.decline_code[:60] or None
    charge_id = error.charge_id or intent.charge_id
    is_new = (code, decline_code) != (payment.last_error_code, payment.decline_code) or (
        bool(charge_id) and charge_id != payment.processor_charge_id
    )
    charge = {"processor_charge_id": charge_id} if charge_id else {}
    return {"last_error_code": code, "decline_code": decline_code, "attempts": payment.attempts + is_new, **charge}


def _money(
    payment: Recorded, intent: Intent, before: TransactionStatus, after: TransactionStatus, now: datetime
) -> dict[str, object]:
    """Return the charge and the sums to store. The refunded sum never falls here: the intent may have been read before
    the refund."""
    charge: dict[str, object] = {"processor_charge_id": intent.charge_id} if intent.charge_id else {}
    if after not in PAID_STATUSES:
        return charge
    refunded = max(payment.refunded_amount, intent.refunded + payment.refunded_in_cash)
    captured = payment.captured_amount if before in PAID_STATUSES else intent.amount_received
    paid = {
        "captured_amount": captured,
        "refunded_amount": refunded,
        "status": status_after_refunds(captured, refunded).value,
    }
    return charge | paid | ({} if before in PAID_STATUSES else {"captured_at": now})


def _card(intent: Intent) -> dict[str, object]:
    card = intent.card
    if card is None:
        return {}
    return {
        "card_brand": card.brand[:30] or None,
        "card_last4": card.last4[:4] or None,
        "funding": card.funding[:20] or None,
        "read_method": card.read_method[:40] or None,
        "wallet": card.wallet[:30] or None,
        "emv": dict(card.emv),
    }


def _anomaly(payment: Recorded, intent: Intent, before: TransactionStatus, after: TransactionStatus) -> str | None:
    if is_anomaly(before, after):
        return UNEXPECTED_PAYMENT
    if before in PAID_STATUSES:  # The amounts were compared when the money came.
        return None
    differs = (intent.amount, intent.currency) != (payment.charged_amount, payment.currency)
    short = after is _S.SUCCEEDED and intent.amount_received != payment.charged_amount
    return OTHER_AMOUNT if differs or short else None


def _detail(payment: Recorded, intent: Intent, anomaly: str | None) -> str:
    if anomaly == UNEXPECTED_PAYMENT:
        return ANOMALY_WORDS[anomaly]
    if anomaly:
        return f"The processor has {intent.amount} {intent.currency}, received {intent.amount_received}"
    error = intent.last_error
    return f"{error.decline_code or error.code}" if error else ""


def _changed_columns(payment: Recorded, values: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in values.items() if getattr(payment, name) != value}


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
TYPE_LABELS: Mapping[str, str] = {"QUICK_PAYMENT": "Quick payment", "ORDER_PAYMENT": "Order"}
ANOMALY_WORDS = {
    UNEXPECTED_PAYMENT: "The processor took the money after the payment was given up",
    OTHER_AMOUNT: "The processor has another amount or currency",
    SECOND_INTENT: "The processor has a second payment for the same sale",
    PAID_TWICE: "The order had been paid already",
    REFUND_FAILED: "A refund did not reach the card",
    DISPUTED: "The cardholder disputes it: answer at the processor",
    REFUND_UNCLEAR: "It is not known whether a refund was made",
}
ADVICE = {
    UNEXPECTED_PAYMENT: "Hand over the goods, or refund it.",
    OTHER_AMOUNT: "Compare with the processor, and refund the difference.",
    SECOND_INTENT: "Look at the processor whether both were taken.",
    PAID_TWICE: "Refund one of the payments.",
    REFUND_FAILED: "Refund it again, or pay the customer back in another way.",
    DISPUTED: "Send the evidence at the processor before its deadline.",
    REFUND_UNCLEAR: "Look at the processor whether it was, before you give anything back again.",
}


def status_label(status: str) -> str:
    return STATUS_LABELS.get(status, status)


def describe_anomaly(anomaly: str) -> str:
    """Return the sentence that describes an anomaly to people, without its full stop."""
    return ANOMALY_WORDS.get(anomaly, anomaly)


def anomaly_text(anomaly: str) -> str:
    """Return the sentences that say what an anomaly is and what to do about it."""
    return f"{in_words(describe_anomaly(anomaly))}. {ADVICE.get(anomaly, 'Compare with the processor.')}"


def card_name(brand: str | None, last4: str | None) -> str:
    """Return the name of a card, such as `Visa •••• 4242`; "" where no card was read."""
    name = in_words(brand or "")
    return f"{name or 'Card'} •••• {last4}" if last4 else name


def tender_name(tender_type: str, brand: str | None, last4: str | None) -> str:
    """Return what a payment was made with: “Cash”, or the name of the card; "" where no card was read."""
    return "Cash" if tender_type == CASH else card_name(brand, last4)


def in_words(code: str) -> str:
    """Return a code in words: `insufficient_funds` as “Insufficient funds”, `contactless_emv` as “Contactless EMV”."""
    text = code.replace("_", " ").strip().replace(" emv", " EMV")
    return text[:1].upper() + text[1:]
