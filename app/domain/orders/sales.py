"""How many units of each product were sold lately."""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy import func, select

from app.domain.catalogue.models import Product
from app.domain.orders.models import COLLECTED, SUBMITTED, Order, OrderLine, ProductSales
from app.domain.shared.clock import Clock
from app.extensions import db

DAYS = 90


def count_sales(clock: Clock, site_id: int) -> int:
    """Store the units sold in the last 90 days where they have changed, and return of how many products that is so. A
    product whose sales change is indexed again. Call it in a transaction."""
    now, known = _sold(clock, site_id), _known(site_id)
    gone = known.keys() - now.keys()
    for product_id in gone:
        db.session.delete(known[product_id])
    changed = [id for id in now if id not in known or known[id].units != now[id]]
    for product_id in sorted(changed):
        if product_id in known:
            known[product_id].units = now[product_id]
        else:
            db.session.add(ProductSales(product_id=product_id, site_id=site_id, units=now[product_id]))
    return len(gone) + len(changed)


def products_with_sales(site_id: int) -> int:
    """Return of how many products sales were counted."""
    counted = select(func.count()).select_from(ProductSales).where(ProductSales.site_id == site_id)
    return db.session.scalar(counted) or 0


def _known(site_id: int) -> dict[int, ProductSales]:
    rows = db.session.scalars(select(ProductSales).where(ProductSales.site_id == site_id))
    return {row.product_id: row for row in rows}


def _sold(clock: Clock, site_id: int) -> dict[int, int]:
    query = (
        select(OrderLine.product_id, func.sum(OrderLine.quantity))
        .join(Order, Order.id == OrderLine.order_id)
        .join(Product, Product.id == OrderLine.product_id)
        .where(Order.site_id == site_id, Order.status.in_((SUBMITTED, COLLECTED)))
        .where(Order.submitted_at > clock.now() - timedelta(days=DAYS))
        .group_by(OrderLine.product_id)
    )
    return {product_id: int(units) for product_id, units in db.session.execute(query) if product_id is not None}
