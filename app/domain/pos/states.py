"""The states of a transaction and which may follow which: pure. Source: the state table of the payments contract, kept
in docs/payments.md."""

from __future__ import annotations

from enum import StrEnum

from app.domain.pos.processor import IntentStatus


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
