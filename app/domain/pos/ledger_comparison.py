"""Comparison of the shop's payments with the processor's, and the differences between them. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from enum import StrEnum

from app.domain.pos.processor import Intent, IntentStatus
from app.domain.pos.states import OF_INTENT, OPEN_STATUSES, PAID_STATUSES, TransactionStatus
from app.domain.shared.money import format_money

TOOK_MONEY = (IntentStatus.SUCCEEDED, IntentStatus.REQUIRES_CAPTURE, IntentStatus.PROCESSING)


class DifferenceKind(StrEnum):
    MISSING_ROW = "missing_row"
    MISSING_INTENT = "missing_intent"
    OTHER_INTENT = "other_intent"
    AMOUNT = "amount"
    CURRENCY = "currency"
    STATUS = "status"
    REFUNDED = "refunded"

    @property
    def label(self) -> str:
        return _LABELS[self]


_LABELS = {
    DifferenceKind.MISSING_ROW: "The shop has no record of this payment",
    DifferenceKind.MISSING_INTENT: "The processor does not have this payment",
    DifferenceKind.OTHER_INTENT: "Another payment of the processor names this one",
    DifferenceKind.AMOUNT: "Amounts differ",
    DifferenceKind.CURRENCY: "Currencies differ",
    DifferenceKind.STATUS: "Statuses differ",
    DifferenceKind.REFUNDED: "Refunded amounts differ",
}


@dataclass(frozen=True, slots=True)
class Difference:
    """A difference about one payment. `ours` and `theirs` are words for people; `corrected`: the shop took over what
    the processor says."""

    kind: DifferenceKind
    account_id: str
    intent_id: str
    transaction_id: str | None = None
    ours: str = ""
    theirs: str = ""
    corrected: bool = False


@dataclass(frozen=True, slots=True)
class LedgerRow:
    """A payment as the shop has it."""

    transaction_id: str
    account_id: str
    intent_id: str
    amount: int
    currency: str
    status: TransactionStatus
    captured: int
    refunded: int


def differences_of(row: LedgerRow, intent: Intent) -> list[Difference]:
    """Return the differences between the shop and the processor about one payment."""
    found = {
        DifferenceKind.AMOUNT: (format_money(row.amount, row.currency), format_money(intent.amount, row.currency)),
        DifferenceKind.CURRENCY: (row.currency.upper(), intent.currency.upper()),
        DifferenceKind.STATUS: (row.status.value, _expected_status(row.status, intent.status).value),
        DifferenceKind.REFUNDED: (
            format_money(row.refunded, row.currency),
            format_money(_expected_refunds(row, intent), row.currency),
        ),
    }
    return [
        Difference(kind, row.account_id, row.intent_id, row.transaction_id, ours=ours, theirs=theirs)
        for kind, (ours, theirs) in found.items()
        if ours != theirs
    ]


def _expected_refunds(row: LedgerRow, intent: Intent) -> int:
    """Return the refunded sum by the processor, or the shop's own for a payment that took no money here: only its
    status is compared."""
    return intent.refunded if row.status in PAID_STATUSES else row.refunded


def missing_row_difference(account_id: str, intent: Intent) -> Difference | None:
    """Return the difference for a payment that the shop has no record of; None for one that took no money: there is
    nothing to settle."""
    if intent.status not in TOOK_MONEY:
        return None
    theirs = f"{format_money(intent.amount, intent.currency)}, {intent.status.replace('_', ' ')}"
    return Difference(DifferenceKind.MISSING_ROW, account_id, intent.id, theirs=theirs)


def missing_intent_differences(rows: Iterable[LedgerRow], listed: Collection[str]) -> list[Difference]:
    """Return the differences for payments that took money by the shop's books and that the processor does not have.
    `listed` are the ids of the intents that it has."""
    return [
        Difference(
            DifferenceKind.MISSING_INTENT,
            row.account_id,
            row.intent_id,
            row.transaction_id,
            ours=f"{format_money(row.captured, row.currency)}, {row.status.replace('_', ' ').lower()}",
        )
        for row in rows
        if row.status in PAID_STATUSES and row.intent_id not in listed
    ]


def _expected_status(ours: TransactionStatus, theirs: IntentStatus) -> TransactionStatus:
    """Return the status that the shop should have by the processor's, which is its own where the two are compatible:
    refunds follow success, FAILED took no money, and an open status is no difference while the processor took
    nothing."""
    read = OF_INTENT[theirs]
    if read is TransactionStatus.SUCCEEDED and ours in PAID_STATUSES:
        return ours
    is_moneyless = theirs not in TOOK_MONEY
    if is_moneyless and (ours in OPEN_STATUSES or ours is TransactionStatus.FAILED):
        return ours
    return read
