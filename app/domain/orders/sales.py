"""Counts of the units of each product sold in the last 90 days."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, date, datetime, timedelta

from sqlalchemy import func, select

from app.domain.catalogue.models import Product
from app.domain.orders.models import COLLECTED, SUBMITTED, Order, OrderLine, ProductSales
from app.domain.shared.clock import Clock
from app.domain.shared.portions import portions
from app.domain.sites.models import Site
from app.extensions import db

DAYS = 90


def count_sales(clock: Clock, site_id: int) -> int:
    """Store the units sold in the last 90 days where they have changed, and return the number of products with a
    change, which are indexed again. One that is just being deleted is left out. Call it in a transaction."""
    _lock(site_id)
    now, known = _sold(clock, site_id), _known(site_id)
    changed = [id for id in now.keys() | known.keys() if id not in known or known[id].units != now.get(id)]
    held = _hold(changed)
    for product_id in held:
        _store(site_id, product_id, known.get(product_id), now.get(product_id))
    return len(held)


def _lock(site_id: int) -> None:
    """Make another count of the site wait until the commit, and nothing else."""
    db.session.execute(select(Site.id).where(Site.id == site_id).with_for_update(key_share=True))


def _hold(product_ids: Collection[int]) -> list[int]:
    """Return the ids of those products that still exist, locked against deletion until the commit. One that another
    transaction is just deleting or changing is skipped: the next count has it."""
    there = select(Product.id).with_for_update(read=True, key_share=True, skip_locked=True)
    return [
        id
        for some in portions(sorted(product_ids))
        for id in db.session.scalars(there.where(Product.id.in_(some)).order_by(Product.id))
    ]


def _store(site_id: int, product_id: int, known: ProductSales | None, units: int | None) -> None:
    if known is None and units is not None:
        db.session.add(ProductSales(product_id=product_id, site_id=site_id, units=units))
    elif known is not None and units is not None:
        known.units = units
    elif known is not None:
        db.session.delete(known)


def products_with_sales(site_id: int) -> int:
    """Return the number of products with sales."""
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


def customers_of(site_id: int, product_id: int, first: date, last: date) -> int:
    """Return how many different customers ordered a product from one day of UTC to another; an order without a contact
    is of a customer of its own."""
    customer = func.coalesce(func.nullif(Order.contact_email, ""), func.nullif(Order.contact_phone, ""), Order.id)
    begin = datetime(first.year, first.month, first.day, tzinfo=UTC)
    ordered = select(func.count(customer.distinct())).join(OrderLine, OrderLine.order_id == Order.id)
    of_product = (Order.site_id == site_id) & (OrderLine.product_id == product_id)
    in_days = Order.submitted_at.between(begin, begin + (last - first) + timedelta(days=1))
    return db.session.scalar(ordered.where(of_product, in_days)) or 0
