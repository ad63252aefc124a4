"""Products that customers buy in one order."""

from __future__ import annotations

from sqlalchemy import distinct, func, select

from app.domain.catalogue.models import Product
from app.domain.orders.models import COLLECTED, SUBMITTED, Order, OrderLine
from app.extensions import db

LATEST_ORDERS = 200  # Of a product: older ones say less, and a product that sells well would have tens of thousands.
FEWEST_ORDERS = 2  # One customer's basket says nothing of others.


def bought_together(site_id: int, product_id: int, most: int) -> list[str]:
    """Return the SKUs of the enabled products that stand in the latest orders of a product, the commonest first, in one
    query."""
    latest = (
        select(OrderLine.order_id)
        .join(Order, Order.id == OrderLine.order_id)
        .where(OrderLine.site_id == site_id, OrderLine.product_id == product_id)
        .where(Order.status.in_((SUBMITTED, COLLECTED)))
        .order_by(OrderLine.id.desc())
        .limit(LATEST_ORDERS)
    )
    orders = func.count(distinct(OrderLine.order_id))
    query = (
        select(Product.sku)
        .join(OrderLine, OrderLine.product_id == Product.id)
        .where(Product.site_id == site_id, Product.enabled, Product.id != product_id)
        .where(OrderLine.order_id.in_(latest))
        .group_by(Product.id, Product.sku)
        .having(orders >= FEWEST_ORDERS)
        .order_by(orders.desc(), Product.id)
        .limit(most)
    )
    return list(db.session.scalars(query))
