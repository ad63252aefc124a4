"""The join that must name nobody: what products were opened and bought from searches, beside the orders."""

from __future__ import annotations

from collections import defaultdict
from datetime import date

from sqlalchemy import select

from app.domain.orders.models import Order, OrderLine
from app.domain.search_statistics.counting.gathering import FEWEST_VISITS
from app.domain.search_statistics.models import SearchProductWeek
from app.domain.shared.memory import week_of
from app.extensions import db


def buyers_named(site_id: int) -> list[tuple[str, date, int]]:
    """Return the counts of purchases, by search, week and product, that are of fewer than five orders, or of more than
    every second customer who ordered the product in the week: of these one would know that they searched for it."""
    lines = select(OrderLine.product_id, Order.submitted_at, Order.contact_email)
    customers: dict[tuple[date, int], set[str]] = defaultdict(set)
    for product_id, submitted_at, email in db.session.execute(
        lines.join(Order, Order.id == OrderLine.order_id).where(Order.site_id == site_id)
    ):
        if submitted_at is not None and product_id is not None:
            customers[week_of(submitted_at.date()), product_id].add(email)
    counted = select(SearchProductWeek).where(SearchProductWeek.site_id == site_id, SearchProductWeek.bought > 0)
    return [
        (row.word, row.week, row.product_id)
        for row in db.session.scalars(counted)
        if row.bought < FEWEST_VISITS or 2 * row.bought > len(customers[row.week, row.product_id])
    ]
