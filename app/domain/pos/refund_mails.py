"""The mail to the customer of an order of which money was given back."""

from __future__ import annotations

from app.domain.orders.mail_contents import RefundFacts
from app.domain.orders.mails import request_refund_mail
from app.domain.orders.models import OPEN
from app.domain.orders.payment import lock_order
from app.domain.pos.models import PosRefund, PosTransaction
from app.domain.pos.states import CASH
from app.domain.shared.author import Author


def request_mail(author: Author, payment: PosTransaction, refund: PosRefund) -> None:
    """Request the mail about a refund that was made, whose payment is locked; nothing for a payment without an order
    and for a refund that has not succeeded."""
    if payment.order_id is None or refund.status != "SUCCEEDED":
        return
    order = lock_order(payment.order_id)
    if order is not None and order.status != OPEN:
        request_refund_mail(author, order, refund.id, RefundFacts(refund.amount, refund.tender_type == CASH))
