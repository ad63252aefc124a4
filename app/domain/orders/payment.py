"""Paying an order by card: what is due, the lock that freezes its contents meanwhile, and that it is paid.

Call these within a transaction. Each may be repeated, and concurrent callers take turns: the order's row is locked or
changed by compare and set. `payment_lock` names the transaction under way, and stays when it has paid, so that what was
paid for never changes.
"""

from __future__ import annotations

from enum import StrEnum

from sqlalchemy import or_, select, update
from sqlalchemy.orm import selectinload

from app.domain.orders.models import CANCELLED, COLLECTED, OPEN, Order
from app.domain.orders.offers import check_available, reprice
from app.domain.shared.author import Author
from app.domain.shared.clock import Clock
from app.domain.shared.money import format_money
from app.domain.shared.problems import Conflict, NotFound
from app.domain.shared.records import find_record
from app.domain.sites import activity
from app.domain.sites.models import AuditEntry
from app.extensions import db

THE_TILL, PAY = "The till", "order.pay"


class PaymentInProgress(Conflict):
    """Another payment holds the lock: `transaction_id`."""

    code = "payment_in_progress"

    def __init__(self, transaction_id: str) -> None:
        super().__init__("A payment for this order is under way.")
        self.transaction_id = transaction_id


class PaidMark(StrEnum):
    """The result of `mark_paid`. TWICE: another transaction had paid the order, so money must go back. GONE: there is
    no such order any more."""

    PAID = "paid"
    KNOWN = "known"
    TWICE = "twice"
    GONE = "gone"


def order_to_pay(site_id: int, order_id: str) -> Order:
    """Return the order, locked, with `total` as the amount due: for a basket at today's prices. Raises NotFound
    `order_not_found`, PaymentInProgress, and Conflict `order_already_paid`, `order_cancelled`, `basket_empty` or
    `out_of_stock`."""
    order = find_record(Order, site_id, order_id, to_change=True, options=[selectinload(Order.lines)])
    if order is None:
        raise NotFound("There is no such order on this site.", "order_not_found")
    if order.paid_at is not None or order.status == COLLECTED:
        raise Conflict("This order is paid already.", "order_already_paid")
    if order.status == CANCELLED:
        raise Conflict("This order was cancelled.", "order_cancelled")
    if order.payment_lock is not None:
        raise PaymentInProgress(order.payment_lock)
    if order.status == OPEN:
        if not order.lines:
            raise Conflict("There is nothing in this basket.", "basket_empty")
        check_available(order, reprice(order))
        db.session.flush()
    return order


def lock_for_payment(order: Order, transaction_id: str) -> None:
    """Freeze the order's contents while the transaction is under way. Raises PaymentInProgress where another is, and
    Conflict `order_already_paid`."""
    free = or_(Order.payment_lock.is_(None), Order.payment_lock == transaction_id)
    which = (Order.site_id == order.site_id, Order.id == order.id, Order.paid_at.is_(None), free)
    db.session.flush()
    locked = db.session.execute(update(Order).where(*which).values(payment_lock=transaction_id))
    db.session.refresh(order, ["payment_lock", "paid_at"])
    if locked.rowcount:  # type: ignore[attr-defined]
        return
    if order.paid_at is not None:
        raise Conflict("This order is paid already.", "order_already_paid")
    raise PaymentInProgress(order.payment_lock or "")


def release_payment_lock(order_id: str, transaction_id: str) -> None:
    """Release the lock of a transaction that ended without money, so that the order's contents may change again."""
    db.session.flush()
    which = (Order.id == order_id, Order.payment_lock == transaction_id, Order.paid_at.is_(None))
    db.session.execute(update(Order).where(*which).values(payment_lock=None))


def mark_paid(clock: Clock, order_id: str, transaction_id: str, amount: int) -> PaidMark:
    """Mark an order as paid by a transaction, once. A lock of another transaction, a cancelled order or a total that
    differs do not prevent it, since the money is there, and staff see each."""
    query = select(Order).where(Order.id == order_id).with_for_update()
    order = db.session.scalar(query.execution_options(populate_existing=True))
    if order is None:
        return PaidMark.GONE
    if order.paid_at is not None:
        return _note_second_payment(clock, order, transaction_id, amount)
    order.paid_at = order.updated_at = clock.now()
    order.paid_amount, order.payment_lock = amount, transaction_id
    _record(clock, order, transaction_id, f"{_name(order)} was paid by card: {_money(order, amount)}{_doubt(order)}")
    db.session.flush()
    return PaidMark.PAID


def _note_second_payment(clock: Clock, order: Order, transaction_id: str, amount: int) -> PaidMark:
    if order.payment_lock == transaction_id:
        return PaidMark.KNOWN
    of_order = AuditEntry.subject_type == "order", AuditEntry.subject_id == order.id
    payments = select(AuditEntry.after).where(AuditEntry.site_id == order.site_id, *of_order, AuditEntry.action == PAY)
    if all(after["transactionId"] != transaction_id for after in db.session.scalars(payments)):
        summary = f"{_name(order)} was paid a second time: {_money(order, amount)} must be given back"
        _record(clock, order, transaction_id, summary)
    return PaidMark.TWICE


def _doubt(order: Order) -> str:
    """Return the words for what staff must look at about a paid order; empty where there is nothing."""
    if order.status == CANCELLED:
        return "; it had been cancelled"
    return f"; its total is {_money(order, order.total)}" if order.paid_amount != order.total else ""


def _name(order: Order) -> str:
    return f"Order {order.number}" if order.number else "A basket"


def _money(order: Order, amount: int) -> str:
    return format_money(amount, order.currency)


def _record(clock: Clock, order: Order, transaction_id: str, summary: str) -> None:
    author = Author(order.site_id, THE_TILL, clock)
    after = {"transactionId": transaction_id, "paidAmount": order.paid_amount}
    activity.record(author, PAY, ("order", order.id), summary, after=after)
