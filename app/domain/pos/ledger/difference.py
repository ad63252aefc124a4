"""A difference between the shop's payments and the processor's: pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


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
