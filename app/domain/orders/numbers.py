"""Order numbers, as people use them."""

from __future__ import annotations

from sqlalchemy import func, select, update

from app.domain.orders.models import Order, OrderNumbers
from app.domain.shared.upserting import upsert
from app.extensions import db


def next_number(site_id: int) -> int:
    """Return the next number of a site, from 1 on, each once: the row is locked until the transaction ends, which gives
    the number back if it fails."""
    raised = update(OrderNumbers).where(OrderNumbers.site_id == site_id).values(next=OrderNumbers.next + 1)
    following = db.session.execute(raised.returning(OrderNumbers.next)).scalar_one_or_none()
    if following is None:
        _begin(site_id)
        following = db.session.execute(raised.returning(OrderNumbers.next)).scalar_one()
    return int(following) - 1


def _begin(site_id: int) -> None:
    """Begin the numbers of a site after the orders that the site has already, as one that was copied may."""
    known = db.session.scalar(select(func.max(Order.number)).where(Order.site_id == site_id)) or 0
    db.session.execute(upsert(OrderNumbers).values(site_id=site_id, next=known + 1).on_conflict_do_nothing())
