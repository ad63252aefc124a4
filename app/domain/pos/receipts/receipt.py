"""A receipt as the customer reads it: what was bought and paid, where, and what the rules of card schemes want of the
card. It names no person."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import selectinload

from app.domain.orders.models import Order, OrderLine
from app.domain.orders.offers import subtotal_of
from app.domain.pos.emv import RECEIPT_FIELDS
from app.domain.pos.models import PosLocation, PosRefund, PosTransaction
from app.domain.pos.reports.summaries import card_name, in_words
from app.domain.pos.states import PAID_STATUSES
from app.domain.shared.problems import NotFound
from app.domain.shared.records import existing, find_record
from app.domain.sites.models import Site
from app.extensions import db

NO_RECEIPT = "There is no such receipt."
NOT_PAID = "A receipt is there once the payment was made."


@dataclass(frozen=True, slots=True)
class ReceiptLine:
    """A line of a receipt; `unit_price` and `total` in minor units."""

    name: str
    detail: str
    quantity: int
    unit_price: int
    total: int


@dataclass(frozen=True, slots=True)
class Purchase:
    """The contents and sums of an order; empty for a payment without one."""

    lines: tuple[ReceiptLine, ...] = ()
    subtotal: int = 0
    discount: int = 0
    tax: int = 0


@dataclass(frozen=True, slots=True)
class GivenBack:
    at: datetime
    amount: int


@dataclass(frozen=True, slots=True)
class Receipt:
    """A receipt as the customer reads it; money in minor units of `currency`. `card` holds labels and values of the
    card."""

    shop: str
    location: str
    address: tuple[str, ...]
    number: str
    order_number: str | None
    paid_at: datetime
    time_zone: str
    currency: str
    paid: int
    purchase: Purchase = Purchase()
    card: tuple[tuple[str, str], ...] = ()
    refunds: tuple[GivenBack, ...] = ()

    @property
    def refunded(self) -> int:
        return sum(refund.amount for refund in self.refunds)

    @property
    def net(self) -> int:
        return self.paid - self.refunded


def receipt_of(site_id: int, transaction_id: str) -> Receipt:
    """Return the receipt of a transaction, in a few statements. Raises NotFound, also while nothing was paid."""
    payment = existing(find_record(PosTransaction, site_id, transaction_id), NO_RECEIPT)
    if payment.status not in PAID_STATUSES:
        raise NotFound(NOT_PAID)
    site = db.session.get_one(Site, site_id)
    return Receipt(
        shop=site.name,
        location=payment.location.display_name,
        address=address_lines(payment.location),
        number=payment.id.partition("-")[0].upper() if len(payment.id) == 36 else payment.id,
        order_number=payment.order_number,
        paid_at=payment.captured_at or payment.created_at,
        time_zone=site.time_zone,
        currency=payment.currency,
        paid=payment.captured_amount,
        purchase=_purchase(payment),
        card=card_fields(payment),
        refunds=tuple(_given_back(payment)),
    )


def address_lines(location: PosLocation) -> tuple[str, ...]:
    town = " ".join(part for part in (location.city, location.state, location.postal_code) if part)
    return tuple(line for line in (location.line1, location.line2, town, location.country) if line)


def card_fields(payment: PosTransaction) -> tuple[tuple[str, str], ...]:
    """Return the brand, the last four digits, how the card was read, and the fields of its chip, as labels and
    values."""
    fields = [
        ("Card", card_name(payment.card_brand, payment.card_last4)),
        ("Read by", in_words(payment.read_method or "")),
        *((label, in_words(payment.emv.get(name, ""))) for name, label in RECEIPT_FIELDS),
    ]
    return tuple((label, text) for label, text in fields if text)


def _purchase(payment: PosTransaction) -> Purchase:
    if payment.order_id is None:
        return Purchase()
    order = find_record(Order, payment.site_id, payment.order_id, options=[selectinload(Order.lines)])
    if order is None:
        return Purchase()
    return Purchase(tuple(map(_line, order.lines)), subtotal_of(order), order.discount, order.tax)


def _line(line: OrderLine) -> ReceiptLine:
    options = ", ".join(f"{name}: {value}" for name, value in line.options.items())
    return ReceiptLine(line.name, options, line.quantity, line.unit_price, line.unit_price * line.quantity)


def _given_back(payment: PosTransaction) -> Iterable[GivenBack]:
    """Yield the refunds of a payment that were made or are pending. What was refunded at the processor without the shop
    is one sum."""
    made: Sequence[PosRefund] = db.session.scalars(
        select(PosRefund)
        .where(PosRefund.transaction_id == payment.id, PosRefund.status.in_(("SUCCEEDED", "PENDING")))
        .order_by(PosRefund.created_at, PosRefund.id)
    ).all()
    yield from (GivenBack(refund.created_at, refund.amount) for refund in made)
    rest = payment.refunded_amount - sum(refund.amount for refund in made)
    if rest > 0:
        yield GivenBack(payment.updated_at, rest)
