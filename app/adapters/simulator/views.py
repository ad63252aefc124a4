"""Rows as values of the port at a moment. What time changes (a slow payment, a refund that fails later) is not written
when it happens: it follows from the row and the clock."""

from __future__ import annotations

from datetime import datetime

from app.adapters.simulator.models import SimulatorIntent, SimulatorRefund
from app.domain.pos.processor import CardDetails, Intent, IntentStatus, PaymentError, Refund, RefundStatus
from app.domain.pos.simulator import CARDS


def intent_at(row: SimulatorIntent, now: datetime) -> Intent:
    """Return the intent as it is at a moment, without the client secret."""
    status = status_at(row, now)
    return Intent(
        id=row.id,
        amount=row.amount,
        currency=row.currency,
        status=status,
        created=row.created_at,
        amount_received=row.amount if status is IntentStatus.SUCCEEDED else 0,
        refunded=refunded_at(row, now),
        charge_id="" if row.error_code else row.charge_id or "",
        card=_card(row),
        last_error=_last_error(row),
        metadata=row.labels,
    )


def status_at(row: SimulatorIntent, now: datetime) -> IntentStatus:
    if row.settles_at is not None and now < row.settles_at:
        return IntentStatus.PROCESSING
    return IntentStatus(row.status)


def refunded_at(row: SimulatorIntent, now: datetime) -> int:
    refunds = (refund_at(refund, now) for refund in row.refunds)
    return sum(refund.amount for refund in refunds if refund.status is not RefundStatus.FAILED)


def refund_at(row: SimulatorRefund, now: datetime) -> Refund:
    has_failed = row.fails_at is not None and now >= row.fails_at
    status = RefundStatus.FAILED if has_failed else RefundStatus.SUCCEEDED
    return Refund(row.id, row.intent_id, row.amount, status, row.labels)


def _card(row: SimulatorIntent) -> CardDetails | None:
    """Return the card of the charge; a declined attempt leaves none."""
    if row.charge_id is None or row.card is None or row.error_code:
        return None
    authorization = f"{sum(map(ord, row.id)) * 7919 % 1_000_000:06}"  # Any six digits that stay the same.
    return CARDS[row.card].details(row.has_pin, authorization)


def _last_error(row: SimulatorIntent) -> PaymentError | None:
    return PaymentError(row.error_code, row.decline_code or "", row.charge_id or "") if row.error_code else None
