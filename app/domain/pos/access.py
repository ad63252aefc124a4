"""Access to tills: the agent, the location and the work session of a caller, read by one query, and who may use which
basket."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from sqlalchemy import and_, select
from sqlalchemy.orm import selectinload

from app.domain.orders.baskets import find_basket
from app.domain.orders.models import Order
from app.domain.pos.models import PosAgent, PosAgentLocation, PosLocation, PosSession
from app.domain.shared.problems import Forbidden, NotFound
from app.domain.sites.accounts import Role
from app.domain.sites.models import Setting, Site
from app.extensions import db

ADMINS = frozenset((Role.ADMIN, Role.SUPERADMIN))


@dataclass(frozen=True, slots=True)
class Standing:
    """The records on a user at a location: `assigned` when the agent may work there. `session` is the work session,
    None where the caller opened none, as a program that manages the shop."""

    agent: PosAgent | None
    location: PosLocation | None
    assigned: bool
    is_pos_enabled: bool
    session: PosSession | None


def read_standing(site_id: int, user_id: int, session_id: str, location_id: str | None) -> Standing:
    """Read the standing of a user. `location_id` is the one that clients name, None where none is named."""
    location = and_(PosLocation.site_id == Site.id, PosLocation.location_id == (location_id or ""))
    assignment = and_(PosAgentLocation.agent_id == PosAgent.id, PosAgentLocation.location_id == PosLocation.id)
    query = (
        select(PosAgent, PosLocation, PosAgentLocation.agent_id, Setting.value, PosSession)
        .select_from(Site)
        .outerjoin(PosAgent, and_(PosAgent.site_id == Site.id, PosAgent.user_id == user_id))
        .outerjoin(PosLocation, location)
        .outerjoin(PosAgentLocation, assignment)
        .outerjoin(Setting, and_(Setting.site_id == Site.id, Setting.key == "posEnabled"))
        .outerjoin(PosSession, and_(PosSession.id == session_id, PosSession.site_id == Site.id))
        .where(Site.id == site_id)
    )
    agent, found, assigned, enabled, work_session = db.session.execute(query).one()
    return Standing(agent, found, assigned is not None, enabled is True, work_session)


def find_agent(site_id: int, user_id: int) -> PosAgent | None:
    """Return the agent of a user, with the locations; None where the user is no agent."""
    query = select(PosAgent).where(PosAgent.site_id == site_id, PosAgent.user_id == user_id)
    return db.session.scalar(query.options(selectinload(PosAgent.locations)))


def check_agent(agent: PosAgent | None, roles: Collection[Role], as_agent: bool) -> None:
    """Check that the agent may act; admins need no enabled agent for what is not done `as_agent`. Raises Forbidden."""
    if not as_agent and ADMINS.intersection(roles):
        return
    if agent is None:
        raise Forbidden("You are not set up as an agent of this shop. Ask an admin.", "agent_required")
    if not agent.enabled:
        raise Forbidden("Your agent account is switched off. Ask an admin.", "agent_disabled")


def check_open(is_pos_enabled: bool) -> None:
    """Check that the shop takes payments at tills. Raises Forbidden."""
    if not is_pos_enabled:
        raise Forbidden("Payments at tills are switched off for this shop.", "pos_disabled")


def check_location(standing: Standing, roles: Collection[Role], settles: bool) -> PosLocation:
    """Return the location of a user's standing. Raises NotFound where the shop has no such location, and Forbidden
    where the agent may not work there or, unless the call only `settles` payments, where it takes no new ones."""
    if standing.location is None:
        raise NotFound("This shop has no such location.", "location_not_found")
    if not standing.assigned and not ADMINS.intersection(roles):
        raise Forbidden("You may not work at this location.", "location_access_denied")
    if not standing.location.enabled and not settles:
        raise Forbidden("Payments are switched off at this location.", "pos_disabled")
    return standing.location


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


def may_use_basket(user: BasketUser, site_id: int, basket_id: str) -> bool:
    """Whether there is such a basket and the user may use it."""
    try:
        check_basket(user, find_basket(site_id, basket_id))
    except (Forbidden, NotFound):
        return False
    return True


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
