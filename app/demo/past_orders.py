"""Orders that the demo shop took before it was made."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4
from zoneinfo import ZoneInfo

from app.domain.orders.checkout import SHOPPER
from app.domain.orders.lifecycle import THE_SHOP, next_number
from app.domain.orders.models import CANCELLED, COLLECTED, SUBMITTED, Order, OrderLine
from app.domain.orders.offers import Offer, describe_line, offers_by_sku, set_total
from app.domain.shared.author import Author
from app.domain.sites import activity
from app.domain.sites.models import Site
from app.extensions import db

STAFF = "Adam Admin"  # As in the bundle's users.json.
SETTLED = {COLLECTED: ("order.collect", "was collected and paid"), CANCELLED: ("order.cancel", "was cancelled")}


@dataclass(frozen=True, slots=True)
class PastLine:
    """A line of a past order. `search` led to the product; None where no search did."""

    sku: str
    quantity: int
    search: str | None = None


@dataclass(frozen=True, slots=True)
class PastOrder:
    """An order that was placed on `day` at `placed_at`. `settled_at` is when it was collected or cancelled; None while
    it waits."""

    day: date
    placed_at: datetime
    contact: Mapping[str, str]
    note: str
    status: str
    settled_at: datetime | None
    lines: tuple[PastLine, ...]


@dataclass(frozen=True, slots=True)
class Sale:
    """The lines of one order that a search led to: their `revenue` in minor units, and their products."""

    search: str
    order: PastOrder
    revenue: int
    product_ids: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class _PastClock:
    """A clock that stands still in the past."""

    moment: datetime

    def now(self) -> datetime:
        return self.moment

    def monotonic(self) -> float:
        return 0.0


def read_orders(file: Path, site_today: date, zone: ZoneInfo) -> list[PastOrder]:
    """Return the orders of a file, which is ordered by time, as they were before today."""
    with file.open(encoding="utf-8") as lines:
        return [_order(json.loads(line), site_today, zone) for line in lines]


def place_orders(site: Site, orders: list[PastOrder]) -> Iterator[Sale]:
    """Place the orders, and yield the sales that searches led to. Stock is left alone: the bundle's is what the orders
    left."""
    offers = offers_by_sku(site.id, {line.sku for order in orders for line in order.lines})
    for past in orders:
        order = _stored(site, past, offers)
        _note_in_log(order, past)
        led_to: dict[str, list[OrderLine]] = {}
        for line, stored in zip(past.lines, order.lines, strict=True):
            if line.search:
                led_to.setdefault(line.search, []).append(stored)
        for search, lines in led_to.items():
            revenue = sum(line.unit_price * line.quantity for line in lines)
            yield Sale(search, past, revenue, tuple(line.product_id for line in lines if line.product_id))


def _order(fields: Mapping[str, Any], site_today: date, zone: ZoneInfo) -> PastOrder:
    day = site_today - timedelta(days=fields["daysAgo"])
    on_the_wall = datetime.fromisoformat(f"{day}T{fields['time']}").replace(tzinfo=zone)
    days = fields.get("settledAfterDays")
    return PastOrder(
        day=day,
        placed_at=on_the_wall.astimezone(UTC),
        contact={f"contact_{name}": fields[name] for name in ("name", "email", "phone")},
        note=fields["note"],
        status=fields["status"],
        settled_at=(on_the_wall + timedelta(days=days)).astimezone(UTC) if days else None,
        lines=tuple(PastLine(**line) for line in fields["lines"]),
    )


def _stored(site: Site, past: PastOrder, offers: Mapping[str, Offer]) -> Order:
    order = Order(
        id=str(uuid4()),
        site_id=site.id,
        number=next_number(site.id),
        status=past.status,
        note=past.note,
        revision=2 if past.status == SUBMITTED else 3,
        created_at=past.placed_at,
        submitted_at=past.placed_at,
        fulfilled_at=past.placed_at,
        settled_at=past.settled_at,
        updated_at=past.settled_at or past.placed_at,
        lines=[_line(site.id, position, line, offers[line.sku]) for position, line in enumerate(past.lines)],
        **past.contact,
    )
    order.discount = order.tax = 0
    for line in order.lines:
        line.stock_taken = 0 if past.status == CANCELLED or offers[line.sku].stock is None else line.quantity
    set_total(order)
    db.session.add(order)
    return order


def _line(site_id: int, position: int, line: PastLine, offer: Offer) -> OrderLine:
    product_id, variant_id = offer.key
    stored = OrderLine(
        site_id=site_id, position=position, product_id=product_id, variant_id=variant_id, quantity=line.quantity
    )
    describe_line(stored, offer)
    return stored


def _note_in_log(order: Order, past: PastOrder) -> None:
    """Write the lines of the activity log that placing and settling the order would have written."""
    number, subject = order.number, ("order", order.id)
    placed = _PastClock(past.placed_at)
    activity.record(Author(order.site_id, SHOPPER, placed), "order.submit", subject, f"Order {number} was placed")
    handed = f"Order {number} is awaiting collection"
    activity.record(Author(order.site_id, THE_SHOP, placed), "order.fulfil", subject, handed)
    if past.settled_at is not None:
        action, done = SETTLED[past.status]
        author = Author(order.site_id, STAFF, _PastClock(past.settled_at))
        states = {"status": SUBMITTED}, {"status": past.status}
        activity.record(author, action, subject, f"Order {number} {done}", *states)
