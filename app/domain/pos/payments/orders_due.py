"""Orders that are paid by card: which ones a cashier may take money for, and how much."""

from __future__ import annotations

from app.domain.orders.models import OPEN, Order
from app.domain.orders.payment import PaymentInProgress, order_to_pay
from app.domain.pos.models import PosTransaction
from app.domain.pos.payments import rules
from app.domain.pos.payments.cashier import Cashier
from app.domain.pos.states import TransactionStatus
from app.domain.shared.problems import Conflict, NotFound, Unprocessable
from app.domain.shared.records import find_record
from app.extensions import db


def payable_order(cashier: Cashier, order_id: str) -> Order:
    """Return an order that the cashier may take a payment for: an agent's own basket, the one that they were let in to,
    or an order that waits to be collected. Raises NotFound and Conflict, which names the payment under way."""
    site_id = cashier.author.site_id
    known = find_record(Order, site_id, order_id)
    if known is None or not _may_be_paid_to(cashier, known):
        raise NotFound("There is no such order on this site.", "order_not_found")
    try:
        return order_to_pay(site_id, order_id)
    except PaymentInProgress as error:
        raise _under_way(error.transaction_id) from None


def _may_be_paid_to(cashier: Cashier, order: Order) -> bool:
    """Whether the cashier may take a payment for the order. A shopper's own basket is private until it is ordered."""
    if order.owner_id is None:
        return order.status != OPEN
    return cashier.is_admin or order.owner_id == cashier.user_id or order.id == cashier.basket_id


def _under_way(transaction_id: str) -> Conflict:
    other = db.session.get(PosTransaction, transaction_id)
    intent_id = other.processor_intent_id if other else None
    about_it = {"transactionId": transaction_id, "paymentIntentId": intent_id}
    if other is not None and other.status == TransactionStatus.UNKNOWN:
        message = "Nobody knows yet whether this order was paid. Wait until that is known."
        return Conflict(message, "outcome_unknown", **about_it)
    return Conflict("A payment of this order is under way. Go on with that one.", "payment_in_progress", **about_it)


def amount_due(order: Order | None, requested: int | None, currency: str) -> int:
    """Return the amount due by the shop's own figures. Raises Unprocessable where the client gives another, and for an
    order that was placed in another currency than `currency`, the one of the payment."""
    if order is None:
        if requested is None:
            raise Unprocessable("Say how much is to be paid.", "amount_invalid")
        return requested
    if order.currency != currency:  # An order keeps its currency when that of the shop is changed.
        raise Unprocessable(
            f"This order was placed in {order.currency.upper()}, and payments here are in {currency.upper()}.",
            "currency_not_supported",
        )
    if requested not in (None, order.total):
        raise Unprocessable("The order comes to another amount.", "amount_mismatch", totalInPence=order.total)
    rules.check_amount(order.total)
    return order.total
