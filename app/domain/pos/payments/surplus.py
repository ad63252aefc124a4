"""What was paid too much for an order, as when a card succeeds after cash had settled it: how much of a payment must go
back, and that it did."""

from __future__ import annotations

from app.domain.orders.models import Order
from app.domain.pos.models import PosTransaction
from app.domain.pos.payments.transitions import end_anomaly, sums_of_order
from app.domain.pos.states import PAID_TWICE, UNEXPECTED_PAYMENT
from app.domain.shared.author import Author
from app.domain.shared.problems import Conflict
from app.domain.shared.records import find_record

REASON = "The order had been paid already"  # Of its refund.
GIVEN_BACK = "What was paid too much was given back"
MAY_BE_SURPLUS = (PAID_TWICE, UNEXPECTED_PAYMENT)  # Anomalies.


def surplus_of(payment: PosTransaction, given_back: int = 0) -> int:
    """Return the amount of a payment, in minor units, that must go back since its order had been paid already: all that
    is left, tip included, where nothing was due; else what its order has too much. With `given_back`, the amount before
    so much was refunded. 0 for a payment without such an anomaly, also once staff resolved it."""
    if payment.anomaly not in MAY_BE_SURPLUS:
        return 0
    left = payment.captured_amount - payment.refunded_amount + given_back
    if payment.is_surplus:
        return left
    order = find_record(Order, payment.site_id, payment.order_id) if payment.order_id else None
    if order is None:
        return 0
    return min(left, max(0, sums_of_order(order.site_id, order.id).paid + given_back - order.total))


def amount_to_give_back(payment: PosTransaction) -> int:
    """Return the amount of a payment that is too much now. Raises Conflict where nothing is."""
    if amount := surplus_of(payment):
        return amount
    raise Conflict("Nothing of this payment is too much any more. Look at the order again.")


def end_surplus(author: Author, payment: PosTransaction, given_back: int) -> None:
    """End the anomaly of a locked payment once all that was paid too much was given back, lately `given_back`. Call it
    in a transaction, after the refund was applied."""
    if surplus_of(payment, given_back) > 0 and surplus_of(payment) == 0:
        end_anomaly(author, payment, "surplus refunded", GIVEN_BACK)
