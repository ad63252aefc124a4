"""Queries of orders for the admin's pages: a few statements a page, however many there are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from sqlalchemy import ColumnElement, and_, func, or_, select

from app.domain.catalogue.listing import PAGE_SIZE
from app.domain.delivery.declaration import DeliveryPayment
from app.domain.orders.handover import Handover, handover_of
from app.domain.orders.listing import OVERDUE_AFTER, OrderFilter, OrderList
from app.domain.orders.models import COLLECTED, OPEN, SUBMITTED, Order, OrderLine, amount_due
from app.domain.shared.clock import Clock, ends_at, starts_at
from app.domain.shared.paging import Paged
from app.domain.shared.records import contains
from app.domain.sites.models import AuditEntry, User
from app.domain.sites.sites import time_zone_of
from app.extensions import db


@dataclass(frozen=True, slots=True)
class OrderRow:
    """An order in a list; `total` and `paid_amount` in minor units of `currency`, `items` counts pieces, `lines` its
    lines, of which `first_line_id` is the first. `placed_at` is when it was submitted, or when a basket that is no
    order yet was paid, be it in part. `owner` is the name of the user who filled it at a till, `location_id` the till's
    location."""

    id: str
    number: int
    channel: str
    status: str
    contact_name: str
    total: int
    currency: str
    placed_at: datetime
    owner: str | None
    location_id: str | None
    is_paid: bool
    paid_amount: int
    items: int
    lines: int
    first_line_id: int | None
    is_ready: bool
    is_delivered: bool
    awaits_transfer: bool
    is_overdue: bool

    @property
    def handover(self) -> Handover:
        return handover_of(self.is_delivered)

    @property
    def was_paid_on_handover(self) -> bool:
        """Whether the order was paid as it was collected or delivered, which no record of a payment says."""
        return self.status == COLLECTED and self.total > 0 and not (self.is_paid or self.paid_amount)

    @property
    def amount_due(self) -> int:
        return amount_due(self.status, self.is_paid, self.total, self.paid_amount)


@dataclass(frozen=True, slots=True)
class Happening:
    at: datetime
    actor: str
    summary: str


PLACED_AT = func.coalesce(Order.submitted_at, Order.paid_at, Order.updated_at)
IS_ORDER = or_(Order.status != OPEN, Order.paid_amount > 0)
UNSUBMITTED = and_(Order.status == OPEN, Order.paid_amount > 0)
READY = and_(Order.status == SUBMITTED, Order.ready_at.is_not(None))
AWAITS_TRANSFER = and_(
    Order.status == SUBMITTED,
    Order.delivery_payment == DeliveryPayment.IN_ADVANCE.value,
    Order.paid_at.is_(None),
    Order.total > 0,
)
COLUMNS = (
    Order.id,
    Order.number,
    Order.channel,
    Order.status,
    Order.contact_name,
    Order.total,
    Order.currency,
    PLACED_AT.label("placed_at"),
    User.display_name.label("owner"),
    Order.pos_location_id.label("location_id"),
    Order.paid_at.is_not(None).label("is_paid"),
    Order.paid_amount,
    READY.label("is_ready"),
    (Order.delivery_method != "").label("is_delivered"),
    AWAITS_TRANSFER.label("awaits_transfer"),
)


def orders(clock: Clock, site_id: int, filters: OrderList) -> Paged[OrderRow]:
    """Return the orders of a list, newest first, in three statements, and one more where days narrow it."""
    overdue = _overdue(clock)
    conditions = _conditions(site_id, filters, overdue)
    total = db.session.scalar(select(func.count()).select_from(Order).where(*conditions)) or 0
    query = (
        select(*COLUMNS, overdue.label("is_overdue"))
        .outerjoin(User, User.id == Order.owner_id)
        .where(*conditions)
        .order_by(_date_of(filters).desc(), Order.number.desc())
    )
    rows = db.session.execute(query.limit(PAGE_SIZE).offset((filters.page - 1) * PAGE_SIZE)).all()
    held = select(OrderLine.order_id, func.sum(OrderLine.quantity), func.count(), func.min(OrderLine.id))
    counted = db.session.execute(
        held.where(OrderLine.order_id.in_([row.id for row in rows])).group_by(OrderLine.order_id)
    )
    lines = {order_id: (int(items), number, first) for order_id, items, number, first in counted}
    return Paged([_row(row, *lines.get(row.id, (0, 0, None))) for row in rows], filters.page, PAGE_SIZE, total)


def _row(row: Any, items: int, lines: int, first_line_id: int | None) -> OrderRow:
    return OrderRow(**row._mapping, items=items, lines=lines, first_line_id=first_line_id)


def first_lines(rows: Sequence[OrderRow]) -> Sequence[OrderLine]:
    """Return the first lines of orders in a list, by one statement."""
    return db.session.scalars(select(OrderLine).where(OrderLine.id.in_([row.first_line_id for row in rows]))).all()


def owner_of(order: Order) -> str | None:
    """Return the name of the user who filled the order at a till; None where a shopper did."""
    return db.session.scalar(select(User.display_name).where(User.id == order.owner_id)) if order.owner_id else None


def is_overdue(clock: Clock, order: Order) -> bool:
    """Whether the order has awaited collection for longer than OVERDUE_AFTER."""
    placed_at = order.submitted_at if order.status == OrderFilter.SUBMITTED else None
    return placed_at is not None and placed_at < clock.now() - OVERDUE_AFTER


def counts(clock: Clock, site_id: int) -> dict[OrderFilter, int]:
    """Return the number of orders by filter."""
    query = select(Order.status, func.count()).where(Order.site_id == site_id, IS_ORDER)
    by_status = {status: number for status, number in db.session.execute(query.group_by(Order.status))}
    baskets = by_status.pop(OPEN, 0)
    found = {OrderFilter(status): number for status, number in by_status.items()}
    counted = {
        OrderFilter.ALL: sum(found.values()) + baskets,
        OrderFilter.UNSUBMITTED: _count(site_id, UNSUBMITTED) if baskets else 0,
        OrderFilter.OVERDUE: _count(site_id, _overdue(clock)),
        OrderFilter.READY: _count(site_id, READY),
    }
    return {status: found.get(status, 0) for status in OrderFilter} | counted


def counts_to_act_on(clock: Clock, site_id: int) -> dict[OrderFilter, int]:
    """Return the number of orders that wait, of those that wait for too long, and of baskets that are paid and no
    orders: each a short range of an index, however many orders there were."""
    conditions = {
        OrderFilter.SUBMITTED: Order.status == SUBMITTED,
        OrderFilter.OVERDUE: _overdue(clock),
        OrderFilter.UNSUBMITTED: UNSUBMITTED,
    }
    return {status: _count(site_id, condition) for status, condition in conditions.items()}


def waiting_orders(site_id: int) -> int:
    """Return how many orders await collection, by one statement that its index answers."""
    return _count(site_id, Order.status == SUBMITTED)


def _count(site_id: int, condition: ColumnElement[bool]) -> int:
    query = select(func.count()).select_from(Order).where(Order.site_id == site_id, condition)
    return db.session.scalar(query) or 0


def history(site_id: int, order_id: str) -> Sequence[Happening]:
    """Return the events of an order, oldest first."""
    query = select(AuditEntry.at, AuditEntry.actor, AuditEntry.summary).where(
        AuditEntry.site_id == site_id, AuditEntry.subject_type == "order", AuditEntry.subject_id == order_id
    )
    return [Happening(*row) for row in db.session.execute(query.order_by(AuditEntry.id))]


def _date_of(filters: OrderList) -> Any:
    """Return the column of the date to sort by: the indexed one where every order has it."""
    if filters.has_days:
        return Order.submitted_at
    return PLACED_AT if filters.status in (OrderFilter.ALL, OrderFilter.UNSUBMITTED) else Order.submitted_at


def _overdue(clock: Clock) -> ColumnElement[bool]:
    return and_(Order.status == OrderFilter.SUBMITTED, Order.submitted_at < clock.now() - OVERDUE_AFTER)


def _conditions(site_id: int, filters: OrderList, overdue: ColumnElement[bool]) -> list[ColumnElement[bool]]:
    states = {
        OrderFilter.ALL: IS_ORDER,
        OrderFilter.OVERDUE: overdue,
        OrderFilter.READY: READY,
        OrderFilter.UNSUBMITTED: UNSUBMITTED,
    }
    conditions = [Order.site_id == site_id, states.get(filters.status, Order.status == filters.status)]
    if filters.channel:
        conditions.append(Order.channel == filters.channel)
    if filters.words:
        conditions.append(or_(*_matches(filters)))
    return [*conditions, *_placed_within(site_id, filters)]


def _placed_within(site_id: int, filters: OrderList) -> list[ColumnElement[bool]]:
    """Return the conditions of the days of a list; baskets that are no orders yet were placed on none."""
    if not filters.has_days:
        return []
    zone = ZoneInfo(time_zone_of(site_id))
    conditions: list[ColumnElement[bool]] = []
    if filters.first is not None:
        conditions.append(Order.submitted_at >= starts_at(filters.first, zone))
    if filters.last is not None:
        conditions.append(Order.submitted_at < ends_at(filters.last, zone))
    return conditions


def _matches(filters: OrderList) -> list[ColumnElement[bool]]:
    """Return the conditions that match the words of a list: the contact's name, email address or phone number, the name
    or SKU of a product, and for a number that of the order."""
    texts: list[Any] = [Order.contact_name, Order.contact_email, Order.contact_phone]
    of_line = select(OrderLine.order_id).where(
        OrderLine.order_id == Order.id, or_(contains(OrderLine.name, filters.words), OrderLine.sku == filters.words)
    )
    matches = [*(contains(text, filters.words) for text in texts), of_line.exists()]
    return matches if filters.number is None else [*matches, Order.number == filters.number]
