"""Access to tills: the agent, the location and the work session of a caller, read by one query."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from sqlalchemy import and_, select

from app.domain.pos.models import PosAgent, PosAgentLocation, PosLocation, PosSession
from app.domain.shared.problems import Forbidden, NotFound
from app.domain.sites.models import Setting, Site
from app.domain.sites.roles import Role
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


def standing(site_id: int, user_id: int, session_id: str, location_id: str | None) -> Standing:
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
        raise Forbidden("Card payments are switched off for this shop.", "pos_disabled")


def check_location(known: Standing, roles: Collection[Role], settles: bool) -> PosLocation:
    """Return the location of a user's standing. Raises NotFound where the shop has no such location, and Forbidden
    where the agent may not work there or, unless the call only `settles` payments, where it takes no new ones."""
    if known.location is None:
        raise NotFound("This shop has no such location.", "location_not_found")
    if not known.assigned and not ADMINS.intersection(roles):
        raise Forbidden("You may not work at this location.", "location_access_denied")
    if not known.location.enabled and not settles:
        raise Forbidden("Card payments are switched off at this location.", "pos_disabled")
    return known.location
