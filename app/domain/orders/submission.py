"""A paid basket becomes an order: its stock is counted down once, and its fulfilment is requested in the same
transaction.

What was paid is never lost: where stock ran out since the payment, the order is placed all the same, takes what there
is, and an alert says what is missing.
"""

from __future__ import annotations

from sqlalchemy.orm import selectinload

from app.domain.alerts.alerts import end_alert, raise_alert
from app.domain.alerts.causes import Cause
from app.domain.orders.fulfilment import request_fulfilment
from app.domain.orders.models import CANCELLED, OPEN, SUBMITTED, Order, OrderLine
from app.domain.orders.offers import Offer, offers_of
from app.domain.orders.pricing import check_available, reprice
from app.domain.orders.stock import take
from app.domain.shared.author import Author
from app.domain.shared.problems import Conflict, NotFound
from app.domain.shared.records import find_record
from app.domain.sites import audit
from app.extensions import db


def submit(author: Author, order_id: str, accept_difference: bool = False) -> Order:
    """Submit a basket, which is paid or costs nothing, as an order. Repeated, it changes nothing. Call it within a
    transaction. `accept_difference`: staff have seen that the amount paid is not the total.

    Raises NotFound, and Conflict `order_cancelled`, `basket_empty`, `payment_required`, `amount_mismatch` or
    `out_of_stock`, the last only for what costs nothing.
    """
    order = find_record(Order, author.site_id, order_id, to_change=True, options=[selectinload(Order.lines)])
    if order is None:
        raise NotFound("There is no such basket on this site.")
    if order.status == CANCELLED:
        raise Conflict("This order was cancelled.", "order_cancelled")
    if order.status != OPEN:
        return order
    _check(order, accept_difference)
    missing = _take_stock(author, order)
    _place(author, order, missing)
    request_fulfilment(author.clock, order, is_short=bool(missing))
    db.session.flush()
    return order


def _check(order: Order, accept_difference: bool) -> None:
    if not order.lines:
        raise Conflict("There is nothing in this basket.", "basket_empty")
    if order.paid_at is None:
        _check_free(order)
    elif order.paid_amount != order.total and not accept_difference:
        raise Conflict(
            "The amount that was paid is not the total of this basket. Staff of the shop must look at it.",
            "amount_mismatch",
            paidAmount=order.paid_amount,
            total=order.total,
        )


def _check_free(order: Order) -> None:
    if order.payment_lock is not None:
        raise Conflict("The payment of this basket has not succeeded yet.", "payment_required")
    offers = reprice(order)
    if order.total > 0:
        raise Conflict("This basket is not paid yet.", "payment_required")
    check_available(order, offers)


def _take_stock(author: Author, order: Order) -> list[str]:
    """Take the lines of an order from stock; return a description of each shortage."""
    offers = offers_of(order.site_id, order.lines, to_sell=True, hidden_too=True)
    short = [(line, _take(author, order, line, offers.get(line.id))) for line in order.lines]
    return [f"{missing} of {line.quantity} × {line.name} ({line.sku})" for line, missing in short if missing]


def _take(author: Author, order: Order, line: OrderLine, offer: Offer | None) -> int:
    """Take the line from stock and return how many of it are missing: all of what is gone from the catalogue."""
    return line.quantity if offer is None else take(author.clock, line, offer, order.number or 0)


def _place(author: Author, order: Order, missing: list[str]) -> None:
    order.status = SUBMITTED
    order.submitted_at = order.updated_at = author.now()
    order.revision += 1
    shortage = f"; not in stock: {', '.join(missing)}" if missing else ""
    audit.record(author, "order.submit", ("order", order.id), f"Order {order.number} was placed{shortage}")
    end_alert(author.clock, Cause.PAID_BASKET_OPEN, order.site_id, order.id)
    if missing:
        detail = f"Order {order.number} was paid, and these were not in stock: {', '.join(missing)}."
        raise_alert(author.clock, Cause.PAID_ORDER_SHORT, detail, order.site_id, order.id)
