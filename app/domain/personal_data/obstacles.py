"""Obstacles to erasing a person: each with what to do about it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqlalchemy import and_, or_, select

from app.domain.bundles.models import BundleRun
from app.domain.bundles.runs import runs_of
from app.domain.orders.models import OPEN, SUBMITTED, Order, OrderMail
from app.domain.personal_data.people import Person
from app.domain.pos.models import LedgerDifference, PosAgent, PosReceiptMail, PosRefund, PosSession, PosTransaction
from app.domain.pos.states import OPEN_STATUSES
from app.domain.shared.times import format_moment
from app.domain.sites.sites import time_zone_of
from app.domain.work.states import UNFINISHED
from app.extensions import db

MOST_SHOWN = 20  # Of a kind; others show once these are gone.
UNSETTLED_REFUNDS = ("PENDING", "UNKNOWN")


@dataclass(frozen=True, slots=True)
class Obstacle:
    """An obstacle to an erasure. `order_id` or `payment_id` is the record that it is about, where the admin has a page
    of it."""

    reason: str
    order_id: str | None = None
    payment_id: str | None = None


def obstacles(person: Person) -> list[Obstacle]:
    return [*_orders(person), *_payments(person), *_receipts(person), *_order_mails(person), *_work(person)]


def _orders(person: Person) -> Iterator[Obstacle]:
    is_open = or_(
        Order.status == SUBMITTED,
        and_(Order.status == OPEN, or_(Order.payment_lock.is_not(None), Order.paid_at.is_not(None))),
    )
    query = select(Order.id, Order.number, Order.status).where(person.orders, is_open).order_by(Order.created_at)
    for order_id, number, status in db.session.execute(query.limit(MOST_SHOWN)):
        if status == SUBMITTED:
            yield Obstacle(f"Order {number} is awaiting collection: hand it over or cancel it first.", order_id)
        else:
            yield Obstacle("A basket is paid or being paid but not submitted: submit or refund it first.", order_id)


def _payments(person: Person) -> Iterator[Obstacle]:
    mine = person.payments
    if person.account:
        agents = select(PosAgent.id).where(PosAgent.user_id == person.account.user_id)
        mine = or_(mine, PosTransaction.agent_id.in_(agents))
    refunded = select(PosRefund.transaction_id).where(PosRefund.status.in_(UNSETTLED_REFUNDS))
    differing = select(LedgerDifference.transaction_id).where(
        LedgerDifference.settled_at.is_(None), LedgerDifference.transaction_id.is_not(None)
    )
    unsettled = or_(
        PosTransaction.status.in_(OPEN_STATUSES),
        PosTransaction.anomaly.is_not(None),
        PosTransaction.id.in_(refunded),
        PosTransaction.id.in_(differing),
    )
    query = select(PosTransaction.id, PosTransaction.created_at).where(mine, unsettled)
    for payment_id, at in db.session.execute(query.order_by(PosTransaction.created_at).limit(MOST_SHOWN)):
        reason = f"A card payment of {at:%Y-%m-%d} is not settled: wait until it is, or settle it."
        yield Obstacle(reason, payment_id=payment_id)


def _receipts(person: Person) -> Iterator[Obstacle]:
    if not person.email:
        return
    waiting = select(PosReceiptMail.transaction_id).where(
        PosReceiptMail.transaction_id.in_(person.payment_ids), PosReceiptMail.state.in_(UNFINISHED)
    )
    for payment_id in db.session.scalars(waiting.limit(MOST_SHOWN)):
        yield Obstacle(
            "A receipt is being emailed: wait until it is sent or has failed, at most three days.", None, payment_id
        )


def _order_mails(person: Person) -> Iterator[Obstacle]:
    waiting = select(OrderMail.order_id).where(
        OrderMail.order_id.in_(person.order_ids), OrderMail.state.in_(UNFINISHED)
    )
    for order_id in db.session.scalars(waiting.limit(MOST_SHOWN)):
        yield Obstacle(
            "An email about an order is being sent: wait until it is sent or has failed, at most three days.", order_id
        )


def _work(person: Person) -> Iterator[Obstacle]:
    if person.account is None:
        return
    bundles = select(BundleRun.action).where(runs_of(person.account.site_ids), BundleRun.state.in_(UNFINISHED))
    for action in db.session.scalars(bundles.limit(MOST_SHOWN)):
        yield Obstacle(f"A bundle {action} that may contain the user is running: wait until it is done, or cancel it.")
    working = select(PosSession.started_at, PosSession.site_id).where(
        PosSession.user_id == person.account.user_id, PosSession.ended_at.is_(None)
    )
    for started_at, site_id in db.session.execute(working.limit(MOST_SHOWN)):
        since = format_moment(started_at, time_zone_of(site_id))
        yield Obstacle(f"They have been signed in to a till since {since}: close that session first.")
