"""Payment by bank transfer, as staff see it in the shop's account. Call these within a transaction."""

from __future__ import annotations

from app.domain.orders.lifecycle import StatusChange, order_of
from app.domain.orders.models import CANCELLED, COLLECTED, Order
from app.domain.shared.author import Author
from app.domain.shared.money import format_money
from app.domain.shared.problems import Conflict
from app.domain.sites import activity


def note_transfer(author: Author, order_id: str) -> StatusChange:
    """Record that an order's payment arrived by bank transfer, or the rest where part was paid at a till. Raises
    NotFound, Conflict for an order that was cancelled, is not paid in advance, or is paid otherwise, and while a card
    is charged."""
    order = order_of(author.site_id, order_id, to_change=True)
    if order.paid_by_transfer:
        return StatusChange.of(order, changed=False)
    if order.status == CANCELLED:
        raise Conflict(f"Order {order.number} was cancelled. Give back what was paid for it.")
    if order.paid_at is not None or order.reserved_amount:
        raise Conflict(f"A payment for order {order.number} was taken at a till, or is under way.")
    if not order.awaits_transfer:
        raise Conflict(f"Order {order.number} is not paid by bank transfer.")
    order.transferred_amount = order.amount_due
    order.paid_at, order.paid_amount, order.paid_by_transfer = author.now(), order.total, True
    amount = format_money(order.transferred, order.currency)
    return _note(author, order, "order.pay", f"was paid by bank transfer: {amount}")


def revoke_transfer(author: Author, order_id: str) -> StatusChange:
    """Record that a bank transfer did not arrive after all, or that the money of a cancelled order was transferred
    back. Raises NotFound, Conflict for an order that was handed over."""
    order = order_of(author.site_id, order_id, to_change=True)
    if not order.paid_by_transfer:
        return StatusChange.of(order, changed=False)
    if order.status == COLLECTED or order.is_ready:
        raise Conflict(f"Order {order.number} was sent, so its payment stays as it is.")
    amount = format_money(order.transferred, order.currency)
    order.paid_at, order.paid_amount = None, max(0, order.paid_amount - order.transferred)
    order.transferred_amount, order.paid_by_transfer = 0, False
    was = f"got {amount} transferred back" if order.status == CANCELLED else "is not paid by bank transfer after all"
    return _note(author, order, "order.unpay", was)


def _note(author: Author, order: Order, action: str, summary: str) -> StatusChange:
    order.updated_at = author.now()
    order.revision += 1
    activity.record(author, action, ("order", order.id), f"Order {order.number} {summary}")
    return StatusChange.of(order, changed=True)
