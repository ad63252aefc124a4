"""Paying an order by card and in cash, perhaps by several payments: what is due, what payments under way may still
bring, and that it is paid.

Call these within a transaction. Each may be repeated, and concurrent callers take turns: the order's row is locked. The
contents stay as they are from the first payment until all of them ended without money or were given back.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import selectinload

from app.domain.orders.models import CANCELLED, COLLECTED, OPEN, Order
from app.domain.orders.offers import check_available, reprice
from app.domain.shared.author import Author
from app.domain.shared.clock import Clock
from app.domain.shared.money import format_money
from app.domain.shared.problems import Conflict, NotFound, Unprocessable
from app.domain.shared.records import find_record
from app.domain.sites import activity
from app.extensions import db

THE_TILL, PAY, UNPAY = "The till", "order.pay", "order.unpay"


class PaymentInProgress(Conflict):
    """Payments under way may take what this one wants to."""

    code = "payment_in_progress"

    def __init__(self) -> None:
        super().__init__("A payment for this order is under way.")


@dataclass(frozen=True, slots=True)
class PaidSums:
    """The sums of an order's payments in minor units: by card and in cash less what was given back, both without tips,
    and what payments under way may still bring."""

    by_card: int = 0
    in_cash: int = 0
    reserved: int = 0

    @property
    def paid(self) -> int:
        return self.by_card + self.in_cash


def order_to_pay(site_id: int, order_id: str) -> Order:
    """Return the order, locked; `total` of a basket is of today's prices until its first payment. Raises NotFound
    `order_not_found`, and Conflict `order_already_paid`, `order_cancelled`, `basket_empty` or `out_of_stock`."""
    order = find_record(Order, site_id, order_id, to_change=True, options=[selectinload(Order.lines)])
    if order is None:
        raise NotFound("There is no such order on this site.", "order_not_found")
    if order.paid_at is not None or order.status == COLLECTED:
        raise Conflict("This order is paid already.", "order_already_paid")
    if order.status == CANCELLED:
        raise Conflict("This order was cancelled.", "order_cancelled")
    if order.status == OPEN and not order.is_locked:
        if not order.lines:
            raise Conflict("There is nothing in this basket.", "basket_empty")
        check_available(order, reprice(order))
        db.session.flush()
    return order


def amount_to_take(order: Order, wanted: int | None) -> int:
    """Return the amount of a new payment of a locked order: `wanted`, or all that is due where it is None. Raises
    Unprocessable `amount_exceeds_due`, and PaymentInProgress where payments under way may take it."""
    due = order.amount_due
    amount = due if wanted is None else wanted
    if amount > due:
        message = f"{format_money(due, order.currency)} of this order is still to be paid."
        raise Unprocessable(message, "amount_exceeds_due", amountDueInPence=due)
    if amount > due - order.reserved_amount:
        raise PaymentInProgress
    return amount


def lock_order(order_id: str) -> Order | None:
    """Return an order, locked and read anew; None where there is none any more."""
    query = select(Order).where(Order.id == order_id).with_for_update()
    return db.session.scalar(query.execution_options(populate_existing=True))


def is_settled(order: Order) -> bool:
    """Whether an order was paid, so that money of a further payment must go back."""
    return order.paid_at is not None


def apply_payments(clock: Clock, order: Order, sums: PaidSums) -> None:
    """Save what the payments of a locked order come to, and that it is paid once they reach its total. A cancelled
    order or a sum above the total do not prevent it, since the money is there, and staff see each. What is given back
    of an order that was paid and placed leaves it paid."""
    order.reserved_amount = sums.reserved
    if order.paid_at is not None and order.status != OPEN:
        return
    before, order.paid_amount = order.paid_amount, max(0, sums.paid)
    is_paid = order.paid_amount >= order.total and order.paid_amount > 0
    if order.paid_amount != before:
        order.updated_at = clock.now()
    if is_paid and order.paid_at is None:
        order.paid_at = clock.now()
        _record(clock, order, PAY, f"{_name(order)} was paid: {_tenders(order, sums)}{_doubt(order)}")
    elif not is_paid and order.paid_at is not None:
        order.paid_at = None
        given_back = _money(order, before - order.paid_amount)
        _record(clock, order, UNPAY, f"{_name(order)} is not paid any more: {given_back} was given back")
    db.session.flush()


def note_surplus(clock: Clock, order: Order, transaction_id: str, amount: int) -> None:
    """Record in the activity log that an order was paid a second time."""
    summary = f"{_name(order)} was paid a second time: {_money(order, amount)} must be given back"
    _record(clock, order, PAY, summary, transactionId=transaction_id)


def _tenders(order: Order, sums: PaidSums) -> str:
    parts = ((sums.by_card, "by card"), (sums.in_cash, "in cash"))
    return " and ".join(f"{_money(order, amount)} {how}" for amount, how in parts if amount)


def _doubt(order: Order) -> str:
    """Return the words for what staff must look at about a paid order; empty where there is nothing."""
    if order.status == CANCELLED:
        return "; it had been cancelled"
    return f"; its total is {_money(order, order.total)}" if order.paid_amount != order.total else ""


def _name(order: Order) -> str:
    return f"Order {order.number}" if order.number else "A basket"


def _money(order: Order, amount: int) -> str:
    return format_money(amount, order.currency)


def _record(clock: Clock, order: Order, action: str, summary: str, **more: object) -> None:
    after = {"paidAmount": order.paid_amount, **more}
    activity.record(Author(order.site_id, THE_TILL, clock), action, ("order", order.id), summary, after=after)
