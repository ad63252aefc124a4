"""What staff do with an order: hand it over, take that back, or cancel it. Call them within a transaction; each writes
its line of the activity log. Doing the same again changes nothing."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import select
from sqlalchemy.orm import selectinload

from app.domain.catalogue.models import Product
from app.domain.orders.models import Order, OrderLine
from app.domain.orders.offers import Offer
from app.domain.orders.stock import give_back
from app.domain.shared.clock import Clock
from app.domain.shared.problems import Conflict, NotFound
from app.domain.sites import audit
from app.extensions import db

SUBMITTED, COLLECTED, CANCELLED = "SUBMITTED", "COLLECTED", "CANCELLED"
# Long enough to notice a wrong press; what was sold last month stays as it stands in the books.
TAKEN_BACK_WITHIN = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class Settled:
    """`changed` is False where it had been done before. `not_returned` names what could not go back into stock, since
    it is not in the catalogue any more, nobody counts it now, or it is sold in variants now."""

    number: int
    changed: bool
    not_returned: tuple[str, ...] = ()


def order_of(site_id: int, order_id: str, to_change: bool = False) -> Order:
    """An order of this site, not a basket. Raises NotFound."""
    query = (
        select(Order)
        .where(Order.site_id == site_id, Order.id == order_id, Order.status != "OPEN")
        .options(selectinload(Order.lines))
    )
    if to_change:
        query = query.with_for_update().execution_options(populate_existing=True)
    order = db.session.scalar(query)
    if order is None:
        raise NotFound("There is no such order on this site.")
    return order


def collect(clock: Clock, site_id: int, order_id: str, actor: str) -> Settled:
    """It was paid and handed over. Raises NotFound, Conflict for a cancelled one."""
    order = order_of(site_id, order_id, to_change=True)
    if order.status == CANCELLED:
        raise Conflict(f"Order {order.number} was cancelled, and its products are back in stock.")
    changed = order.status == SUBMITTED
    if changed:
        _settle(clock, order, COLLECTED, actor, "order.collect", "was collected and paid")
    return Settled(order.number or 0, changed)


def reopen(clock: Clock, site_id: int, order_id: str, actor: str) -> Settled:
    """It was not collected after all: it is to hand over again, and can be cancelled. Raises NotFound, Conflict for a
    cancelled one, whose stock others may have bought, and for one that was collected over a week ago."""
    order = order_of(site_id, order_id, to_change=True)
    if order.status == CANCELLED:
        raise Conflict(f"Order {order.number} was cancelled, and its products are back in stock.")
    if order.status == SUBMITTED:
        return Settled(order.number or 0, changed=False)
    if not can_reopen(order, clock):
        days = TAKEN_BACK_WITHIN.days
        raise Conflict(f"Order {order.number} was collected over {days} days ago, so that stays as it is.")
    _settle(clock, order, SUBMITTED, actor, "order.reopen", "is to hand over again")
    order.settled_at = None
    return Settled(order.number or 0, changed=True)


def can_reopen(order: Order, clock: Clock) -> bool:
    collected_at = order.settled_at if order.status == COLLECTED else None
    return collected_at is not None and clock.now() - collected_at <= TAKEN_BACK_WITHIN


def cancel(clock: Clock, site_id: int, order_id: str, actor: str) -> Settled:
    """It will not be collected: what it took goes back into stock, once. Raises NotFound, Conflict for a collected
    one."""
    order = order_of(site_id, order_id, to_change=True)
    if order.status == COLLECTED:
        raise Conflict(f"Order {order.number} was collected already, so it cannot be cancelled.")
    if order.status == CANCELLED:
        return Settled(order.number or 0, changed=False)
    not_returned = _return(clock, order)
    missing = f"; not counted back into stock: {', '.join(not_returned)}" if not_returned else ""
    _settle(clock, order, CANCELLED, actor, "order.cancel", f"was cancelled{missing}")
    return Settled(order.number or 0, changed=True, not_returned=not_returned)


def _settle(clock: Clock, order: Order, status: str, actor: str, action: str, said: str) -> None:
    before, order.status = order.status, status
    order.settled_at = order.updated_at = clock.now()
    order.revision += 1
    audit.record(
        clock,
        order.site_id,
        actor,
        action,
        ("order", order.id),
        f"Order {order.number} {said}",
        before={"status": before},
        after={"status": status},
    )


def _return(clock: Clock, order: Order) -> tuple[str, ...]:
    """Products that are hidden meanwhile get theirs, too. They are locked in the order in which buyers lock them."""
    ids = {line.product_id for line in order.lines if line.product_id is not None}
    query = select(Product).where(Product.site_id == order.site_id, Product.id.in_(ids)).order_by(Product.id)
    locked = query.options(selectinload(Product.variants)).with_for_update()
    products = {p.id: p for p in db.session.scalars(locked.execution_options(populate_existing=True))}
    not_returned = []
    for line in [line for line in order.lines if line.stock_taken]:
        holder = _holder(products.get(line.product_id or 0), line)
        if holder is None or holder.stock is None:
            not_returned.append(line.name)
        else:
            give_back(clock, line, holder, order.number or 0)
    return tuple(not_returned)


def _holder(product: Product | None, line: OrderLine) -> Offer | None:
    """Where the line's stock came from; None where that is not known any more, as of a product that has got variants
    since: whoever counts them knows which it was."""
    if product is None:
        return None
    if line.variant_id is None:
        return None if product.variants or line.options else Offer(product)
    return next((Offer(product, variant) for variant in product.variants if variant.id == line.variant_id), None)
