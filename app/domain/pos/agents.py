"""The users who may take payments: made agents, changed, disabled and enabled again by admins; and the queries of their
pages, a few statements a page, however many agents there are."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from sqlalchemy import func, or_, select
from sqlalchemy.orm import selectinload

from app.domain.pos import sessions
from app.domain.pos.access import ADMINS, find_agent
from app.domain.pos.locations import list_locations
from app.domain.pos.models import PosAgent, PosLocation, PosSession
from app.domain.pos.rules import AgentFields, agent_problems
from app.domain.shared.author import Author
from app.domain.shared.clock import Clock
from app.domain.shared.paging import Paged
from app.domain.shared.problems import Conflict, Invalid, Problem, StaleRevision
from app.domain.shared.records import containing, existing, find_record, flush_or_conflict
from app.domain.shared.text import one_line
from app.domain.sites import accounts, activity, api_sessions
from app.domain.sites.accounts import Role
from app.domain.sites.api_sessions import TILL_ROLES, Because
from app.domain.sites.models import AuditEntry, RoleGrant, User
from app.extensions import db

MISSING = "There is no such agent in this shop."
AGENT_ALREADY = "This user is an agent of this shop already."
STALE = "Another user changed this agent at the same moment. Look at it again and repeat your change."
PAGE_SIZE = 50
SUSPICION_SHOWN_FOR = timedelta(days=7)


def agent_of(site_id: int, agent_id: int) -> PosAgent:
    """Return the agent with the locations. Raises NotFound."""
    return existing(find_record(PosAgent, site_id, agent_id, options=[selectinload(PosAgent.locations)]), MISSING)


def locations_of(site_id: int, roles: Collection[Role], agent: PosAgent | None) -> Sequence[PosLocation]:
    """Return the locations at which a user may work, by name: admins at every location of the shop, agents where they
    were assigned."""
    if ADMINS.intersection(roles):
        return list_locations(site_id, enabled_only=True)
    if agent is None or not agent.enabled:
        return []
    return [location for location in agent.locations if location.enabled]


def list_candidates(site_id: int) -> Sequence[User]:
    """The users of the shop who can sign in and are no agents yet, by name."""
    members = select(RoleGrant.user_id).where(RoleGrant.site_id == site_id)
    agents = select(PosAgent.user_id).where(PosAgent.site_id == site_id)
    query = select(User).where(User.id.in_(members), User.id.not_in(agents), User.enabled)
    return db.session.scalars(query.order_by(User.display_name, User.id)).all()


def find_member(site_id: int, user_id: int) -> User | None:
    """Return the user where they have a role on the site, else None."""
    held = select(RoleGrant.user_id).where(RoleGrant.site_id == site_id)
    return db.session.scalar(select(User).where(User.id == user_id, User.id.in_(held)))


def fields_of(agent: PosAgent) -> AgentFields:
    return AgentFields(
        display_name=agent.display_name,
        can_process_quick_payments=agent.can_process_quick_payments,
        can_build_orders=agent.can_build_orders,
        can_refund=agent.can_refund,
        can_discount=agent.can_discount,
        can_take_cash=agent.can_take_cash,
        can_move_cash=agent.can_move_cash,
        max_transaction_amount=agent.max_transaction_amount,
        location_ids=tuple(sorted(location.location_id for location in agent.locations)),
    )


def with_user_name(user: User, fields: AgentFields) -> AgentFields:
    """Return the fields, with the user's name where they have none."""
    return fields if fields.display_name.strip() else replace(fields, display_name=user.display_name)


def enable_user(author: Author, user: User, fields: AgentFields) -> PosAgent:
    """Make a user an agent, with the role for it. Raises Invalid and Conflict."""
    chosen = _check_fields(author.site_id, fields)
    if find_agent(author.site_id, user.id) is not None:
        raise Conflict(AGENT_ALREADY)
    now = author.now()
    agent = PosAgent(site_id=author.site_id, user_id=user.id, created_at=now, updated_at=now)
    _write_fields(agent, fields, chosen)
    db.session.add(agent)
    accounts.grant(user, author.site_id, Role.POS_AGENT)
    flush_or_conflict(AGENT_ALREADY)
    _record(author, agent, "pos_agent.enable", f"Made {agent.display_name} an agent", after=logged_agent(agent))
    return agent


def save(author: Author, agent_id: int, revision: int, fields: AgentFields) -> bool:
    """Save the fields of an agent; return whether anything changed. Raises NotFound, Invalid and StaleRevision."""
    agent = _lock_agent(author, agent_id, revision)
    chosen, before = _check_fields(author.site_id, fields), logged_agent(agent)
    _write_fields(agent, fields, chosen)
    after = logged_agent(agent)
    changed = [name for name in after if after[name] != before[name]]
    if changed:
        _touch(author, agent)
        old, new = ({name: facts[name] for name in changed} for facts in (before, after))
        _record(author, agent, "pos_agent.save", f"Changed the agent {agent.display_name}", old, new)
    return bool(changed)


def disable(author: Author, agent_id: int, revision: int) -> None:
    """Disable an agent and end the agent's work sessions, so that the next call is refused. Raises NotFound and
    StaleRevision."""
    agent = _lock_agent(author, agent_id, revision)
    if not agent.enabled:
        return
    agent.enabled, agent.disabled_at, agent.disabled_by = False, author.now(), author.name[:100]
    _touch(author, agent)
    sessions.end_sessions_of_agent(author.clock, agent, Because.AGENT_DISABLED)
    summary = f"Disabled the agent {agent.display_name}"
    _record(author, agent, "pos_agent.disable", summary, {"enabled": True}, {"enabled": False})


def enable(author: Author, agent_id: int, revision: int) -> None:
    """Enable a disabled agent again, and grant the agent's role. Raises NotFound and StaleRevision."""
    agent = _lock_agent(author, agent_id, revision)
    if agent.enabled:
        return
    agent.enabled, agent.disabled_at, agent.disabled_by = True, None, None
    _touch(author, agent)
    user = existing(db.session.get(User, agent.user_id), MISSING)
    accounts.grant(user, author.site_id, Role.POS_AGENT)
    summary = f"Enabled the agent {agent.display_name}"
    _record(author, agent, "pos_agent.enable", summary, {"enabled": False}, {"enabled": True})


def _lock_agent(author: Author, agent_id: int, revision: int) -> PosAgent:
    agent = existing(find_record(PosAgent, author.site_id, agent_id, to_change=True), MISSING)
    if agent.revision != revision:
        raise StaleRevision(STALE, agent.revision)
    return agent


def _check_fields(site_id: int, fields: AgentFields) -> list[PosLocation]:
    """Return the chosen locations. Raises Invalid with every problem."""
    problems = agent_problems(fields)
    known = {location.location_id: location for location in list_locations(site_id)}
    unknown = sorted(set(fields.location_ids) - known.keys())
    problems += [
        Problem("unknown_location", f"This shop has no location “{name[:60]}”.", "#/locations") for name in unknown
    ]
    if problems:
        raise Invalid(problems)
    return [location for location_id, location in known.items() if location_id in fields.location_ids]


def _write_fields(agent: PosAgent, fields: AgentFields, chosen: list[PosLocation]) -> None:
    agent.display_name = one_line(fields.display_name)
    agent.can_process_quick_payments = fields.can_process_quick_payments
    agent.can_build_orders = fields.can_build_orders
    agent.can_refund, agent.can_discount = fields.can_refund, fields.can_discount
    agent.can_take_cash, agent.can_move_cash = fields.can_take_cash, fields.can_move_cash
    agent.max_transaction_amount = fields.max_transaction_amount
    agent.locations = chosen


def _touch(author: Author, agent: PosAgent) -> None:
    agent.revision, agent.updated_at = agent.revision + 1, author.now()


def logged_agent(agent: PosAgent) -> dict[str, Any]:
    """Return the fields of an agent as the activity log has them."""
    fields = fields_of(agent)
    return {
        "displayName": fields.display_name,
        "canProcessQuickPayments": fields.can_process_quick_payments,
        "canBuildOrders": fields.can_build_orders,
        "canRefund": fields.can_refund,
        "canDiscount": fields.can_discount,
        "canTakeCash": fields.can_take_cash,
        "canMoveCash": fields.can_move_cash,
        "maxTransactionAmount": fields.max_transaction_amount,
        "locations": list(fields.location_ids),
    }


def read_logged(values: Mapping[str, Any]) -> AgentFields:
    """Return the fields of an agent of their form in the activity log."""
    return AgentFields(
        display_name=values["displayName"],
        can_process_quick_payments=values["canProcessQuickPayments"],
        can_build_orders=values["canBuildOrders"],
        can_refund=values["canRefund"],
        can_discount=values["canDiscount"],
        can_take_cash=values["canTakeCash"],
        can_move_cash=values["canMoveCash"],
        max_transaction_amount=values["maxTransactionAmount"],
        location_ids=tuple(values["locations"]),
    )


def _record(
    author: Author, agent: PosAgent, action: str, summary: str, before: object = None, after: object = None
) -> None:
    activity.record(author, action, ("pos_agent", str(agent.id)), summary, before, after)


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
    which = [PosAgent.site_id == site_id]
    if words:
        which.append(
            or_(*(containing(column, words) for column in (PosAgent.display_name, User.display_name, User.email)))
        )
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
    able, seen, suspects = (
        _users_with_role(site_id, user_ids),
        _sessions_by_user(site_id, user_ids),
        suspected_users(clock, site_id, user_ids),
    )
    return [
        AgentRow(
            agent,
            user,
            status=_agent_status(agent, user, user.id in able),
            open_sessions=seen.get(user.id, (0, None))[0],
            seen_at=seen.get(user.id, (0, None))[1],
            is_suspected=user.id in suspects,
        )
        for agent, user in found
    ]


def _agent_status(agent: PosAgent, user: User, has_role: bool) -> AgentStatus:
    if not agent.enabled:
        return AgentStatus.DISABLED
    if not user.enabled or user.password_hash is None:
        return AgentStatus.CANNOT_SIGN_IN
    return AgentStatus.ENABLED if has_role else AgentStatus.WITHOUT_ROLE


def _users_with_role(site_id: int, user_ids: Sequence[int]) -> set[int]:
    """Return which of the users may work at a till of the site; a superadmin may anywhere."""
    counts = or_(RoleGrant.site_id == site_id, RoleGrant.role == Role.SUPERADMIN.value)
    roles = RoleGrant.role.in_([role.value for role in TILL_ROLES])
    return set(db.session.scalars(select(RoleGrant.user_id).where(RoleGrant.user_id.in_(user_ids), counts, roles)))


def _sessions_by_user(site_id: int, user_ids: Sequence[int]) -> dict[int, tuple[int, datetime | None]]:
    is_open = func.count().filter(PosSession.ended_at.is_(None))
    query = select(PosSession.user_id, is_open, func.max(PosSession.last_seen_at)).where(
        PosSession.site_id == site_id, PosSession.user_id.in_(user_ids)
    )
    rows = db.session.execute(query.group_by(PosSession.user_id))
    return {user_id: (count, seen_at) for user_id, count, seen_at in rows if user_id is not None}


def suspected_users(clock: Clock, site_id: int, user_ids: Collection[int]) -> set[int]:
    """Return the ids of those users of whom a session ended as suspicious within the last week."""
    query = select(AuditEntry.subject_id).where(
        AuditEntry.site_id == site_id,
        AuditEntry.subject_type == "user",
        AuditEntry.subject_id.in_([str(user_id) for user_id in user_ids]),
        AuditEntry.action == api_sessions.ENDED_AS_SUSPICIOUS,
        AuditEntry.at > clock.now() - SUSPICION_SHOWN_FOR,
    )
    return {int(subject_id) for subject_id in db.session.scalars(query)}
