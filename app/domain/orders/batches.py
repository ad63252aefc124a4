"""Several orders at once, as staff tick them in the list: each is changed as a whole or not at all, and the result says
why others stay."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import selectinload

from app.domain.orders.lifecycle import mark_ready
from app.domain.orders.models import CANCELLED, OPEN, Order
from app.domain.shared.author import Author
from app.domain.shared.problems import Conflict, Invalid, NotFound, Problem
from app.extensions import db

MOST_ORDERS = 100  # Their ids stand in the address of the page of packing slips.


@dataclass(frozen=True, slots=True)
class BatchResult:
    """The numbers of the orders that were `changed` and of those that were so before, and why others stay."""

    changed: Sequence[int]
    unchanged: Sequence[int]
    reasons: Sequence[str]


def mark_all_ready(author: Author, order_ids: Collection[str], by_email: bool = False) -> BatchResult:
    """Mark orders as ready to collect, or as sent; with `by_email`, a mail says so to each. Call it within a
    transaction. Raises Invalid for none, and for more than MOST_ORDERS."""
    changed: list[int] = []
    unchanged: list[int] = []
    reasons: list[str] = []
    for order_id in sorted(_checked(order_ids)):  # In one order, so that two batches never wait for each other.
        try:
            change = mark_ready(author, order_id, by_email)
        except (Conflict, NotFound) as error:
            reasons.append(error.message)
        else:
            (changed if change.changed else unchanged).append(change.number)
    return BatchResult(sorted(changed), sorted(unchanged), reasons)


def orders_to_pack(site_id: int, order_ids: Collection[str]) -> tuple[Sequence[Order], Sequence[str]]:
    """Return the orders of this site by number with their lines, in two statements, and why others are not to be
    packed. Raises Invalid for none, and for more than MOST_ORDERS."""
    query = select(Order).where(Order.site_id == site_id, Order.id.in_(_checked(order_ids)), Order.status != OPEN)
    orders = db.session.scalars(query.options(selectinload(Order.lines)).order_by(Order.number)).all()
    reasons = [f"Order {order.number} was cancelled." for order in orders if order.status == CANCELLED]
    if missing := len(set(order_ids)) - len(orders):
        reasons.append(f"{missing} of the ticked are no orders of this site.")
    return [order for order in orders if order.status != CANCELLED], reasons


def _checked(order_ids: Collection[str]) -> set[str]:
    wanted = set(order_ids)
    if not wanted:
        raise Invalid([Problem("required", "Tick the orders first.", "#/order")])
    if len(wanted) > MOST_ORDERS:
        message = f"At most {MOST_ORDERS} orders can be ticked at once; these are {len(wanted):,}."
        raise Invalid([Problem("too_many", message, "#/order")])
    return wanted
