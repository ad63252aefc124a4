"""Card payments of orders, as the pages of orders show them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from sqlalchemy import ColumnElement, and_, select

from app.domain.orders.models import Order
from app.domain.pos.models import PosAgent, PosLocation, PosTransaction
from app.domain.pos.states import PAID_STATUSES, TransactionStatus
from app.extensions import db


class OrderPaymentState(StrEnum):
    """The state of an order's card payment, in the words of pages; UNPAID without one."""

    UNPAID = ""
    PAID = "Paid by card"
    PART_REFUNDED = "Partly refunded"
    REFUNDED = "Refunded"
    WAITING = "Payment under way"
    UNKNOWN = "Payment unknown"


OF_STATUS = {
    TransactionStatus.REFUNDED: OrderPaymentState.REFUNDED,
    TransactionStatus.PARTIALLY_REFUNDED: OrderPaymentState.PART_REFUNDED,
    TransactionStatus.UNKNOWN: OrderPaymentState.UNKNOWN,
}


@dataclass(frozen=True, slots=True)
class OrderPayment:
    """A card payment that was begun for an order; amounts in minor units."""

    id: str
    status: str
    amount: int
    currency: str
    captured: int
    refunded: int
    card_brand: str | None
    card_last4: str | None
    created_at: datetime
    agent: str
    location: str
    anomaly: str | None

    @property
    def is_kept(self) -> bool:
        """Whether the shop still holds money of the payment."""
        return self.status in PAID_STATUSES and self.refunded < self.captured

    @property
    def kept(self) -> int:
        return self.captured - self.refunded if self.is_kept else 0


def payments_of_order(site_id: int, order_id: str) -> Sequence[OrderPayment]:
    """Return every card payment that was begun for an order, newest first."""
    payment = PosTransaction
    query = (
        select(
            payment.id,
            payment.status,
            payment.amount_in_pence.label("amount"),
            payment.currency,
            payment.captured_amount.label("captured"),
            payment.refunded_amount.label("refunded"),
            payment.card_brand,
            payment.card_last4,
            payment.created_at,
            PosAgent.display_name.label("agent"),
            PosLocation.display_name.label("location"),
            payment.anomaly,
        )
        .join(PosAgent, PosAgent.id == payment.agent_id)
        .join(PosLocation, PosLocation.id == payment.location_id)
        .where(payment.site_id == site_id, payment.order_id == order_id)
    )
    rows = db.session.execute(query.order_by(payment.created_at.desc(), payment.id))
    return [OrderPayment(**row._mapping) for row in rows]


def statuses_of(site_id: int, transaction_ids: Collection[str]) -> Mapping[str, TransactionStatus]:
    """Return the statuses of the payments that hold the locks of orders, by one statement."""
    if not transaction_ids:
        return {}
    query = select(PosTransaction.id, PosTransaction.status).where(
        PosTransaction.site_id == site_id, PosTransaction.id.in_(transaction_ids)
    )
    return {row.id: TransactionStatus(row.status) for row in db.session.execute(query)}


def is_refunded() -> ColumnElement[bool]:
    """Return a condition on orders: the card payment of the order was refunded in full, so that no customer waits for
    it."""
    payment = select(PosTransaction.status).where(PosTransaction.id == Order.payment_lock).scalar_subquery()
    return and_(Order.paid_at.is_not(None), payment.is_not_distinct_from(TransactionStatus.REFUNDED.value))


def payment_state_of(is_paid: bool, lock: str | None, statuses: Mapping[str, TransactionStatus]) -> OrderPaymentState:
    if lock is None and not is_paid:
        return OrderPaymentState.UNPAID
    otherwise = OrderPaymentState.PAID if is_paid else OrderPaymentState.WAITING
    status = statuses.get(lock or "")
    return OF_STATUS.get(status, otherwise) if status else otherwise


def location_names(site_id: int) -> Mapping[str, str]:
    """Return the names of locations by the id that orders and clients use."""
    query = select(PosLocation.location_id, PosLocation.display_name).where(PosLocation.site_id == site_id)
    return {row.location_id: row.display_name for row in db.session.execute(query)}
