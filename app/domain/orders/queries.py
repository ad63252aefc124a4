"""What the admin's pages read of orders: a few statements a page, however many there are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, and_, func, or_, select

from app.domain.catalogue.listing import PAGE_SIZE
from app.domain.catalogue.queries import contains
from app.domain.orders.listing import OVERDUE_AFTER, OrderFilter, OrderList
from app.domain.orders.models import OPEN, Order, OrderLine
from app.domain.shared.clock import Clock
from app.domain.shared.paging import Paged
from app.domain.sites.models import AuditEntry
from app.extensions import db


@dataclass(frozen=True, slots=True)
class OrderRow:
    """An order in a list; `total` in minor units of `currency`, `items` counts pieces."""

    id: str
    number: int
    channel: str
    status: str
    contact_name: str
    total: int
    currency: str
    submitted_at: datetime
    items: int
    is_overdue: bool


@dataclass(frozen=True, slots=True)
class Happening:
    at: datetime
    actor: str
    summary: str


COLUMNS = (
    Order.id,
    Order.number,
    Order.channel,
    Order.status,
    Order.contact_name,
    Order.total,
    Order.currency,
    Order.submitted_at,
)


def orders(clock: Clock, site_id: int, filters: OrderList) -> Paged[OrderRow]:
    """Newest first, in three statements."""
    overdue = _overdue(clock)
    conditions = _conditions(site_id, filters, overdue)
    total = db.session.scalar(select(func.count()).select_from(Order).where(*conditions)) or 0
    query = (
        select(*COLUMNS, overdue.label("is_overdue"))
        .where(*conditions)
        .order_by(Order.submitted_at.desc(), Order.number.desc())
    )
    rows = db.session.execute(query.limit(PAGE_SIZE).offset((filters.page - 1) * PAGE_SIZE)).all()
    held = select(OrderLine.order_id, func.sum(OrderLine.quantity)).group_by(OrderLine.order_id)
    counted = db.session.execute(held.where(OrderLine.order_id.in_([row.id for row in rows])))
    items = {order_id: int(number) for order_id, number in counted}
    return Paged([OrderRow(**row._mapping, items=items.get(row.id, 0)) for row in rows], filters.page, PAGE_SIZE, total)


def is_overdue(clock: Clock, order: Order) -> bool:
    """It is to hand over for long, and perhaps nobody comes for it."""
    placed_at = order.submitted_at if order.status == OrderFilter.SUBMITTED else None
    return placed_at is not None and placed_at < clock.now() - OVERDUE_AFTER


def counts(clock: Clock, site_id: int) -> dict[OrderFilter, int]:
    """How many orders there are in each state, and in all, and how many of those to hand over are overdue."""
    query = select(Order.status, func.count()).where(Order.site_id == site_id, Order.status != OPEN)
    found = {OrderFilter(status): number for status, number in db.session.execute(query.group_by(Order.status))}
    late = select(func.count()).select_from(Order).where(Order.site_id == site_id, _overdue(clock))
    overdue = db.session.scalar(late) or 0
    by_state = {status: found.get(status, 0) for status in OrderFilter}
    return by_state | {OrderFilter.ALL: sum(found.values()), OrderFilter.OVERDUE: overdue}


def history(site_id: int, order_id: str) -> Sequence[Happening]:
    """What became of an order, oldest first."""
    query = select(AuditEntry.at, AuditEntry.actor, AuditEntry.summary).where(
        AuditEntry.site_id == site_id, AuditEntry.subject_type == "order", AuditEntry.subject_id == order_id
    )
    return [Happening(*row) for row in db.session.execute(query.order_by(AuditEntry.id))]


def _overdue(clock: Clock) -> ColumnElement[bool]:
    return and_(Order.status == OrderFilter.SUBMITTED, Order.submitted_at < clock.now() - OVERDUE_AFTER)


def _conditions(site_id: int, filters: OrderList, overdue: ColumnElement[bool]) -> list[ColumnElement[bool]]:
    state = Order.status == filters.status if filters.status else Order.status != OPEN
    if filters.status is OrderFilter.OVERDUE:
        state = overdue
    conditions = [Order.site_id == site_id, state]
    if filters.words:
        conditions.append(or_(*_matches(filters)))
    return conditions


def _matches(filters: OrderList) -> list[ColumnElement[bool]]:
    """Whom it is for, how to reach them, what was bought; a number is looked for as that of an order, too."""
    texts: list[Any] = [Order.contact_name, Order.contact_email, Order.contact_phone]
    of_line = select(OrderLine.order_id).where(
        OrderLine.order_id == Order.id, or_(contains(OrderLine.name, filters.words), OrderLine.sku == filters.words)
    )
    matches = [*(contains(text, filters.words) for text in texts), of_line.exists()]
    return matches if filters.number is None else [*matches, Order.number == filters.number]
