"""Work sessions: how they begin, how they end, and who notices."""

from __future__ import annotations

from itertools import count

import pytest
from sqlalchemy import select

from app.domain.pos import agents, sessions
from app.domain.pos.over_limit import RefusedAmount
from app.domain.shared.problems import Conflict, Invalid, NotFound
from app.domain.sites import accounts, api_sessions
from app.domain.sites.api_sessions import Because
from app.domain.sites.models import ApiSession, AuditEntry, User
from app.extensions import db
from app.transaction import transaction
from tests.domain.pos.conftest import SignIn, Staff, stored
from tests.fakes.clock import StoppedClock


def test_signing_in_at_a_till_begins_a_session_for_a_day(staff: Staff, sign_in: SignIn) -> None:
    session = sign_in(staff.tilly)
    assert (session.device_id, session.device_name, session.user_agent) == ("till-7", "The till", "TillApp/1")
    assert (session.ip, session.currency) == ("192.0.2.1", "gbp")
    assert (session.expires_at - session.started_at).days == 1


@pytest.mark.parametrize("because", Because)
def test_a_session_ends_for_the_reason_of_the_api_session(staff: Staff, sign_in: SignIn, because: Because) -> None:
    session_id = sign_in(staff.tilly).id
    with transaction():
        api_sessions.end(staff.author.clock, session_id, because)
        assert sessions.apply_ends(staff.author.clock) == 1
        assert sessions.apply_ends(staff.author.clock) == 0
    assert stored(session_id).end_reason == because.value


def test_a_changed_password_and_a_disabled_user_end_sessions(staff: Staff, sign_in: SignIn) -> None:
    first, second = sign_in(staff.tilly).id, sign_in(staff.merchandiser_as_agent()).id
    with transaction():
        accounts.set_password(8, db.session.get(User, staff.tilly), "nine blue bottles")
        db.session.get(User, staff.merchandiser).enabled = False
        sessions.apply_ends(staff.author.clock)
    assert (stored(first).end_reason, stored(second).end_reason) == ("PASSWORD_CHANGED", "REVOKED")


def test_time_ends_what_nobody_ended(staff: Staff, sign_in: SignIn, clock: StoppedClock) -> None:
    session_id = sign_in(staff.tilly).id
    clock.move(hours=13)
    with transaction():
        sessions.apply_ends(clock)
    session = stored(session_id)
    assert (session.end_reason, (session.ended_at - session.started_at).seconds) == ("IDLE", 12 * 3_600)
    session_id = sign_in(staff.tilly).id
    clock.move(hours=25)
    with transaction():
        sessions.apply_ends(clock)
    session = stored(session_id)
    assert (session.end_reason, session.ended_at) == ("EXPIRED", session.expires_at)


def test_a_session_whose_api_session_was_purged_is_over(staff: Staff, sign_in: SignIn, clock: StoppedClock) -> None:
    session_id = sign_in(staff.tilly).id
    clock.move(days=3)
    with transaction():
        db.session.delete(db.session.get(ApiSession, session_id))
        sessions.apply_ends(clock)
    assert stored(session_id).end_reason == "EXPIRED"


def test_closing_counts_the_cash_and_signs_out(staff: Staff, sign_in: SignIn) -> None:
    session_id = sign_in(staff.tilly).id
    with transaction():
        session = sessions.session_of(staff.site_id, session_id)
        sessions.set_opening_float(staff.author, session, 5_000)
        sessions.close(staff.author, session, 5_250, "  All   well ")
    session = stored(session_id)
    assert (session.opening_float, session.counted_cash, session.closing_note) == (5_000, 5_250, "All well")
    assert (session.end_reason, session.closed_at) == ("LOGOUT", staff.author.now())
    assert db.session.get(ApiSession, session_id).ended_at is not None
    for change in (
        lambda: sessions.close(staff.author, session, 1, ""),
        lambda: sessions.set_opening_float(staff.author, session, 1),
    ):
        with pytest.raises(Conflict) as refused:
            change()
        assert refused.value.code == "work_session_closed"


@pytest.mark.parametrize("note", ["x" * 501, "a\x00b", "paid with 4242 4242 4242 4242"])
def test_a_closing_note_is_short_and_holds_no_card_number(staff: Staff, sign_in: SignIn, note: str) -> None:
    session = sign_in(staff.tilly)
    with pytest.raises(Invalid):
        sessions.close(staff.author, session, 0, note)


def test_an_admin_signs_a_till_out(staff: Staff, sign_in: SignIn) -> None:
    session_id = sign_in(staff.tilly).id
    with transaction():
        sessions.revoke(staff.author, session_id)
    assert stored(session_id).end_reason == "REVOKED"
    with pytest.raises(NotFound), transaction():
        sessions.revoke(staff.author, "nothing")


def test_the_third_amount_far_above_the_limit_within_ten_minutes_ends_the_session(
    staff: Staff, sign_in: SignIn, clock: StoppedClock
) -> None:
    session_id, other = sign_in(staff.tilly).id, sign_in(staff.tilly).id
    amounts = count(100_001)

    def tried(at: str = session_id) -> str | None:
        with transaction():
            sessions.note_over_limit(clock, at, RefusedAmount(next(amounts), 50_000))
        return stored(at).end_reason

    assert [tried(), tried()] == [None, None]
    clock.move(minutes=10)
    assert [tried(), tried(), tried(other), tried(), tried()] == [None, None, None, "OVER_LIMIT", "OVER_LIMIT"]
    entry = db.session.scalars(select(AuditEntry).where(AuditEntry.action == "api_session.end")).one()
    assert entry.summary.endswith("different amounts above the limit were tried within ten minutes")
    assert agents.suspected_users(clock, staff.site_id, [staff.tilly, staff.merchandiser]) == {staff.tilly}
    clock.move(days=7)
    assert agents.suspected_users(clock, staff.site_id, [staff.tilly]) == set()
