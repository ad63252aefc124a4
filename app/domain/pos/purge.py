"""Retention of the till's records that only serve for a time. Payments stay: they are the shop's books."""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy import or_

from app.domain.pos.models import PosIdempotencyKey, PosSession, StoredProcessorEvent
from app.domain.retention.purging import Retention

EVENTS_KEPT = timedelta(days=90)
ADDRESSES_KEPT = timedelta(days=90)

RETENTIONS = (
    Retention(
        "idempotency keys",
        PosIdempotencyKey,
        dated=PosIdempotencyKey.created_at,
        is_old=lambda now: PosIdempotencyKey.expires_at < now,
    ),
    Retention(
        "events of the payment processor",
        StoredProcessorEvent,
        dated=StoredProcessorEvent.received_at,
        is_old=lambda now: StoredProcessorEvent.processed_at < now - EVENTS_KEPT,
    ),
    Retention(
        "network addresses of tills",
        PosSession,
        dated=PosSession.started_at,
        is_old=lambda now: PosSession.started_at < now - ADDRESSES_KEPT,
        among=or_(PosSession.ip != "", PosSession.user_agent != ""),
        emptied={"ip": "", "user_agent": ""},
    ),
)
