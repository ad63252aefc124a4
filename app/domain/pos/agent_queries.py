"""Queries for the pages of the agents: a few statements a page, however many agents there are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from sqlalchemy import ColumnElement, func, or_, select
from sqlalchemy.orm import selectinload

from app.domain.pos.models import PosAgent, PosSession
from app.domain.pos.suspicion import suspected
from app.domain.shared.clock import Clock
from app.domain.shared.containing import containing
from app.domain.shared.paging import Paged
from app.domain.sites.api_sessions import TILL_ROLES
from app.domain.sites.models import RoleGrant, User
from app.domain.sites.roles import Role
from app.extensions import db

PAGE_SIZE = 50


class AgentStatus(StrEnum):
    ENABLED = "ENABLED"
    DISABLED = "DISABLED"
    CANNOT_SIGN_IN = "CANNOT_SIGN_IN"
    WITHOUT_ROLE = "WITHOUT_ROLE"


@dataclass(frozen=True, slots=True)
class AgentRow:
    """An agent and the user behind. `open_sessions` counts the work sessions that have not ended; `seen_at` is when one
    was used last, None for never."""

    agent: PosAgent
    user: User
    status: AgentStatus
    open_sessions: int
    seen_at: datetime | None
    is_suspected: bool


def agent_rows(clock: Clock, site_id: int, words: str = "", page_number: int = 1) -> Paged[AgentRow]:
    """Return a page of agents by name; `words` are part of a name or an email address."""
    which = [PosAgent.site_id == site_id, *_matches(words)]
    of_agents = select(PosAgent, User).join(User, User.id == PosAgent.user_id).where(*which)
    total = db.session.scalar(select(func.count()).select_from(of_agents.subquery())) or 0
    query = of_agents.order_by(PosAgent.display_name, PosAgent.id).options(selectinload(PosAgent.locations))
    found = db.session.execute(query.limit(PAGE_SIZE).offset((page_number - 1) * PAGE_SIZE)).all()
    return Paged(_rows(clock, site_id, [(agent, user) for agent, user in found]), page_number, PAGE_SIZE, total)


def agent_row(clock: Clock, site_id: int, agent: PosAgent) -> AgentRow:
    user = db.session.get_one(User, agent.user_id)
    return _rows(clock, site_id, [(agent, user)])[0]


def _rows(clock: Clock, site_id: int, found: Sequence[tuple[PosAgent, User]]) -> list[AgentRow]:
    user_ids = [user.id for _, user in found]
    able, seen, suspects = _with_role(site_id, user_ids), _seen(site_id, user_ids), suspected(clock, site_id, user_ids)
    return [
        AgentRow(
            agent,
            user,
            status=_status(agent, user, user.id in able),
            open_sessions=seen.get(user.id, (0, None))[0],
            seen_at=seen.get(user.id, (0, None))[1],
            is_suspected=user.id in suspects,
        )
        for agent, user in found
    ]


def _status(agent: PosAgent, user: User, has_role: bool) -> AgentStatus:
    if not agent.enabled:
        return AgentStatus.DISABLED
    if not user.enabled or user.password_hash is None:
        return AgentStatus.CANNOT_SIGN_IN
    return AgentStatus.ENABLED if has_role else AgentStatus.WITHOUT_ROLE


def _with_role(site_id: int, user_ids: Sequence[int]) -> set[int]:
    """Return which of the users may work at a till of the site; a superadmin may anywhere."""
    counts = or_(RoleGrant.site_id == site_id, RoleGrant.role == Role.SUPERADMIN.value)
    roles = RoleGrant.role.in_([role.value for role in TILL_ROLES])
    return set(db.session.scalars(select(RoleGrant.user_id).where(RoleGrant.user_id.in_(user_ids), counts, roles)))


def _seen(site_id: int, user_ids: Sequence[int]) -> dict[int, tuple[int, datetime | None]]:
    is_open = func.count().filter(PosSession.ended_at.is_(None))
    query = select(PosSession.user_id, is_open, func.max(PosSession.last_seen_at)).where(
        PosSession.site_id == site_id, PosSession.user_id.in_(user_ids)
    )
    rows = db.session.execute(query.group_by(PosSession.user_id))
    return {user_id: (count, seen_at) for user_id, count, seen_at in rows if user_id is not None}


def _matches(words: str) -> list[ColumnElement[bool]]:
    if not words:
        return []
    columns = PosAgent.display_name, User.display_name, User.email
    return [or_(*(containing(column, words) for column in columns))]
