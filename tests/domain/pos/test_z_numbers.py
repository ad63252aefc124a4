"""Z reports are numbered without gaps at the location where the session was opened, and stand in the journal."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from sqlalchemy import select

from app.domain.pos import journal, sessions
from app.domain.pos.journal_models import PosJournalEntry
from app.domain.pos.models import PosLocation, PosSession
from app.domain.sites.api_sessions import Because
from app.domain.sites.models import AuditEntry, Site, User
from app.extensions import db
from app.transaction import transaction
from tests.domain.pos.conftest import SignIn, Staff, stored
from tests.factories import make_agent, make_site

Close = Callable[..., PosSession]


@pytest.fixture
def places(staff: Staff) -> dict[str, int]:
    """The ids of the locations by those of the processor."""
    return {each.location_id: each.id for each in db.session.scalars(select(PosLocation))}


@pytest.fixture
def close(staff: Staff, sign_in: SignIn, places: dict[str, int]) -> Close:
    """Opens a session, uses it at some locations and closes it."""

    def closed(*used_at: str, user_id: int | None = None) -> PosSession:
        session_id = sign_in(user_id or staff.tilly).id
        with transaction():
            for place in used_at:
                sessions.note_use(staff.author.clock, session_id, places[place])
            session = sessions.session_of(staff.site_id, session_id, to_change=True)
            sessions.close(staff.author, session, 0, "")
        return stored(session_id)

    return closed


def test_each_location_counts_the_sessions_that_were_opened_there(close: Close, places: dict[str, int]) -> None:
    ways = (["tml_fair"], ["tml_shop", "tml_fair"], ["tml_fair", "tml_shop"], ["tml_shop"])
    numbers = [(closed.opened_location_id, closed.z_number) for closed in (close(*way) for way in ways)]
    fair, shop = places["tml_fair"], places["tml_shop"]
    assert numbers == [(fair, 1), (shop, 1), (fair, 2), (shop, 2)]


def test_a_number_that_was_rolled_back_is_given_again(
    staff: Staff, sign_in: SignIn, close: Close, places: dict[str, int]
) -> None:
    session_id = sign_in(staff.tilly).id
    with pytest.raises(ZeroDivisionError), transaction():
        sessions.note_use(staff.author.clock, session_id, places["tml_fair"])
        sessions.close(staff.author, sessions.session_of(staff.site_id, session_id, to_change=True), 0, "")
        raise ZeroDivisionError
    assert (stored(session_id).z_number, close("tml_fair").z_number) == (None, 1)


def test_a_session_that_was_used_nowhere_counts_at_the_first_location_of_its_agent(
    staff: Staff, close: Close, places: dict[str, int]
) -> None:
    assert close().opened_location_id == places["tml_fair"], "no agent: the first of the shop"
    with transaction():
        site, user = db.session.get_one(Site, staff.site_id), db.session.get_one(User, staff.tilly)
        make_agent(site, user, db.session.get_one(PosLocation, places["tml_shop"]))
    assert (close().opened_location_id, close().z_number) == (places["tml_shop"], 2)


def test_a_shop_without_a_location_gives_no_number(staff: Staff, close: Close) -> None:
    with transaction():
        make_site("other.localhost", "Other")
        db.session.query(PosLocation).update({"site_id": 2})
    closed = close()
    assert (closed.opened_location_id, closed.z_number, closed.z_report["type"]) == (None, None, "Z")


def test_a_z_report_is_the_head_of_the_journal(staff: Staff, close: Close) -> None:
    session = close("tml_fair")
    entry = db.session.scalars(select(PosJournalEntry)).one()
    assert (entry.type, entry.session_id, entry.amount, entry.tender_type) == ("Z_REPORT", session.id, None, None)
    assert session.journal_head == entry.hash == journal.head_of(staff.site_id)
    close("tml_fair")
    assert sessions.journal_head_of(stored(session.id)) == entry.hash
    assert [entry.action for entry in db.session.scalars(select(AuditEntry))] == ["pos_session.close"] * 2


def test_a_session_that_ended_is_closed_later_and_keeps_its_reason(staff: Staff, sign_in: SignIn) -> None:
    session_id = sign_in(staff.tilly).id
    with transaction():
        sessions.revoke(staff.author, session_id)
    with transaction():
        session = sessions.session_of(staff.site_id, session_id, to_change=True)
        sessions.close(staff.author, session, 120, "Counted by an admin")
    session = stored(session_id)
    assert (session.end_reason, session.counted_cash, session.z_number) == ("REVOKED", 120, 1)


def test_an_admin_who_closes_an_open_session_signs_its_user_out(staff: Staff, sign_in: SignIn) -> None:
    session_id = sign_in(staff.tilly).id
    with transaction():
        session = sessions.session_of(staff.site_id, session_id, to_change=True)
        sessions.close(staff.author, session, 0, "", Because.REVOKED)
    assert stored(session_id).end_reason == "REVOKED"
