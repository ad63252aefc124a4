"""Outcomes for a transaction of reading its intent, or of an unknown outcome: pure. Source of the rules: the state
table in docs/payments.md."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Protocol

from app.domain.pos.processor import Intent
from app.domain.pos.states import OPEN_STATUSES, PAID_STATUSES, TransactionStatus, is_anomaly, status_after
from app.domain.pos.states import status_after_refunds as by_refunds

CHECKED_AFTER = tuple(timedelta(seconds=seconds) for seconds in (5, 15, 60, 300, 900, 3600))
ABANDONED_AFTER = timedelta(minutes=30)
UNEXPECTED_PAYMENT, OTHER_AMOUNT, SECOND_INTENT = "unexpected_payment", "amount_differs", "second_intent"
DISPUTED = "disputed"


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
    anomaly: str | None
    created_at: datetime
    checks: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """The changes of a transaction: the columns that change, and the sentence for the timeline."""

    values: dict[str, object] = field(default_factory=dict)
    detail: str = ""


def of_intent(known: Recorded, intent: Intent, now: datetime) -> Outcome:
    """Return the outcome for a transaction whose intent was just read."""
    if known.processor_intent_id not in (None, intent.id):
        return Outcome(_changed(known, {"anomaly": known.anomaly or SECOND_INTENT}), f"Another intent: {intent.id}")
    before = TransactionStatus(known.status)
    after = status_after(before, intent.status)
    values: dict[str, object] = {"status": after.value, "processor_intent_id": intent.id}
    values |= _attempt(known, intent) | _money(known, intent, before, after, now) | _card(intent)
    if anomaly := _anomaly(known, intent, before, after):
        values["anomaly"] = known.anomaly or anomaly
    if after is TransactionStatus.CANCELLED and before is not after:
        values["cancelled_at"] = now
    return Outcome(_changed(known, values), _detail(known, intent, anomaly))


def of_refunds(known: Recorded, refunded: int) -> Outcome:
    """Return the outcome for a paid transaction of which `refunded` was given back in all."""
    if TransactionStatus(known.status) not in PAID_STATUSES:
        return Outcome()
    status = by_refunds(known.captured_amount, refunded)
    return Outcome(_changed(known, {"refunded_amount": refunded, "status": status.value}))


def of_dispute(known: Recorded) -> Outcome:
    """Return the outcome of a dispute, by which the cardholder's bank took the money back for now. An anomaly that is
    there already stays: the timeline names this one."""
    return Outcome({"anomaly": known.anomaly or DISPUTED}, "The cardholder disputes this payment")


def of_failed_creation(known: Recorded, code: str) -> Outcome:
    """Return the outcome of a creation that the processor refused for good: FAILED, unless an event has brought the
    intent meanwhile."""
    if known.processor_intent_id is not None or known.status not in (_S.CREATING, _S.UNKNOWN):
        return Outcome()
    return Outcome({"status": _S.FAILED.value, "last_error_code": code[:60]}, code)


def of_unknown_creation(known: Recorded) -> Outcome:
    """Return the outcome of a creation after which it is unknown whether there is an intent."""
    return Outcome({"status": _S.UNKNOWN.value}) if known.status == _S.CREATING else Outcome()


def of_unknown_outcome(known: Recorded) -> Outcome:
    """Return the outcome of a capture or cancellation that got no answer."""
    is_open = known.status in OPEN_STATUSES and known.status != _S.UNKNOWN
    return Outcome({"status": _S.UNKNOWN.value}) if is_open else Outcome()


def next_check(status: TransactionStatus, checks: int, created_at: datetime, now: datetime) -> datetime | None:
    """Return the time of the next check of a transaction, None unless it is open: at growing intervals, and at the
    latest when one without a card is abandoned."""
    if status not in OPEN_STATUSES:
        return None
    at = now + CHECKED_AFTER[min(checks, len(CHECKED_AFTER) - 1)]
    abandoned = created_at + ABANDONED_AFTER
    return min(at, abandoned) if status is TransactionStatus.PENDING and now < abandoned else at


_S = TransactionStatus


def _attempt(known: Recorded, intent: Intent) -> dict[str, object]:
    """Return the error and the number of attempts to store. A second decline of the same kind is recognised by its
    charge, which differs."""
    error = intent.last_error
    if error is None:
        return {"last_error_code": None, "decline_code": None} if intent.status == "succeeded" else {}
    code, decline_code = error.code[:60], error.decline_code[:60] or None
    charge_id = error.charge_id or intent.charge_id
    is_new = (code, decline_code) != (known.last_error_code, known.decline_code) or (
        bool(charge_id) and charge_id != known.processor_charge_id
    )
    charge = {"processor_charge_id": charge_id} if charge_id else {}
    return {"last_error_code": code, "decline_code": decline_code, "attempts": known.attempts + is_new, **charge}


def _money(
    known: Recorded, intent: Intent, before: TransactionStatus, after: TransactionStatus, now: datetime
) -> dict[str, object]:
    """Return the charge and the sums to store. The refunded sum never falls here: the intent may have been read before
    the refund."""
    charge: dict[str, object] = {"processor_charge_id": intent.charge_id} if intent.charge_id else {}
    if after not in PAID_STATUSES:
        return charge
    refunded = max(known.refunded_amount, intent.refunded)
    captured = known.captured_amount if before in PAID_STATUSES else intent.amount_received
    paid = {"captured_amount": captured, "refunded_amount": refunded, "status": by_refunds(captured, refunded).value}
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


def _anomaly(known: Recorded, intent: Intent, before: TransactionStatus, after: TransactionStatus) -> str | None:
    if is_anomaly(before, after):
        return UNEXPECTED_PAYMENT
    if before in PAID_STATUSES:  # The amounts were compared when the money came.
        return None
    differs = (intent.amount, intent.currency) != (known.amount_in_pence, known.currency)
    short = after is _S.SUCCEEDED and intent.amount_received != known.amount_in_pence
    return OTHER_AMOUNT if differs or short else None


def _detail(known: Recorded, intent: Intent, anomaly: str | None) -> str:
    if anomaly == UNEXPECTED_PAYMENT:
        return "The processor took the money after the payment was given up"
    if anomaly:
        return f"The processor has {intent.amount} {intent.currency}, received {intent.amount_received}"
    error = intent.last_error
    return f"{error.decline_code or error.code}" if error else ""


def _changed(known: Recorded, values: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in values.items() if getattr(known, name) != value}
