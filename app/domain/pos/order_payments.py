"""Payments of orders: their states as the pages of orders show them, and the submission of paid baskets."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import NamedTuple

from sqlalchemy import func, select

from app.domain.alerts.alerts import open_about, raise_alert
from app.domain.alerts.causes import Cause
from app.domain.orders.baskets import find_basket
from app.domain.orders.lifecycle import submit
from app.domain.orders.mail_contents import GivenBack
from app.domain.orders.models import OPEN, Order
from app.domain.pos.models import PosAgent, PosLocation, PosTransaction
from app.domain.pos.states import CARD, CASH, OPEN_STATUSES, PAID_STATUSES, TransactionStatus
from app.domain.shared.author import Author
from app.domain.shared.clock import Clock
from app.domain.shared.problems import NotFound
from app.domain.sites.models import Site
from app.extensions import db

SUBMITTED_AFTER = timedelta(minutes=10)  # The till itself submits within seconds of the payment.
THE_SHOP = "The shop itself"


class OrderPaymentState(StrEnum):
    """The state of an order's payments, in the words of pages; UNPAID without any."""

    UNPAID = ""
    PAID = "Paid"
    PART_PAID = "Partly paid"
    PART_REFUNDED = "Partly refunded"
    REFUNDED = "Refunded"
    WAITING = "Payment under way"
    UNKNOWN = "Payment unknown"


TENDER_WORDS = {CARD: "by card", CASH: "in cash"}


def words_of_tenders(tenders: Collection[str]) -> str:
    """Return the words for what was paid with: “by card”, “in cash” or “by card and in cash”; "" for none."""
    return " and ".join(words for tender, words in TENDER_WORDS.items() if tender in tenders)


@dataclass(frozen=True, slots=True)
class PaymentSummary:
    """What the pages of orders say of an order's payments: their state, and the tenders of which money was kept."""

    state: OrderPaymentState
    tenders: frozenset[str] = frozenset()

    @property
    def label(self) -> str:
        """The state in words, “Paid by card and in cash”; "" for unpaid."""
        return self.how_paid if self.state is OrderPaymentState.PAID else self.state.value

    @property
    def how_paid(self) -> str:
        return f"Paid {words_of_tenders(self.tenders)}".strip()


@dataclass(frozen=True, slots=True)
class OrderPayment:
    """A payment that was begun for an order; amounts in minor units."""

    id: str
    status: str
    tender_type: str
    amount: int
    tip: int
    currency: str
    captured: int
    refunded: int
    card_brand: str | None
    card_last4: str | None
    created_at: datetime
    agent: str
    location: str
    anomaly: str | None
    is_surplus: bool

    @property
    def is_kept(self) -> bool:
        """Whether the shop still holds money of the payment."""
        return self.status in PAID_STATUSES and self.refunded < self.captured

    @property
    def kept(self) -> int:
        return self.captured - self.refunded if self.is_kept else 0

    @property
    def paid(self) -> int:
        """What it pays of the order: without the tip, and nothing where the order had been paid already."""
        return 0 if self.is_surplus else max(0, self.kept - self.tip)


def transactions_of(order: Order) -> Sequence[PosTransaction]:
    """Return the transactions of an order, the oldest first."""
    of_order = PosTransaction.site_id == order.site_id, PosTransaction.order_id == order.id
    query = select(PosTransaction).where(*of_order).order_by(PosTransaction.created_at, PosTransaction.id)
    return db.session.scalars(query).all()


def payments_of_order(site_id: int, order_id: str) -> Sequence[OrderPayment]:
    """Return every payment that was begun for an order, newest first."""
    payment = PosTransaction
    query = (
        select(
            payment.id,
            payment.status,
            payment.tender_type,
            payment.amount_in_pence.label("amount"),
            payment.tip_in_pence.label("tip"),
            payment.currency,
            payment.captured_amount.label("captured"),
            payment.refunded_amount.label("refunded"),
            payment.card_brand,
            payment.card_last4,
            payment.created_at,
            PosAgent.display_name.label("agent"),
            PosLocation.display_name.label("location"),
            payment.anomaly,
            payment.is_surplus,
        )
        .join(PosAgent, PosAgent.id == payment.agent_id)
        .join(PosLocation, PosLocation.id == payment.location_id)
        .where(payment.site_id == site_id, payment.order_id == order_id)
    )
    rows = db.session.execute(query.order_by(payment.created_at.desc(), payment.id))
    return [OrderPayment(**row._mapping) for row in rows]


def payment_summaries(site_id: int, totals: Mapping[str, int | None]) -> Mapping[str, PaymentSummary]:
    """Return the summary of the payments of each order by id, by one statement. `totals` holds the total of each order
    that was paid in full, None for the others."""
    if not totals:
        return {}
    row = PosTransaction
    columns = row.order_id, row.tender_type, row.status, row.tip_in_pence, row.captured_amount - row.refunded_amount
    query = select(*columns).where(row.site_id == site_id, row.order_id.in_(totals), row.is_surplus.is_(False))
    found: dict[str, list[PaymentPart]] = {}
    for order_id, tender, status, tip, kept in db.session.execute(query):
        found.setdefault(order_id or "", []).append(PaymentPart(tender, status, max(0, kept - tip)))
    return {order_id: summary_of(total, found.get(order_id, ())) for order_id, total in totals.items()}


def summary_of_order(order: Order) -> PaymentSummary:
    return payment_summaries(order.site_id, {order.id: order.total if order.paid_at else None})[order.id]


def given_back_of(order: Order) -> GivenBack:
    """Return how much of what was paid for an order was given back, as its page says."""
    state = summary_of_order(order).state
    if order.paid_by_transfer and state is OrderPaymentState.REFUNDED:
        return GivenBack.PART  # What came by bank transfer is with the shop.
    known = {OrderPaymentState.REFUNDED: GivenBack.ALL, OrderPaymentState.PART_REFUNDED: GivenBack.PART}
    return known.get(state, GivenBack.NOTHING)


class PaymentPart(NamedTuple):
    """A payment of an order by its tender and status; `paid` is what it pays of the order, in minor units."""

    tender_type: str
    status: str
    paid: int


def summary_of(total: int | None, payments: Collection[PaymentPart]) -> PaymentSummary:
    """Return the summary of an order's payments. `total` is that of an order that was paid in full, else None. What
    needs a look comes first."""
    found = {payment.status for payment in payments}
    took, is_paid = found & PAID_STATUSES, total is not None
    kept = PAID_STATUSES - {TransactionStatus.REFUNDED}
    tenders = frozenset(payment.tender_type for payment in payments if payment.status in kept)
    if TransactionStatus.UNKNOWN in found:
        state = OrderPaymentState.UNKNOWN
    elif total and sum(payment.paid for payment in payments) >= total:
        state = OrderPaymentState.PAID
    elif took == {TransactionStatus.REFUNDED}:
        state = OrderPaymentState.REFUNDED
    elif took - {TransactionStatus.SUCCEEDED}:
        state = OrderPaymentState.PART_REFUNDED
    elif is_paid:
        state = OrderPaymentState.PAID
    elif found & OPEN_STATUSES:
        state = OrderPaymentState.WAITING
    else:
        state = OrderPaymentState.PART_PAID if took else OrderPaymentState.UNPAID
    return PaymentSummary(state, tenders)


def location_names(site_id: int) -> Mapping[str, str]:
    """Return the names of locations by the id that orders and clients use."""
    query = select(PosLocation.location_id, PosLocation.display_name).where(PosLocation.site_id == site_id)
    return {row.location_id: row.display_name for row in db.session.execute(query)}


def submit_basket(
    author: Author, basket_id: str, intent_id: str | None = None, accept_difference: bool = False
) -> Order:
    """Submit a paid basket as an order; repeated, it changes nothing. `accept_difference`: staff have seen that the
    amount paid is not the total. Raises NotFound, `payment_intent_not_found` for an intent that is not of this basket,
    and Conflict, `payment_required` while something is due."""
    order = find_basket(author.site_id, basket_id, to_change=True)
    if intent_id is not None:
        of_order = PosTransaction.site_id == order.site_id, PosTransaction.order_id == order.id
        query = select(PosTransaction.id).where(*of_order, PosTransaction.processor_intent_id == intent_id)
        if db.session.scalar(query) is None:
            raise NotFound("This basket has no such payment.", "payment_intent_not_found")
    return submit(author, basket_id, accept_difference)


def forgotten_baskets(clock: Clock) -> list[tuple[int, str]]:
    """Return the site and id of every basket that was paid, be it in part, at least SUBMITTED_AFTER ago and never
    submitted, as when a phone broke; of one that was refunded nothing is paid. Naming the sites makes the database use
    the index of site and status, so that only open baskets are read."""
    of_sites = Order.site_id.in_(select(Site.id))
    is_paid = Order.paid_amount > 0, func.coalesce(Order.paid_at, Order.updated_at) <= clock.now() - SUBMITTED_AFTER
    which = of_sites, Order.status == OPEN, *is_paid
    return [(row.site_id, row.id) for row in db.session.execute(select(Order.site_id, Order.id).where(*which))]


def submit_forgotten(clock: Clock, site_id: int, order_id: str) -> Order:
    """Submit a paid basket in the name of the shop. Call it within a transaction. Raises Conflict where staff must
    decide."""
    return submit_basket(Author(site_id, THE_SHOP, clock), order_id)


def note_unsubmitted(clock: Clock, site_id: int, order_id: str, reason: str) -> None:
    """Raise the alert about a paid basket that could not be submitted, which ends once it is submitted or its payment
    refunded. Call it within a transaction."""
    order = db.session.get(Order, order_id)
    name = f"Order {order.number}" if order and order.number else "A basket"
    how = "paid" if order is None or order.paid_at else "paid in part"
    raise_alert(clock, Cause.PAID_BASKET_OPEN, f"{name} was {how}: {reason}", site_id, order_id)


def alerts_of_refunded() -> list[tuple[int | None, str]]:
    """Return the site and basket id of every open alert about a paid basket whose payment was refunded: such an alert
    needs no action any more."""
    alerts = {alert.subject: alert.site_id for alert in open_about(Cause.PAID_BASKET_OPEN)}
    query = select(Order.id).where(Order.id.in_(alerts), Order.status == OPEN, Order.paid_amount == 0)
    return [(alerts[order_id], order_id) for order_id in db.session.scalars(query)]
