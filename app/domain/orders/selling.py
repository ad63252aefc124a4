"""Products that sold best in the last 90 days."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import distinct, func, select

from app.domain.catalogue.models import Product
from app.domain.orders.models import COLLECTED, SUBMITTED, Order, OrderLine
from app.extensions import db

LATEST_ORDERS = 1_000  # However many there are, reading these takes a few milliseconds.
LATELY = timedelta(days=90)


def selling_products(site_id: int, now: datetime, most: int) -> list[str]:
    """Return the SKUs of the enabled products that are in the most of the latest orders, `most` at most; a large order
    counts no more than a small one. One query."""
    latest = (
        select(Order.id)
        .where(Order.site_id == site_id, Order.status.in_((SUBMITTED, COLLECTED)), Order.submitted_at > now - LATELY)
        .order_by(Order.submitted_at.desc())
        .limit(LATEST_ORDERS)
    )
    orders = func.count(distinct(OrderLine.order_id))
    query = (
        select(Product.sku)
        .join(OrderLine, OrderLine.product_id == Product.id)
        .where(Product.site_id == site_id, Product.enabled, OrderLine.order_id.in_(latest))
        .group_by(Product.id, Product.sku)
        .order_by(orders.desc(), Product.id)
        .limit(most)
    )
    return list(db.session.scalars(query))
