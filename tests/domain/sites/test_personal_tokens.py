"""A personal access token names its user and site for as long as both hold, and nobody can tell why an unknown one
does not."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import event, select

from app.domain.retention.purging import purge
from app.domain.shared.author import Author
from app.domain.shared.problems import Conflict, Forbidden, Invalid, NotFound, Unauthenticated
from app.domain.sites import accounts, personal_tokens, staff
from app.domain.sites.accounts import Role
from app.domain.sites.models import AuditEntry, PersonalToken, Site, User
from app.domain.sites.personal_tokens import (
    MOST_ACTIVE,
    TokenFacts,
    TokenStatus,
    caller_of,
    is_personal,
    make_token,
    note_use,
    revoke_token,
    status_of,
    tokens_of,
)
from app.domain.sites.purge import RETENTIONS
from app.extensions import db
from tests.factories import WHEN, make_site, make_user
from tests.fakes.clock import StoppedClock

pytestmark = pytest.mark.usefixtures("context")


@pytest.fixture
def site() -> Site:
    return make_site()


@pytest.fixture
def mia(site: Site) -> User:
    return make_user(site, Role.MERCHANDISER)


@pytest.fixture
def author(site: Site, clock: StoppedClock) -> Author:
    return Author(site.id, "Mia Moss", clock)


def refusal(clock: StoppedClock, token: str) -> str:
    with pytest.raises(Unauthenticated) as refused:
        caller_of(clock, token)
    return refused.value.code


def test_a_token_names_its_user_the_site_and_the_roles_of_now(author: Author, mia: User, site: Site) -> None:
    issued = make_token(author, mia.id, "  My   agent ", 30)
    assert is_personal(issued.text) and issued.text.startswith(issued.listed.beginning)
    caller = caller_of(author.clock, issued.text)
    assert (caller.user_id, caller.site_id, caller.roles) == (mia.id, site.id, {Role.MERCHANDISER})
    assert (caller.token_name, caller.expires_at) == ("My agent", author.now() + timedelta(days=30))
    accounts.grant(mia, site.id, Role.ADMIN)
    assert caller_of(author.clock, issued.text).roles == {Role.MERCHANDISER, Role.ADMIN}


def test_the_token_itself_is_stored_nowhere(author: Author, mia: User) -> None:
    issued = make_token(author, mia.id, "Agent", 30)
    stored = repr(db.session.execute(select(PersonalToken.__table__)).all())
    noted = db.session.scalars(select(AuditEntry)).one()
    assert issued.text not in stored
    assert issued.text not in repr((noted.summary, noted.after)) and noted.action == "token.create"


def test_a_token_ends_after_its_days_and_not_before(author: Author, mia: User, clock: StoppedClock) -> None:
    token = make_token(author, mia.id, "Agent", 30).text
    clock.jump(days=30, seconds=-1)
    assert caller_of(clock, token)
    clock.jump(seconds=1)
    assert refusal(clock, token) == "token_expired"


@pytest.mark.parametrize("token", ["", "x", "shop_pat_", "shop_pat_" + "0" * 48, "shop_pat_\ud800", "ä" * 5_000])
def test_any_other_text_is_no_token_and_costs_the_same_query(
    author: Author, mia: User, token: str, clock: StoppedClock
) -> None:
    known = make_token(author, mia.id, "Agent", 30).text
    db.session.flush()
    executed: list[str] = []
    event.listen(db.session.connection(), "before_cursor_execute", lambda *seen: executed.append(seen[2]))
    caller_of(clock, known)
    assert refusal(clock, token) == "token_invalid"
    assert len(executed) == 2
    assert executed[0] == executed[1]


def test_a_revoked_token_holds_no_more(author: Author, mia: User, clock: StoppedClock) -> None:
    issued = make_token(author, mia.id, "Agent", 30)
    assert revoke_token(author, mia.id, issued.listed.id) == "Agent"
    assert refusal(clock, issued.text) == "token_revoked"
    revoke_token(author, mia.id, issued.listed.id)
    actions = db.session.scalars(select(AuditEntry.action).order_by(AuditEntry.id)).all()
    assert sorted(actions) == ["token.create", "token.revoke"], "revoking twice is noted once"


def test_a_token_is_revoked_on_its_own_site_and_of_its_own_user(author: Author, mia: User, clock: StoppedClock) -> None:
    issued = make_token(author, mia.id, "Agent", 30)
    other = make_site("other.test", "Other")
    for wrong, user_id in ((Author(other.id, "Oz", clock), mia.id), (author, mia.id + 1)):
        with pytest.raises(NotFound):
            revoke_token(wrong, user_id, issued.listed.id)
    assert caller_of(clock, issued.text)


def test_a_disabled_user_and_one_without_a_role_are_out_at_once(author: Author, mia: User, clock: StoppedClock) -> None:
    token = make_token(author, mia.id, "Agent", 30).text
    mia.enabled = False
    assert refusal(clock, token) == "token_revoked"
    mia.enabled = True
    mia.grants = []
    db.session.flush()
    assert refusal(clock, token) == "token_revoked"


def test_a_role_on_another_site_is_none_here_but_that_of_a_superadmin(
    author: Author, mia: User, clock: StoppedClock
) -> None:
    token, other = make_token(author, mia.id, "Agent", 30).text, make_site("other.test", "Other")
    mia.grants = []
    accounts.grant(mia, other.id, Role.ADMIN)
    assert refusal(clock, token) == "token_revoked"
    accounts.grant(mia, other.id, Role.SUPERADMIN)
    assert caller_of(clock, token).roles == {Role.SUPERADMIN}


def test_a_new_password_ends_tokens_as_it_ends_sessions(author: Author, mia: User, clock: StoppedClock) -> None:
    token = make_token(author, mia.id, "Agent", 30).text
    accounts.set_password(8, mia, "nine blue kettles")
    assert refusal(clock, token) == "token_revoked"
    assert [listed.status for listed in tokens_of(clock, author.site_id, mia.id)] == [TokenStatus.PASSWORD_CHANGED]


@pytest.mark.parametrize(("roles", "enabled"), [(["MERCHANDISER"], False), ([], True)])
def test_tokens_of_somebody_who_was_dismissed_stay_ended(
    author: Author, mia: User, site: Site, clock: StoppedClock, roles: list[str], enabled: bool
) -> None:
    token = make_token(author, mia.id, "Agent", 30).text
    admin = make_user(site, Role.ADMIN)
    actor = staff.SignedIn("", admin.id, admin.email, "Ada", site.id, site.name, frozenset({Role.ADMIN}), "localhost")
    staff.change(clock, actor, mia.id, "Mia Moss", roles, enabled)
    assert refusal(clock, token) == "token_revoked"
    mia.enabled = True
    accounts.grant(mia, site.id, Role.MERCHANDISER)
    assert refusal(clock, token) == "token_revoked", "whoever comes back makes a new one"


def test_everything_wrong_with_a_token_is_said_at_once(author: Author, mia: User) -> None:
    for days in (None, 0, -1, 366, 10**9):
        with pytest.raises(Invalid) as refused:
            make_token(author, mia.id, "x" * 61, days)
        assert {problem.pointer for problem in refused.value.problems} == {"#/name", "#/days"}
    assert tokens_of(author.clock, author.site_id, mia.id) == []


def test_only_who_can_use_a_token_gets_one(author: Author, mia: User) -> None:
    mia.enabled = False
    without_role = make_user(make_site("other.test", "Other"), Role.ADMIN)
    for user in (mia, without_role):
        with pytest.raises(Forbidden):
            make_token(author, user.id, "Agent", 30)


def test_a_name_names_one_active_token(author: Author, mia: User) -> None:
    issued = make_token(author, mia.id, "Agent", 30)
    with pytest.raises(Invalid) as refused:
        make_token(author, mia.id, " Agent", 30)
    assert refused.value.problems[0].code == "duplicate"
    revoke_token(author, mia.id, issued.listed.id)
    assert make_token(author, mia.id, "Agent", 30)


def test_a_user_has_so_many_active_tokens_on_a_site(author: Author, mia: User) -> None:
    issued = [make_token(author, mia.id, f"Agent {number}", 30) for number in range(MOST_ACTIVE)]
    with pytest.raises(Conflict, match="20 access tokens"):
        make_token(author, mia.id, "One more", 30)
    revoke_token(author, mia.id, issued[0].listed.id)
    assert make_token(author, mia.id, "One more", 30)


def test_a_use_is_noted_once_an_hour(author: Author, mia: User, clock: StoppedClock) -> None:
    token = make_token(author, mia.id, "Agent", 30).text
    caller = caller_of(clock, token)
    assert caller.is_stale
    note_use(clock, caller.token_id)
    clock.move(minutes=59)
    assert not caller_of(clock, token).is_stale
    clock.move(minutes=1)
    assert caller_of(clock, token).is_stale
    assert tokens_of(clock, author.site_id, mia.id)[0].last_used_at == clock.now() - timedelta(hours=1)


def test_active_tokens_are_listed_first_then_the_newest(author: Author, mia: User, clock: StoppedClock) -> None:
    for name in ("First", "Second", "Third"):
        make_token(author, mia.id, name, 30)
        clock.move(hours=1)
    revoke_token(author, mia.id, tokens_of(clock, author.site_id, mia.id)[0].id)
    assert [token.name for token in tokens_of(clock, author.site_id, mia.id)] == ["Second", "First", "Third"]


def test_ended_tokens_are_kept_for_ninety_days(author: Author, mia: User, clock: StoppedClock) -> None:
    issued = make_token(author, mia.id, "Revoked", 365)
    make_token(author, mia.id, "Expired", 1)
    make_token(author, mia.id, "Active", 365)
    revoke_token(author, mia.id, issued.listed.id)
    clock.jump(days=90)
    purge(clock, RETENTIONS)
    assert len(tokens_of(clock, author.site_id, mia.id)) == 3
    clock.jump(days=2)
    purge(clock, RETENTIONS)
    assert [token.name for token in tokens_of(clock, author.site_id, mia.id)] == ["Active"]


@given(days=st.integers(1, 365), passed=st.integers(-10, 400), revoked=st.booleans(), version=st.integers(1, 2))
def test_a_token_is_active_exactly_while_nothing_ended_it(days: int, passed: int, revoked: bool, version: int) -> None:
    now = WHEN + timedelta(days=passed)
    facts = TokenFacts(WHEN + timedelta(days=days), WHEN if revoked else None, 1)
    is_active = status_of(facts, version, now) is TokenStatus.ACTIVE
    assert is_active == (not revoked and version == 1 and passed < days)


def test_a_token_made_by_command_is_noted_as_such(site: Site, mia: User, clock: StoppedClock) -> None:
    make_token(Author(site.id, "command line", clock), mia.id, "Agent", 30)
    entry = db.session.scalars(select(AuditEntry)).one()
    assert (entry.actor, entry.subject_id) == ("command line", str(mia.id))
    assert personal_tokens.active_token(Author(site.id, "x", clock), mia.id, "Agent").is_active
