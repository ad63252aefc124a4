"""Refunds as people request them, and what the books of both sides say."""

from __future__ import annotations

from sqlalchemy import select

from app.domain.alerts.alerts import open_alerts
from app.domain.pos.models import PosRefund
from app.domain.pos.refunds import RefundRequest, RefundSummary, request_refund
from app.domain.pos.webhooks import EventOutcome
from app.extensions import db
from tests.domain.pos.shop_with_till import ShopWithTill

WHY = "One mug was broken"


def refund(till: ShopWithTill, payment: str, amount: int | None = None, key: str | None = None) -> RefundSummary:
    db.session.rollback()
    return request_refund(till.context, till.author, till.processor, RefundRequest(payment, amount, WHY, key))


def given_back(till: ShopWithTill, payment: str) -> int:
    """By the processor's books."""
    intent_id = till.intent_of(payment)
    return next(intent.refunded for intent in till.processor.intents() if intent.id == intent_id)


def refunds() -> list[tuple[int, str]]:
    db.session.rollback()
    query = select(PosRefund.amount, PosRefund.status).order_by(PosRefund.created_at, PosRefund.amount)
    return [(amount, status) for amount, status in db.session.execute(query)]


def causes(till: ShopWithTill) -> list[str]:
    db.session.rollback()
    return [alert.cause for alert in open_alerts(till.site_id)]


def refund_event(till: ShopWithTill, payment: str, refund_id: str) -> EventOutcome:
    raw, headers = till.processor.event("refund.updated", till.intent_of(payment), refund_id=refund_id)
    return till.receive(raw, headers)
