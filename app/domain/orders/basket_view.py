"""A basket of a program as its clients see it: at today's prices while it is open, with the stored ones once a payment
is under way or it is submitted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from app.domain.orders.models import CANCELLED, OPEN, SUBMITTED, Order
from app.domain.orders.offers import offers_of


class PaymentState(StrEnum):
    NONE = "NONE"
    IN_PROGRESS = "IN_PROGRESS"
    PAID = "PAID"


@dataclass(frozen=True, slots=True)
class LineView:
    id: int
    sku_code: str
    name: str
    options: Mapping[str, str]
    quantity: int
    unit_price: int

    @property
    def line_total(self) -> int:
        return self.unit_price * self.quantity


@dataclass(frozen=True, slots=True)
class BasketView:
    """A basket and its lines as clients see them. Money in minor units. `status`: an order that was handed over counts
    as SUBMITTED."""

    order: Order
    lines: Sequence[LineView]

    @property
    def status(self) -> str:
        return self.order.status if self.order.status in (OPEN, CANCELLED) else SUBMITTED

    @property
    def payment_state(self) -> PaymentState:
        return payment_state(self.order)

    @property
    def subtotal(self) -> int:
        return sum(line.line_total for line in self.lines)

    @property
    def total(self) -> int:
        return max(0, self.subtotal - self.order.discount + self.order.tax)


def payment_state(order: Order) -> PaymentState:
    if order.paid_at is not None:
        return PaymentState.PAID
    return PaymentState.NONE if order.payment_lock is None else PaymentState.IN_PROGRESS


def view_basket(order: Order) -> BasketView:
    """Return the view of a basket; today's prices are read, and nothing is changed."""
    is_frozen = order.status != OPEN or order.payment_lock is not None
    offers = {} if is_frozen else offers_of(order.site_id, order.lines)
    lines = []
    for line in order.lines:
        offer = offers.get(line.id)
        name, price = (offer.product.name, offer.price) if offer else (line.name, line.unit_price)
        lines.append(LineView(line.id, line.sku, name, line.options, line.quantity, price))
    return BasketView(order, lines)
