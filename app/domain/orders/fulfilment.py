"""Fulfilment of a submitted order, exactly once. The request is a stored event, written in the transaction that
submits; it is delivered at least once, and `fulfilled_at` makes the second delivery change nothing."""

from __future__ import annotations

from app.domain.orders.models import COLLECTED, SUBMITTED, Order
from app.domain.shared.author import Author
from app.domain.shared.clock import Clock
from app.domain.shared.records import find_record
from app.domain.sites import audit, stored_events

FULFILMENT_EVENT = "OrderSubmittedEvent"
THE_SHOP = "The shop itself"


def request_fulfilment(clock: Clock, order: Order, is_short: bool) -> None:
    stored_events.store(clock, order.site_id, FULFILMENT_EVENT, {"orderId": order.id, "isShort": is_short})


def fulfil(clock: Clock, site_id: int, order_id: str, is_short: bool) -> bool:
    """Fulfil an order; return False where that was done before, or the order was cancelled. What is sold at a till with
    nothing missing is handed over at once and so COLLECTED; any other order awaits collection. Call it within a
    transaction."""
    order = find_record(Order, site_id, order_id, to_change=True)
    if order is None or order.fulfilled_at is not None or order.status not in (SUBMITTED, COLLECTED):
        return False
    order.fulfilled_at = order.updated_at = clock.now()
    if order.status == SUBMITTED and order.channel == "POS" and not is_short:
        order.status, order.settled_at = COLLECTED, order.fulfilled_at
        order.revision += 1
        summary = f"Order {order.number} was handed over at the till"
    else:
        summary = f"Order {order.number} is awaiting collection"
    audit.record(Author(site_id, THE_SHOP, clock), "order.fulfil", ("order", order.id), summary)
    return True
