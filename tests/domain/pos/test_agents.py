"""Agents: who becomes one, what they may do, and what disabling them ends."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select

from app.domain.pos import agents
from app.domain.pos.rules import AgentFields, LimitSource, agent_problems, effective_limit
from app.domain.shared.problems import Conflict, Invalid, NotFound, StaleRevision
from app.domain.sites import accounts
from app.domain.sites.accounts import Role
from app.domain.sites.models import ApiSession, AuditEntry, User
from app.extensions import db
from app.transaction import transaction
from tests.domain.pos.conftest import SignIn, Staff, agent_of, stored
from tests.factories import make_agent, make_location, make_site, make_user

FIELDS = AgentFields("Tilly", max_transaction_amount=5_000, location_ids=("tml_fair",))


def test_enabling_a_user_gives_them_the_role_the_permissions_and_the_locations(staff: Staff) -> None:
    _enable(staff, staff.merchandiser)
    agent = agent_of(staff.merchandiser)
    assert agents.fields_of(agent) == FIELDS
    assert agent.enabled
    assert accounts.roles_of(staff.merchandiser, staff.site_id) == {Role.MERCHANDISER, Role.POS_AGENT}
    assert db.session.scalar(select(AuditEntry.summary)) == "Made Tilly an agent"


def test_a_user_is_an_agent_of_a_shop_once(staff: Staff) -> None:
    _enable(staff, staff.tilly)
    with pytest.raises(Conflict), transaction():
        agents.enable_user(staff.author, db.session.get(User, staff.tilly), FIELDS)


def test_every_problem_of_an_agent_is_told_at_once(staff: Staff) -> None:
    with transaction():
        make_location(make_site("other.localhost", "Other"), "tml_theirs")
    fields = AgentFields(" ", max_transaction_amount=0, location_ids=("tml_theirs", "tml_shop"))
    with pytest.raises(Invalid) as refused, transaction():
        agents.enable_user(staff.author, db.session.get(User, staff.tilly), fields)
    pointers = [problem.pointer for problem in refused.value.problems]
    assert pointers == ["#/displayName", "#/maxTransactionAmount", "#/locations"]


def test_a_change_notes_what_changed_alone(staff: Staff) -> None:
    agent_id = _enable(staff, staff.tilly)
    with transaction():
        assert agents.save(staff.author, agent_id, 1, AgentFields("Tilly", can_refund=True, location_ids=("tml_shop",)))
    entry = db.session.scalars(select(AuditEntry).where(AuditEntry.action == "pos_agent.save")).one()
    assert entry.before == {"canRefund": False, "maxTransactionAmount": 5_000, "locations": ["tml_fair"]}
    assert entry.after == {"canRefund": True, "maxTransactionAmount": None, "locations": ["tml_shop"]}
    with transaction():
        assert not agents.save(staff.author, agent_id, 2, agents.fields_of(agent_of(staff.tilly)))


def test_who_looked_at_an_older_agent_saves_nothing(staff: Staff) -> None:
    agent_id = _enable(staff, staff.tilly)
    with transaction():
        agents.save(staff.author, agent_id, 1, AgentFields("Till"))
    for change in (
        lambda: agents.save(staff.author, agent_id, 1, FIELDS),
        lambda: agents.disable(staff.author, agent_id, 1),
        lambda: agents.enable(staff.author, agent_id, 1),
    ):
        with pytest.raises(StaleRevision) as refused, transaction():
            change()
        assert refused.value.current_revision == 2


def test_disabling_an_agent_ends_their_sessions_and_nobody_elses(staff: Staff, sign_in: SignIn) -> None:
    agent_id = _enable(staff, staff.tilly)
    _enable(staff, staff.merchandiser)
    theirs, others = sign_in(staff.tilly).id, sign_in(staff.merchandiser).id
    with transaction():
        agents.disable(staff.author, agent_id, 1)
    assert stored(theirs).end_reason == "AGENT_DISABLED"
    assert db.session.get(ApiSession, theirs).ended_at is not None
    assert stored(others).end_reason is None
    agent = agent_of(staff.tilly)
    assert (agent.enabled, agent.disabled_by) == (False, "Ada Admin")
    with transaction():
        agents.enable(staff.author, agent_id, 2)
    agent = agent_of(staff.tilly)
    assert (agent.enabled, agent.disabled_at, agent.disabled_by) == (True, None, None)


def test_another_shops_agent_is_not_found(staff: Staff) -> None:
    with transaction():
        site = make_site("other.localhost", "Other")
        theirs = make_agent(site, make_user(site)).id
    for change in (agents.disable, agents.enable):
        with pytest.raises(NotFound), transaction():
            change(staff.author, theirs, 1)


def test_candidates_are_the_users_who_are_no_agents_yet(staff: Staff) -> None:
    _enable(staff, staff.tilly)
    with transaction():
        make_user(make_site("other.localhost", "Other"), Role.ADMIN)
    assert [user.id for user in agents.list_candidates(staff.site_id)] == [staff.merchandiser]


def test_admins_work_everywhere_and_agents_where_they_were_assigned(staff: Staff) -> None:
    _enable(staff, staff.tilly)
    agent = agent_of(staff.tilly)

    def places(role: Role, agent: object = None) -> list[str]:
        return [place.location_id for place in agents.locations_of(staff.site_id, {role}, agent)]

    assert places(Role.ADMIN) == ["tml_fair", "tml_shop"]
    assert places(Role.POS_AGENT, agent) == ["tml_fair"]
    assert places(Role.POS_AGENT) == []


limits = st.integers(1, 99_999_999)


@given(agents=st.none() | limits, sites=limits)
def test_the_lower_limit_holds_and_says_whose_it_is(agents: int | None, sites: int) -> None:
    limit = effective_limit(agents, sites)
    assert limit.amount == min(sites, sites if agents is None else agents)
    assert limit.source is (LimitSource.AGENT if agents is not None and agents < sites else LimitSource.SITE)


@pytest.mark.parametrize("limit", [None, 1, 99_999_999])
def test_a_limit_is_an_amount_that_a_processor_takes(limit: int | None) -> None:
    assert agent_problems(AgentFields("Tilly", max_transaction_amount=limit)) == []


def _enable(staff: Staff, user_id: int) -> int:
    with transaction():
        return agents.enable_user(staff.author, db.session.get(User, user_id), FIELDS).id
