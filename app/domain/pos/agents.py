"""The users who may take payments: enabled, changed, disabled and enabled again by admins."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from sqlalchemy import select
from sqlalchemy.orm import selectinload

from app.domain.pos import work_session_ends
from app.domain.pos.access import ADMINS
from app.domain.pos.agent_rules import AgentFields, agent_problems
from app.domain.pos.locations import locations
from app.domain.pos.models import PosAgent, PosLocation
from app.domain.shared.author import Author
from app.domain.shared.flushing import flush_or_conflict
from app.domain.shared.problems import Conflict, Invalid, Problem, StaleRevision
from app.domain.shared.records import existing, find_record
from app.domain.shared.text import one_line
from app.domain.sites import accounts, audit
from app.domain.sites.api_sessions import Because
from app.domain.sites.models import RoleGrant, User
from app.domain.sites.roles import Role
from app.extensions import db

MISSING = "There is no such agent in this shop."
AGENT_ALREADY = "This user is an agent of this shop already."
STALE = "Another user changed this agent at the same moment. Look at it again and repeat your change."


def find_agent(site_id: int, user_id: int) -> PosAgent | None:
    """Return the agent of a user, with the locations; None where the user is no agent."""
    query = select(PosAgent).where(PosAgent.site_id == site_id, PosAgent.user_id == user_id)
    return db.session.scalar(query.options(selectinload(PosAgent.locations)))


def agent_of(site_id: int, agent_id: int) -> PosAgent:
    """Return the agent with the locations. Raises NotFound."""
    return existing(find_record(PosAgent, site_id, agent_id, options=[selectinload(PosAgent.locations)]), MISSING)


def locations_of(site_id: int, roles: Collection[Role], agent: PosAgent | None) -> Sequence[PosLocation]:
    """Return the locations at which a user may work, by name: admins at every location of the shop, agents where they
    were assigned."""
    if ADMINS.intersection(roles):
        return locations(site_id, enabled_only=True)
    if agent is None or not agent.enabled:
        return []
    return [location for location in agent.locations if location.enabled]


def candidates(site_id: int) -> Sequence[User]:
    """The users of the shop who can sign in and are no agents yet, by name."""
    members = select(RoleGrant.user_id).where(RoleGrant.site_id == site_id)
    agents = select(PosAgent.user_id).where(PosAgent.site_id == site_id)
    query = select(User).where(User.id.in_(members), User.id.not_in(agents), User.enabled)
    return db.session.scalars(query.order_by(User.display_name, User.id)).all()


def find_member(site_id: int, user_id: int) -> User | None:
    """Return the user where they have a role on the site, else None."""
    held = select(RoleGrant.user_id).where(RoleGrant.site_id == site_id)
    return db.session.scalar(select(User).where(User.id == user_id, User.id.in_(held)))


def enable_user(author: Author, user: User, fields: AgentFields) -> PosAgent:
    """Make a user an agent, with the role for it. Raises Invalid and Conflict."""
    chosen = _checked(author.site_id, fields)
    if find_agent(author.site_id, user.id) is not None:
        raise Conflict(AGENT_ALREADY)
    now = author.now()
    agent = PosAgent(site_id=author.site_id, user_id=user.id, created_at=now, updated_at=now)
    _write(agent, fields, chosen)
    db.session.add(agent)
    accounts.grant(user, author.site_id, Role.POS_AGENT)
    flush_or_conflict(AGENT_ALREADY)
    _note(author, agent, "pos_agent.enable", f"Made {agent.display_name} an agent", after=_facts(agent))
    return agent


def save(author: Author, agent_id: int, revision: int, fields: AgentFields) -> bool:
    """Save the fields of an agent; return whether anything changed. Raises NotFound, Invalid and StaleRevision."""
    agent = _to_change(author, agent_id, revision)
    chosen, before = _checked(author.site_id, fields), _facts(agent)
    _write(agent, fields, chosen)
    after = _facts(agent)
    changed = [name for name in after if after[name] != before[name]]
    if changed:
        _touch(author, agent)
        old, new = ({name: facts[name] for name in changed} for facts in (before, after))
        _note(author, agent, "pos_agent.save", f"Changed the agent {agent.display_name}", old, new)
    return bool(changed)


def disable(author: Author, agent_id: int, revision: int) -> None:
    """Disable an agent and end the agent's work sessions, so that the next call is refused. Raises NotFound and
    StaleRevision."""
    agent = _to_change(author, agent_id, revision)
    if not agent.enabled:
        return
    agent.enabled, agent.disabled_at, agent.disabled_by = False, author.now(), author.name[:100]
    _touch(author, agent)
    work_session_ends.end_all_of(author.clock, agent, Because.AGENT_DISABLED)
    summary = f"Disabled the agent {agent.display_name}"
    _note(author, agent, "pos_agent.disable", summary, {"enabled": True}, {"enabled": False})


def enable(author: Author, agent_id: int, revision: int) -> None:
    """Enable a disabled agent again, and grant the agent's role. Raises NotFound and StaleRevision."""
    agent = _to_change(author, agent_id, revision)
    if agent.enabled:
        return
    agent.enabled, agent.disabled_at, agent.disabled_by = True, None, None
    _touch(author, agent)
    user = existing(db.session.get(User, agent.user_id), MISSING)
    accounts.grant(user, author.site_id, Role.POS_AGENT)
    summary = f"Enabled the agent {agent.display_name}"
    _note(author, agent, "pos_agent.enable", summary, {"enabled": False}, {"enabled": True})


def _to_change(author: Author, agent_id: int, revision: int) -> PosAgent:
    agent = existing(find_record(PosAgent, author.site_id, agent_id, to_change=True), MISSING)
    if agent.revision != revision:
        raise StaleRevision(STALE, agent.revision)
    return agent


def _checked(site_id: int, fields: AgentFields) -> list[PosLocation]:
    """Return the chosen locations. Raises Invalid with every problem."""
    problems = agent_problems(fields)
    known = {location.location_id: location for location in locations(site_id)}
    unknown = sorted(set(fields.location_ids) - known.keys())
    problems += [
        Problem("unknown_location", f"This shop has no location “{name[:60]}”.", "#/locations") for name in unknown
    ]
    if problems:
        raise Invalid(problems)
    return [location for location_id, location in known.items() if location_id in fields.location_ids]


def _write(agent: PosAgent, fields: AgentFields, chosen: list[PosLocation]) -> None:
    agent.display_name = one_line(fields.display_name)
    agent.can_process_quick_payments = fields.can_process_quick_payments
    agent.can_build_orders = fields.can_build_orders
    agent.can_refund, agent.can_discount = fields.can_refund, fields.can_discount
    agent.max_transaction_amount = fields.max_transaction_amount
    agent.locations = chosen


def fields_of(agent: PosAgent) -> AgentFields:
    return AgentFields(
        display_name=agent.display_name,
        can_process_quick_payments=agent.can_process_quick_payments,
        can_build_orders=agent.can_build_orders,
        can_refund=agent.can_refund,
        can_discount=agent.can_discount,
        max_transaction_amount=agent.max_transaction_amount,
        location_ids=tuple(sorted(location.location_id for location in agent.locations)),
    )


def with_user_name(user: User, fields: AgentFields) -> AgentFields:
    """Return the fields, with the user's name where they have none."""
    return fields if fields.display_name.strip() else replace(fields, display_name=user.display_name)


def _touch(author: Author, agent: PosAgent) -> None:
    agent.revision, agent.updated_at = agent.revision + 1, author.now()


def _facts(agent: PosAgent) -> dict[str, object]:
    fields = fields_of(agent)
    return {
        "displayName": fields.display_name,
        "canProcessQuickPayments": fields.can_process_quick_payments,
        "canBuildOrders": fields.can_build_orders,
        "canRefund": fields.can_refund,
        "canDiscount": fields.can_discount,
        "maxTransactionAmount": fields.max_transaction_amount,
        "locations": list(fields.location_ids),
    }


def _note(
    author: Author, agent: PosAgent, action: str, summary: str, before: object = None, after: object = None
) -> None:
    audit.record(author, action, ("pos_agent", str(agent.id)), summary, before, after)
