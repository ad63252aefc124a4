"""Products that customers buy in one order."""

from __future__ import annotations

from sqlalchemy import distinct, func, select

from app.domain.catalogue.models import Product
from app.domain.orders.models import COLLECTED, SUBMITTED, Order, OrderLine
from app.extensions import db

LATEST_ORDERS = 200  # Of a product: older ones say less, and a product that sells well would have tens of thousands.
FEWEST_ORDERS = 2  # One customer's basket says nothing of others.


def bought_together(site_id: int, product_id: int, most: int) -> list[str]:
    """Return the SKUs of the enabled products in the latest orders of a product, the commonest first, `most` at most:
    in two queries, and in one where there are none."""
    if not (ids := _commonest(site_id, product_id, most)):
        return []
    sold = select(Product.id, Product.sku).where(Product.site_id == site_id, Product.id.in_(ids), Product.enabled)
    skus = {row.id: row.sku for row in db.session.execute(sold)}
    return [skus[id] for id in ids if id in skus]


def _commonest(site_id: int, product_id: int, most: int) -> list[int]:
    """Return the ids of the products in the latest orders of a product, the commonest first. Only orders are read, not
    the catalogue, which is far larger."""
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
        select(OrderLine.product_id)
        .where(OrderLine.site_id == site_id, OrderLine.order_id.in_(latest))
        .where(OrderLine.product_id.is_not(None), OrderLine.product_id != product_id)
        .group_by(OrderLine.product_id)
        .having(orders >= FEWEST_ORDERS)
        .order_by(orders.desc(), OrderLine.product_id)
        .limit(most)
    )
    return [id for id in db.session.scalars(query) if id is not None]
