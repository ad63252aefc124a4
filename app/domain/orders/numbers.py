"""What people call an order by."""

from __future__ import annotations

from sqlalchemy import update

from app.domain.orders.models import OrderNumbers
from app.domain.shared.upserting import upsert
from app.extensions import db


def next_number(site_id: int) -> int:
    """From 1 on, each once: the row is locked until the transaction ends, which gives the number back if it fails."""
    db.session.execute(upsert(OrderNumbers).values(site_id=site_id, next=1).on_conflict_do_nothing())
    raised = update(OrderNumbers).where(OrderNumbers.site_id == site_id).values(next=OrderNumbers.next + 1)
    following: int = db.session.execute(raised.returning(OrderNumbers.next)).scalar_one()
    return following - 1
