"""Baskets at a till: who may use which, and how a payment makes one an order."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import not_, select

from app.domain.alerts.alerts import open_about, raise_alert
from app.domain.alerts.causes import Cause
from app.domain.orders.baskets import find_basket
from app.domain.orders.lifecycle import submit
from app.domain.orders.models import OPEN, Order
from app.domain.pos.access import ADMINS, check_agent
from app.domain.pos.models import PosAgent, PosTransaction
from app.domain.pos.order_payments import is_refunded
from app.domain.pos.states import TransactionStatus
from app.domain.shared.author import Author
from app.domain.shared.clock import Clock
from app.domain.shared.problems import Conflict, Forbidden, NotFound
from app.domain.sites.models import Site
from app.domain.sites.roles import Role
from app.extensions import db

SUBMITTED_AFTER = timedelta(minutes=10)  # The till itself submits within seconds of the payment.
THE_SHOP = "The shop itself"
REFUNDED = TransactionStatus.REFUNDED


@dataclass(frozen=True, slots=True)
class BasketUser:
    """A user of a basket, with the user's roles; `agent` is None for a user who is no agent."""

    user_id: int
    roles: Collection[Role]
    agent: PosAgent | None


def check_builder(user: BasketUser) -> None:
    """Check the permission to build orders, which agents need and admins do not. Raises Forbidden."""
    if ADMINS.intersection(user.roles):
        return
    check_agent(user.agent, user.roles, as_agent=False)
    if user.agent is not None and not user.agent.can_build_orders:
        raise Forbidden("You may not build orders. Ask an admin.", "orders_not_permitted")


def check_discount(user: BasketUser, discount: int) -> None:
    """Check the permission to give discounts, which agents need and admins do not. Raises Forbidden."""
    may = ADMINS.intersection(user.roles) or (user.agent is not None and user.agent.can_discount)
    if discount and not may:
        raise Forbidden("You may not give discounts. Ask an admin.", "discounts_not_permitted")


def check_basket(user: BasketUser, order: Order) -> None:
    """Check that a user may use a basket: as its owner, as an admin, or as an agent of its location. All but admins
    need the permission to build orders. Raises Forbidden."""
    check_builder(user)
    if order.owner_id == user.user_id or ADMINS.intersection(user.roles):
        return
    if user.agent is None or order.channel != "POS":
        raise Forbidden("This basket belongs to another user.", "basket_access_denied")
    places = {location.location_id for location in user.agent.locations}
    if order.pos_location_id is not None and order.pos_location_id not in places:
        raise Forbidden("You may not work at the location of this basket.", "location_access_denied")


def submit_basket(
    author: Author, basket_id: str, intent_id: str | None = None, accept_difference: bool = False
) -> Order:
    """Submit a paid basket as an order; repeated, it changes nothing. `accept_difference`: staff have seen that the
    amount paid is not the total. Raises NotFound, `payment_intent_not_found` for an intent that is not of this basket,
    and Conflict, `payment_required` where the payment was refunded."""
    order = find_basket(author.site_id, basket_id, to_change=True)
    if intent_id is not None:
        _check_intent(order, intent_id)
    if order.status == OPEN and _is_refunded(order):
        raise Conflict("The payment of this basket was refunded.", "payment_required")
    return submit(author, basket_id, accept_difference)


def _check_intent(order: Order, intent_id: str) -> None:
    of_order = PosTransaction.site_id == order.site_id, PosTransaction.order_id == order.id
    query = select(PosTransaction.id).where(*of_order, PosTransaction.processor_intent_id == intent_id)
    if db.session.scalar(query) is None:
        raise NotFound("This basket has no such payment.", "payment_intent_not_found")


def _is_refunded(order: Order) -> bool:
    query = select(PosTransaction.status).where(
        PosTransaction.site_id == order.site_id, PosTransaction.id == order.payment_lock
    )
    return order.paid_at is not None and db.session.scalar(query) == REFUNDED


def forgotten_baskets(clock: Clock) -> list[tuple[int, str]]:
    """Return the site and id of every basket that was paid at least SUBMITTED_AFTER ago and never submitted, as when a
    phone broke; those whose payment was refunded are left out. Naming the sites makes the database use the index of
    site and status, so that only open baskets are read."""
    of_sites = Order.site_id.in_(select(Site.id))
    is_paid = Order.paid_at.is_not(None), Order.paid_at <= clock.now() - SUBMITTED_AFTER
    which = of_sites, Order.status == OPEN, *is_paid, not_(is_refunded())
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
    raise_alert(clock, Cause.PAID_BASKET_OPEN, f"{name} was paid: {reason}", site_id, order_id)


def alerts_of_refunded() -> list[tuple[int | None, str]]:
    """Return the site and basket id of every open alert about a paid basket whose payment was refunded: such an alert
    needs no action any more."""
    alerts = {alert.subject: alert.site_id for alert in open_about(Cause.PAID_BASKET_OPEN)}
    query = select(Order.id).where(Order.id.in_(alerts), is_refunded())
    return [(alerts[order_id], order_id) for order_id in db.session.scalars(query)]
