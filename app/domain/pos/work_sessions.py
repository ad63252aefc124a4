"""Work sessions at a till: opened by signing in, closed with the counted cash."""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy import update

from app.domain.pos import work_session_ends
from app.domain.pos.access import ADMINS
from app.domain.pos.agents import find_agent
from app.domain.pos.models import PosAgent, PosLocation, PosSession
from app.domain.pos.typed_text import note_problems, program_name
from app.domain.shared.author import Author
from app.domain.shared.clock import Clock
from app.domain.shared.money import LARGEST
from app.domain.shared.problems import Conflict, Forbidden, Invalid, NotFound
from app.domain.shared.records import existing, find_record
from app.domain.shared.text import one_line
from app.domain.sites import api_sessions, audit
from app.domain.sites.api_sessions import ApiCaller, Audience, Because, Device
from app.domain.sites.roles import Role
from app.domain.sites.sites import currency_of
from app.extensions import db

SEEN_EVERY = timedelta(minutes=1)
LONGEST_NOTE = 500
MISSING = "There is no such work session in this shop."
CLOSED = "This work session was closed already."


def open_with(clock: Clock, caller: ApiCaller, device: Device, user_agent: str, ip: str) -> PosAgent | None:
    """Open the work session of a user who just signed in at a till or is an agent; return the agent, None for a user
    who is none. Raises Forbidden where a disabled agent who is no admin signs in at a till."""
    agent = find_agent(caller.site_id, caller.user_id)
    is_for_till = caller.audience is Audience.POS
    if is_for_till and agent is not None and not agent.enabled and not ADMINS & caller.roles:
        raise Forbidden("Your agent account is switched off. Ask an admin.", "agent_disabled")
    if is_for_till or agent is not None or Role.POS_AGENT in caller.roles:
        _open(clock, caller, agent, device, user_agent, ip)
    return agent


def _open(clock: Clock, caller: ApiCaller, agent: PosAgent | None, device: Device, user_agent: str, ip: str) -> None:
    now = clock.now()
    session = PosSession(
        id=caller.session_id,
        site_id=caller.site_id,
        user_id=caller.user_id,
        agent_id=None if agent is None else agent.id,
        device_id=device.id,
        device_name=device.name,
        user_agent=program_name(user_agent),
        ip=ip[:64],
        started_at=now,
        last_seen_at=now,
        expires_at=caller.expires_at,
        currency=currency_of(caller.site_id),
    )
    db.session.add(session)


def session_of(site_id: int, session_id: str) -> PosSession:
    """Return a work session of the site. Raises NotFound."""
    return existing(find_record(PosSession, site_id, session_id), MISSING)


def current(caller: ApiCaller, to_change: bool = False) -> PosSession:
    """Return the caller’s own work session. Raises NotFound for a user who signed in before they were an agent, or to
    manage the shop."""
    session = find_record(PosSession, caller.site_id, caller.session_id, to_change)
    if session is None:
        raise NotFound("You have no work session: sign in at the till.", "work_session_not_found")
    return session


def see(clock: Clock, session_id: str, location_id: int | None) -> None:
    """Note that a session was used just now, and at which location where one is named."""
    seen = update(PosSession).where(PosSession.id == session_id).values(last_seen_at=clock.now())
    db.session.execute(seen if location_id is None else seen.values(location_id=location_id))


def wants_to_be_seen(clock: Clock, session: PosSession, location: PosLocation | None) -> bool:
    """Whether `see` is due for a session: not with every call, which would make each of them a write."""
    moved = location is not None and session.location_id != location.id
    return moved or abs(clock.now() - session.last_seen_at) >= SEEN_EVERY


def is_other_program(session_id: str, user_agent: str) -> bool:
    """Whether a till’s session was opened by another program than the one that calls now."""
    session = db.session.get(PosSession, session_id)
    return session is not None and bool(session.user_agent) and session.user_agent != program_name(user_agent)


def set_opening_float(author: Author, session: PosSession, amount: int) -> None:
    """Save the cash in the drawer at the beginning, in minor units. Raises Conflict, Invalid."""
    if session.closed_at is not None:
        raise Conflict(CLOSED, "work_session_closed")
    _check_amount(amount, "#/openingFloat")
    before, session.opening_float = session.opening_float, amount
    if before != amount:
        old, new = {"openingFloat": before}, {"openingFloat": amount}
        _note(author, session, "pos_session.float", "Set the opening float", old, new)


def close(author: Author, session: PosSession, counted_cash: int, note: str) -> None:
    """Close a work session for good: save the counted cash and sign the user out. Raises Conflict, Invalid."""
    if session.closed_at is not None:
        raise Conflict(CLOSED, "work_session_closed")
    _check_amount(counted_cash, "#/countedCash")
    _check_note(note)
    session.counted_cash, session.closing_note = counted_cash, one_line(note)
    session.closed_at = author.now()
    api_sessions.end(author.clock, session.id, Because.LOGOUT)
    work_session_ends.follow_session(author.clock, session.id)
    _note(author, session, "pos_session.close", "Closed a work session", after={"countedCash": counted_cash})


def revoke(author: Author, session_id: str) -> None:
    """End a work session, and so sign its user out at the next call. Raises NotFound."""
    session = session_of(author.site_id, session_id)
    if session.ended_at is None:
        api_sessions.end(author.clock, session.id, Because.REVOKED)
        work_session_ends.follow_session(author.clock, session.id)
        _note(author, session, "pos_session.revoke", "Ended a work session")


def _check_amount(amount: int, pointer: str) -> None:
    if not 0 <= amount <= LARGEST:
        raise Invalid.one("amount_invalid", "This is no amount of cash.", pointer)


def _check_note(note: str) -> None:
    if problems := note_problems(one_line(note), "The note", LONGEST_NOTE, "#/closingNote", required=False):
        raise Invalid(problems)


def _note(
    author: Author, session: PosSession, action: str, summary: str, before: object = None, after: object = None
) -> None:
    audit.record(author, action, ("pos_session", session.id), summary, before, after)
