"""The life of an order after its payment: submission, fulfilment, and the status changes by staff. Call these within a
transaction; each writes its line of the activity log, and repeating one changes nothing.

What was paid is never lost: where stock ran out since the payment, the order is placed all the same, takes what there
is, and an alert says what is missing. Its fulfilment is requested in the same transaction, as a stored event, which is
delivered at least once; `fulfilled_at` makes the second delivery change nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import func, select, update
from sqlalchemy.orm import selectinload

from app.domain.alerts.alerts import end_alert, raise_alert
from app.domain.alerts.causes import Cause
from app.domain.orders.handover import COLLECTION, Handover
from app.domain.orders.mail_contents import OrderMailKind
from app.domain.orders.mails import BY_EMAIL, can_mail, end_untrue, mail_settings, request_mail
from app.domain.orders.models import CANCELLED, COLLECTED, OPEN, SUBMITTED, Order, OrderNumbers
from app.domain.orders.offers import Offer, check_available, give_back, offers_of, reprice, take_stock
from app.domain.shared.author import Author
from app.domain.shared.clock import Clock
from app.domain.shared.money import format_money
from app.domain.shared.problems import Conflict, NotFound
from app.domain.shared.records import existing, find_record, upsert
from app.domain.sites import activity, stored_events
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
    _check_submission(order, accept_difference)
    missing = take_lines(author.clock, order, lock_offers(order))
    order.status = SUBMITTED
    order.submitted_at = order.updated_at = author.now()
    order.revision += 1
    shortage = f"; not in stock: {', '.join(missing)}" if missing else ""
    activity.record(author, "order.submit", ("order", order.id), f"Order {order.number} was placed{shortage}")
    end_alert(author.clock, Cause.PAID_BASKET_OPEN, order.site_id, order.id)
    if missing:
        detail = f"Order {order.number} was paid, and these were not in stock: {', '.join(missing)}."
        raise_alert(author.clock, Cause.PAID_ORDER_SHORT, detail, order.site_id, order.id)
    request_fulfilment(author.clock, order, is_short=bool(missing))
    db.session.flush()
    return order


def next_number(site_id: int) -> int:
    """Return the next number of a site, from 1 on, each once: the row is locked until the transaction ends, which gives
    the number back if it fails."""
    raised = update(OrderNumbers).where(OrderNumbers.site_id == site_id).values(next=OrderNumbers.next + 1)
    following = db.session.execute(raised.returning(OrderNumbers.next)).scalar_one_or_none()
    if following is None:
        _begin_numbers(site_id)
        following = db.session.execute(raised.returning(OrderNumbers.next)).scalar_one()
    return int(following) - 1


def _begin_numbers(site_id: int) -> None:
    """Begin the numbers of a site after the orders that the site has already, as one that was copied may."""
    known = db.session.scalar(select(func.max(Order.number)).where(Order.site_id == site_id)) or 0
    db.session.execute(upsert(OrderNumbers).values(site_id=site_id, next=known + 1).on_conflict_do_nothing())


def _check_submission(order: Order, accept_difference: bool) -> None:
    if not order.lines:
        raise Conflict("There is nothing in this basket.", "basket_empty")
    if order.paid_at is None and not (accept_difference and order.paid_amount and not order.reserved_amount):
        _check_free(order)
    elif order.paid_amount != order.total and not accept_difference:
        raise Conflict(
            "The amount that was paid is not the total of this basket. Staff of the shop must look at it.",
            "amount_mismatch",
            paidAmount=order.paid_amount,
            total=order.total,
        )


def _check_free(order: Order) -> None:
    if order.reserved_amount:
        message = "A payment of this basket has not succeeded yet."
        raise Conflict(message, "payment_required", amountDueInPence=order.amount_due)
    offers = {} if order.is_locked else reprice(order)
    if order.total > 0:
        message = f"{format_money(order.amount_due, order.currency)} of this basket is not paid yet."
        raise Conflict(message, "payment_required", amountDueInPence=order.amount_due)
    check_available(order, offers)


def lock_offers(order: Order) -> dict[int, Offer]:
    """Return what the lines of an order were made of, by the line's id, of hidden products too; locked until the
    transaction ends. What is gone from the catalogue has none."""
    return offers_of(order.site_id, order.lines, to_sell=True, hidden_too=True)


def take_lines(clock: Clock, order: Order, offers: Mapping[int, Offer]) -> list[str]:
    """Take the lines of an order from stock; return a description of each shortage. `offers` are those of
    `lock_offers`."""
    shortages = []
    for line in order.lines:
        offer = offers.get(line.id)  # None for what is gone from the catalogue: all of it is missing.
        missing = line.quantity if offer is None else take_stock(clock, line, offer, order.number or 0)
        if missing:
            shortages.append(f"{missing} of {line.quantity} × {line.name} ({line.sku})")
    return shortages


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
        summary = f"Order {order.number} is {order.handover.waiting}"
    activity.record(Author(site_id, THE_SHOP, clock), "order.fulfil", ("order", order.id), summary)
    return True


# Long enough to notice a mistake; what was sold last month stays as it stands in the books.
REOPENED_WITHIN = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class StatusChange:
    """`changed` is False where the order had the status already. `not_returned` names the lines that could not go back
    into stock: the product is gone, its stock is no longer counted, or it is sold in variants now. `handover` has
    the words for the order's states."""

    number: int
    changed: bool
    not_returned: tuple[str, ...] = ()
    handover: Handover = COLLECTION

    @classmethod
    def of(cls, order: Order, *, changed: bool, not_returned: tuple[str, ...] = ()) -> StatusChange:
        return cls(order.number or 0, changed, not_returned, order.handover)


def order_of(site_id: int, order_id: str, to_change: bool = False) -> Order:
    """Return an order of this site, not a basket. Raises NotFound."""
    order = find_record(Order, site_id, order_id, to_change, [selectinload(Order.lines)])
    return existing(order if order and order.status != OPEN else None, "There is no such order on this site.")


def order_for_staff(site_id: int, order_id: str) -> Order:
    """Return an order, or a basket of a till, which staff may look at; a shopper's own basket is private. Raises
    NotFound."""
    order = find_record(Order, site_id, order_id, options=[selectinload(Order.lines)])
    is_shown = order is not None and (order.status != OPEN or order.owner_id is not None or order.channel == "POS")
    return existing(order if is_shown else None, "There is no such order on this site.")


def mark_ready(author: Author, order_id: str, by_email: bool = False) -> StatusChange:
    """Mark an order as ready to collect, or as sent; with `by_email`, a mail says so. Raises NotFound, Conflict for an
    order that was cancelled or collected, and for one that is to be paid before it is sent."""
    order = _order_to_collect(author, order_id)
    if order.ready_at is not None:
        return StatusChange.of(order, changed=False)
    _check_paid_in_advance(order)
    order.ready_at = author.now()
    # A packed order has all its goods, so a shortage is over; `mark_not_ready` does not raise the alert again.
    end_alert(author.clock, Cause.PAID_ORDER_SHORT, order.site_id, order.id)
    mail = request_mail(author, order, OrderMailKind.READY) if by_email else None
    return _note_ready(author, order, "order.ready", f"is {order.handover.ready}{BY_EMAIL if mail else ''}")


def mark_not_ready(author: Author, order_id: str) -> StatusChange:
    """Mark an order as not ready to collect, or not sent, after all. Raises NotFound, Conflict for an order that was
    cancelled or collected."""
    order = _order_to_collect(author, order_id)
    if order.ready_at is None:
        return StatusChange.of(order, changed=False)
    order.ready_at = None
    end_untrue(author.clock, order)
    return _note_ready(author, order, "order.not_ready", f"is {order.handover.not_ready}")


def _order_to_collect(author: Author, order_id: str) -> Order:
    order = _uncancelled_order(author, order_id)
    if order.status == COLLECTED:
        raise Conflict(f"Order {order.number} was {order.handover.done} already.")
    return order


def _check_paid_in_advance(order: Order) -> None:
    if order.awaits_transfer:
        raise Conflict(f"Order {order.number} is to be paid before it is sent. Record its payment first.")


def _note_ready(author: Author, order: Order, action: str, summary: str) -> StatusChange:
    order.updated_at = author.now()
    order.revision += 1
    activity.record(author, action, ("order", order.id), f"Order {order.number} {summary}")
    return StatusChange.of(order, changed=True)


def collect(author: Author, order_id: str) -> StatusChange:
    """Mark an order as collected, or as delivered, and as paid then unless it was paid before; where the shop sends it,
    a mail says so. Raises NotFound, Conflict for a cancelled order, while a card is being charged for it, and for one
    that is to be paid before it is sent."""
    order = _uncancelled_order(author, order_id)
    if order.status == COLLECTED:
        return StatusChange.of(order, changed=False)
    _check_no_payment(order)
    _check_paid_in_advance(order)
    summary = f"was {order.handover.done}{' and paid' if order.paid_at is None else ''}"
    by_email = mail_settings(author.site_id).collected and can_mail(order, OrderMailKind.COLLECTED)
    change = _set_status(author, order, COLLECTED, "order.collect", f"{summary}{BY_EMAIL if by_email else ''}")
    if by_email:
        request_mail(author, order, OrderMailKind.COLLECTED)
    return change


def reopen(author: Author, order_id: str) -> StatusChange:
    """Undo the collection of an order, which awaits collection again and can be cancelled. Raises NotFound, Conflict
    for a cancelled one, whose stock others may have bought, and for one that was collected over a week ago."""
    order = _uncancelled_order(author, order_id)
    if order.status == SUBMITTED:
        return StatusChange.of(order, changed=False)
    if not can_reopen(order, author.clock):
        days = REOPENED_WITHIN.days
        raise Conflict(f"Order {order.number} was {order.handover.done} over {days} days ago, so that stays as it is.")
    change = _set_status(author, order, SUBMITTED, "order.reopen", f"is {order.handover.reopened}")
    order.settled_at = None
    return change


def can_reopen(order: Order, clock: Clock) -> bool:
    collected_at = order.settled_at if order.status == COLLECTED else None
    return collected_at is not None and clock.now() - collected_at <= REOPENED_WITHIN


def cancel(author: Author, order_id: str, by_email: bool = False) -> StatusChange:
    """Cancel an order: what it took goes back into stock, once; with `by_email`, a mail says so. Raises NotFound,
    Conflict for a collected order and while a card is being charged for it."""
    order = order_of(author.site_id, order_id, to_change=True)
    if order.status == COLLECTED:
        raise Conflict(f"Order {order.number} was {order.handover.done} already, so it cannot be cancelled.")
    if order.status == CANCELLED:
        return StatusChange.of(order, changed=False)
    _check_no_payment(order)
    not_returned = _return_stock(author.clock, order)
    missing = f"; not counted back into stock: {', '.join(not_returned)}" if not_returned else ""
    by_email = by_email and can_mail(order, OrderMailKind.CANCELLED)
    summary = f"was cancelled{missing}{BY_EMAIL if by_email else ''}"
    change = _set_status(author, order, CANCELLED, "order.cancel", summary, not_returned)
    if by_email:
        request_mail(author, order, OrderMailKind.CANCELLED)
    return change


def _check_no_payment(order: Order) -> None:
    if order.reserved_amount:
        raise Conflict(f"A card payment for order {order.number} is under way. Cancel that first, or wait for its end.")


def _uncancelled_order(author: Author, order_id: str) -> Order:
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
    activity.record(
        author,
        action,
        ("order", order.id),
        f"Order {order.number} {summary}",
        before={"status": before},
        after={"status": status},
    )
    return StatusChange.of(order, changed=True, not_returned=not_returned)


def _return_stock(clock: Clock, order: Order) -> tuple[str, ...]:
    """Return to stock what each line took, of hidden products too; return the names of the lines for which that was not
    possible."""
    taken = [line for line in order.lines if line.stock_taken]
    offers = lock_offers(order)
    not_returned = []
    for line in taken:
        offer = offers.get(line.id)
        if offer is None or offer.stock is None:
            not_returned.append(line.name)
        else:
            give_back(clock, line, offer, order.number or 0)
    return tuple(not_returned)
