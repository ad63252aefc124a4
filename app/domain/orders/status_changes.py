"""Status changes of an order by staff: ready, collect, reopen, cancel. Call them within a transaction; each writes its
line of the activity log. Repeating one changes nothing."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy.orm import selectinload

from app.domain.alerts.alerts import end_alert
from app.domain.alerts.causes import Cause
from app.domain.orders.letters import OrderMailKind
from app.domain.orders.mails import end_untrue, request_mail
from app.domain.orders.models import CANCELLED, COLLECTED, OPEN, SUBMITTED, Order
from app.domain.orders.offers import offers_of
from app.domain.orders.stock import give_back
from app.domain.shared.author import Author
from app.domain.shared.clock import Clock
from app.domain.shared.problems import Conflict
from app.domain.shared.records import existing, find_record
from app.domain.sites import audit

# Long enough to notice a mistake; what was sold last month stays as it stands in the books.
REOPENED_WITHIN = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class StatusChange:
    """`changed` is False where the order had the status already. `not_returned` names the lines that could not go back
    into stock: the product is gone, its stock is no longer counted, or it is sold in variants now."""

    number: int
    changed: bool
    not_returned: tuple[str, ...] = ()


def order_of(site_id: int, order_id: str, to_change: bool = False) -> Order:
    """Return an order of this site, not a basket. Raises NotFound."""
    order = find_record(Order, site_id, order_id, to_change, [selectinload(Order.lines)])
    return existing(order if order and order.status != OPEN else None, "There is no such order on this site.")


def shown_order(site_id: int, order_id: str) -> Order:
    """Return an order, or a basket of a till, which staff may look at; a shopper's own basket is private. Raises
    NotFound."""
    order = find_record(Order, site_id, order_id, options=[selectinload(Order.lines)])
    is_shown = order is not None and (order.status != OPEN or order.owner_id is not None or order.channel == "POS")
    return existing(order if is_shown else None, "There is no such order on this site.")


def mark_ready(author: Author, order_id: str, by_email: bool = False) -> StatusChange:
    """Mark an order as ready to collect; with `by_email`, a mail says so. Raises NotFound, Conflict for an order that
    was cancelled or collected."""
    order = _to_collect(author, order_id)
    if order.ready_at is not None:
        return StatusChange(order.number or 0, changed=False)
    order.ready_at = author.now()
    # A packed order has all its goods, so a shortage is over; `mark_not_ready` does not raise the alert again.
    end_alert(author.clock, Cause.PAID_ORDER_SHORT, order.site_id, order.id)
    mail = request_mail(author, order, OrderMailKind.READY) if by_email else None
    return _note_ready(author, order, "order.ready", f"is ready to collect{'; an email says so' if mail else ''}")


def mark_not_ready(author: Author, order_id: str) -> StatusChange:
    """Mark an order as not ready to collect after all. Raises NotFound, Conflict for an order that was cancelled or
    collected."""
    order = _to_collect(author, order_id)
    if order.ready_at is None:
        return StatusChange(order.number or 0, changed=False)
    order.ready_at = None
    end_untrue(author.clock, order)
    return _note_ready(author, order, "order.not_ready", "is not ready to collect yet")


def _to_collect(author: Author, order_id: str) -> Order:
    order = _not_cancelled(author, order_id)
    if order.status == COLLECTED:
        raise Conflict(f"Order {order.number} was collected already.")
    return order


def _note_ready(author: Author, order: Order, action: str, summary: str) -> StatusChange:
    order.updated_at = author.now()
    order.revision += 1
    audit.record(author, action, ("order", order.id), f"Order {order.number} {summary}")
    return StatusChange(order.number or 0, changed=True)


def collect(author: Author, order_id: str) -> StatusChange:
    """Mark an order as collected, and as paid then unless a card had paid it. Raises NotFound, Conflict for a cancelled
    order and while a card is being charged for it."""
    order = _not_cancelled(author, order_id)
    if order.status == COLLECTED:
        return StatusChange(order.number or 0, changed=False)
    _check_no_payment(order)
    summary = "was collected and paid" if order.paid_at is None else "was collected"
    return _set_status(author, order, COLLECTED, "order.collect", summary)


def reopen(author: Author, order_id: str) -> StatusChange:
    """Undo the collection of an order, which awaits collection again and can be cancelled. Raises NotFound, Conflict
    for a cancelled one, whose stock others may have bought, and for one that was collected over a week ago."""
    order = _not_cancelled(author, order_id)
    if order.status == SUBMITTED:
        return StatusChange(order.number or 0, changed=False)
    if not can_reopen(order, author.clock):
        days = REOPENED_WITHIN.days
        raise Conflict(f"Order {order.number} was collected over {days} days ago, so that stays as it is.")
    change = _set_status(author, order, SUBMITTED, "order.reopen", "is awaiting collection again")
    order.settled_at = None
    return change


def can_reopen(order: Order, clock: Clock) -> bool:
    collected_at = order.settled_at if order.status == COLLECTED else None
    return collected_at is not None and clock.now() - collected_at <= REOPENED_WITHIN


def cancel(author: Author, order_id: str) -> StatusChange:
    """Cancel an order: what it took goes back into stock, once. Raises NotFound, Conflict for a collected order and
    while a card is being charged for it."""
    order = order_of(author.site_id, order_id, to_change=True)
    if order.status == COLLECTED:
        raise Conflict(f"Order {order.number} was collected already, so it cannot be cancelled.")
    if order.status == CANCELLED:
        return StatusChange(order.number or 0, changed=False)
    _check_no_payment(order)
    not_returned = _return_stock(author.clock, order)
    missing = f"; not counted back into stock: {', '.join(not_returned)}" if not_returned else ""
    return _set_status(author, order, CANCELLED, "order.cancel", f"was cancelled{missing}", not_returned)


def _check_no_payment(order: Order) -> None:
    if order.payment_lock is not None and order.paid_at is None:
        raise Conflict(f"A card payment for order {order.number} is under way. Cancel that first, or wait for its end.")


def _not_cancelled(author: Author, order_id: str) -> Order:
    order = order_of(author.site_id, order_id, to_change=True)
    if order.status == CANCELLED:
        raise Conflict(f"Order {order.number} was cancelled, and its products are back in stock.")
    return order


def _set_status(
    author: Author, order: Order, status: str, action: str, summary: str, not_returned: tuple[str, ...] = ()
) -> StatusChange:
    before, order.status = order.status, status
    end_untrue(author.clock, order)
    end_alert(author.clock, Cause.PAID_ORDER_SHORT, order.site_id, order.id)
    order.settled_at = order.updated_at = author.now()
    order.revision += 1
    audit.record(
        author,
        action,
        ("order", order.id),
        f"Order {order.number} {summary}",
        before={"status": before},
        after={"status": status},
    )
    return StatusChange(order.number or 0, changed=True, not_returned=not_returned)


def _return_stock(clock: Clock, order: Order) -> tuple[str, ...]:
    """Return to stock what each line took, of hidden products too; return the names of the lines for which that was not
    possible."""
    taken = [line for line in order.lines if line.stock_taken]
    offers = offers_of(order.site_id, order.lines, to_sell=True, hidden_too=True)
    not_returned = []
    for line in taken:
        offer = offers.get(line.id)
        if offer is None or offer.stock is None:
            not_returned.append(line.name)
        else:
            give_back(clock, line, offer, order.number or 0)
    return tuple(not_returned)
