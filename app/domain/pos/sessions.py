"""Work sessions at a till: opened by signing in, closed with the counted cash.

Each ends with the API session of the same id, which has the time and the reason. A change that ends some API sessions
applies that in its own transaction; other ends, such as expiries, are found by the job `pos-sessions`.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import StrEnum

from sqlalchemy import ColumnElement, and_, func, select, update

from app.domain.pos import journal, rules
from app.domain.pos.access import ADMINS, find_agent
from app.domain.pos.journal import EntryType, MoneyEvent
from app.domain.pos.models import PosAgent, PosAgentLocation, PosLocation, PosSession
from app.domain.pos.over_limit import RefusedAmount, TriesOverLimit, count_tries
from app.domain.pos.report_figures import ReportType, report_to_json
from app.domain.pos.reports import compute_report
from app.domain.pos.rules import note_problems, program_name
from app.domain.shared.author import Author
from app.domain.shared.clock import Clock
from app.domain.shared.money import LARGEST
from app.domain.shared.paging import Paged
from app.domain.shared.problems import Conflict, Forbidden, Invalid, NotFound
from app.domain.shared.records import existing, find_record
from app.domain.shared.text import one_line
from app.domain.sites import activity, api_sessions, throttle
from app.domain.sites.accounts import Role
from app.domain.sites.api_sessions import IDLE, ApiCaller, Audience, Because, Device
from app.domain.sites.models import ApiSession, User
from app.domain.sites.sites import currency_of
from app.extensions import db

USE_NOTED_EVERY = timedelta(minutes=1)
LONGEST_NOTE = 500
MISSING = "There is no such work session in this shop."
NO_SESSION = "You have no work session: sign in at the till."
CLOSED = "This work session was closed already."
SESSIONS_SHOWN = 20
CURRENT = "current"  # As the id of a session: the caller's own.


def open_session(clock: Clock, caller: ApiCaller, device: Device, user_agent: str, ip: str) -> PosAgent | None:
    """Open the work session of a user who just signed in at a till or is an agent; return the agent, None for a user
    who is none. Raises Forbidden where a disabled agent who is no admin signs in at a till."""
    agent = find_agent(caller.site_id, caller.user_id)
    is_for_till = caller.audience is Audience.POS
    if is_for_till and agent is not None and not agent.enabled and not ADMINS & caller.roles:
        raise Forbidden("Your agent account is switched off. Ask an admin.", "agent_disabled")
    if is_for_till or agent is not None or Role.POS_AGENT in caller.roles:
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
    return agent


def session_of(site_id: int, session_id: str, to_change: bool = False) -> PosSession:
    """Return a work session of the site; `to_change` locks it. Raises NotFound."""
    return existing(_find(site_id, session_id, to_change), MISSING)


def current_session(caller: ApiCaller, to_change: bool = False) -> PosSession:
    """Return the caller’s own work session. Raises NotFound for a user who signed in before they were an agent, or to
    manage the shop."""
    session = _find(caller.site_id, caller.session_id, to_change)
    if session is None:
        raise NotFound(NO_SESSION, "work_session_not_found")
    return session


def session_for(caller: ApiCaller, session_id: str, to_change: bool = False) -> PosSession:
    """Return a work session that the caller may report on and close, CURRENT or by its id: one of their own, for an
    admin any of the site. Raises NotFound."""
    if session_id == CURRENT:
        return current_session(caller, to_change)
    found = _find(caller.site_id, session_id, to_change)
    if found is None or (found.user_id != caller.user_id and not ADMINS & caller.roles):
        raise NotFound(MISSING, "work_session_not_found")
    return found


def _find(site_id: int, session_id: str, to_change: bool) -> PosSession | None:
    """Return a work session; `to_change` locks it, and before it the API session that ends with it: that is ended first
    wherever else both are, and who locked them the other way round would wait for each other."""
    if to_change:
        of_session = select(ApiSession.id).where(ApiSession.site_id == site_id, ApiSession.id == session_id)
        db.session.execute(of_session.with_for_update(key_share=True))
    return find_record(PosSession, site_id, session_id, to_change)


def hold_open(site_id: int, session_id: str | None) -> PosSession:
    """Return a work session in which money moves, held open until the commit: closing it waits. Raises NotFound for a
    user who has none, and Conflict for a closed one."""
    found = session_id and db.session.scalar(
        select(PosSession)
        .where(PosSession.site_id == site_id, PosSession.id == session_id)
        .with_for_update(read=True)
        .execution_options(populate_existing=True)
    )
    if not found:
        raise NotFound(NO_SESSION, "work_session_not_found")
    if found.closed_at is not None:
        raise Conflict(CLOSED, "work_session_closed")
    return found


def is_closed(site_id: int, session_id: str) -> bool:
    """Whether a work session was closed; one that is open is held open until the commit."""
    try:
        return hold_open(site_id, session_id).closed_at is not None
    except Conflict:
        return True


def note_use(clock: Clock, session_id: str, location_id: int | None, only_reads: bool = False) -> None:
    """Note that a session was used just now, and at which location where one is named. The first use that does not only
    read opens the session there."""
    seen = update(PosSession).where(PosSession.id == session_id).values(last_seen_at=clock.now())
    if location_id is not None:
        seen = seen.values(location_id=location_id)
    if location_id is not None and not only_reads:
        seen = seen.values(opened_location_id=func.coalesce(PosSession.opened_location_id, location_id))
    db.session.execute(seen)


def is_use_to_note(clock: Clock, session: PosSession, location: PosLocation | None, only_reads: bool = False) -> bool:
    """Whether `note_use` is due for a session: not with every call, which would make each of them a write."""
    moved = location is not None and session.location_id != location.id
    opens = location is not None and session.opened_location_id is None and not only_reads
    return moved or opens or abs(clock.now() - session.last_seen_at) >= USE_NOTED_EVERY


def is_other_program(session_id: str, user_agent: str) -> bool:
    """Whether a till’s session was opened by another program than the one that calls now."""
    session = db.session.get(PosSession, session_id)
    return session is not None and rules.is_other_program(session.user_agent, user_agent)


def set_opening_float(author: Author, session: PosSession, amount: int) -> None:
    """Save the cash in the drawer at the beginning, in minor units. Raises Conflict, Invalid."""
    if session.closed_at is not None:
        raise Conflict(CLOSED, "work_session_closed")
    _check_amount(amount, "#/openingFloat")
    before, session.opening_float = session.opening_float, amount
    if before != amount:
        old, new = {"openingFloat": before}, {"openingFloat": amount}
        _record(author, session, "pos_session.float", "Set the opening float", old, new)


def close(author: Author, session: PosSession, counted_cash: int, note: str, because: Because = Because.LOGOUT) -> None:
    """Close a work session for good: save the counted cash and the Z report, and sign the session's user out, which
    `because` gives the reason of. The session is locked. Raises Conflict, Invalid."""
    if session.closed_at is not None:
        raise Conflict(CLOSED, "work_session_closed")
    _check_amount(counted_cash, "#/countedCash")
    note = one_line(note)
    if problems := note_problems(note, "The note", LONGEST_NOTE, "#/closingNote", required=False):
        raise Invalid(problems)
    session.counted_cash, session.closing_note, session.closed_at = counted_cash, note, author.now()
    api_sessions.end(author.clock, session.id, because)
    apply_end_of_session(author.clock, session.id)
    _number_z_report(session)
    after = {"countedCash": counted_cash, "zNumber": session.z_number}
    _record(author, session, "pos_session.close", "Closed a work session", after=after)
    _store_z_report(author, session)


def _number_z_report(session: PosSession) -> None:
    """Give a session the next number of the location where it was opened; none where the site has no location. The
    location's row is locked, so that a number that is rolled back is given again."""
    place = session.opened_location_id or session.location_id or _first_location(session)
    if place is None:
        return
    raised = update(PosLocation).where(PosLocation.site_id == session.site_id, PosLocation.id == place)
    raised = raised.values(last_z_number=PosLocation.last_z_number + 1).returning(PosLocation.last_z_number)
    session.opened_location_id, session.z_number = place, db.session.scalar(raised)


def _first_location(session: PosSession) -> int | None:
    """Return the first location by name: of the session's agent, or else of the site."""
    of_agent = and_(PosAgentLocation.location_id == PosLocation.id, PosAgentLocation.agent_id == session.agent_id)
    query = select(PosLocation.id).outerjoin(PosAgentLocation, of_agent).where(PosLocation.site_id == session.site_id)
    order = PosAgentLocation.agent_id.is_(None), PosLocation.display_name, PosLocation.id
    return db.session.scalar(query.order_by(*order).limit(1))


def _store_z_report(author: Author, session: PosSession) -> None:
    """Store the Z report of a session that was closed, and its entry in the journal."""
    entry = journal.append(
        author.clock, session.site_id, MoneyEvent(EntryType.Z_REPORT, session.closed_at or author.now(), session.id)
    )
    session.journal_head = entry.hash
    # What moves money waits for the journal, so that from here to the commit no figure changes.
    session.z_report = report_to_json(compute_report(author.clock, session, ReportType.Z))


def journal_head_of(session: PosSession) -> str | None:
    """Return the hash that the report of a session names: of its Z report's entry, else of the journal's latest entry;
    None for a session that was closed before there was a journal."""
    return session.journal_head if session.closed_at is not None else journal.head_of(session.site_id)


def revoke(author: Author, session_id: str) -> None:
    """End a work session, and so sign its user out at the next call. Raises NotFound."""
    session = session_of(author.site_id, session_id)
    if session.ended_at is None:
        api_sessions.end(author.clock, session.id, Because.REVOKED)
        apply_end_of_session(author.clock, session.id)
        _record(author, session, "pos_session.revoke", "Ended a work session")


def _check_amount(amount: int, pointer: str) -> None:
    if not 0 <= amount <= LARGEST:
        raise Invalid.one("amount_invalid", "This is no amount of cash.", pointer)


def _record(
    author: Author, session: PosSession, action: str, summary: str, before: object = None, after: object = None
) -> None:
    activity.record(author, action, ("pos_session", session.id), summary, before, after)


class EndReason(StrEnum):
    LOGOUT = "LOGOUT"
    EXPIRED = "EXPIRED"
    IDLE = "IDLE"
    REVOKED = "REVOKED"
    AGENT_DISABLED = "AGENT_DISABLED"
    REFRESH_REUSE = "REFRESH_REUSE"
    PIN_LOCKOUT = "PIN_LOCKOUT"
    PASSWORD_CHANGED = "PASSWORD_CHANGED"
    DEVICE_CHANGED = "DEVICE_CHANGED"
    OVER_LIMIT = "OVER_LIMIT"


# Any other reason of an API session is a revocation; the activity log has the cause.
NAMES = frozenset(EndReason.__members__)


def apply_ends(clock: Clock, *which: ColumnElement[bool]) -> int:
    """End the work sessions whose API session has ended, and return their number. `which` are conditions; without any,
    the sessions of every site are meant."""
    db.session.flush()
    query = (
        select(PosSession, ApiSession, User)
        .outerjoin(ApiSession, ApiSession.id == PosSession.id)
        .outerjoin(User, User.id == ApiSession.user_id)
        .where(PosSession.ended_at.is_(None), *which)
        .execution_options(populate_existing=True)
    )
    ended = 0
    for session, api_session, user in db.session.execute(query):
        if (end := _end_of(session, api_session, user, clock.now())) is not None:
            session.ended_at, session.end_reason = end[0], end[1].value
            ended += 1
    return ended


def apply_ends_of_user(clock: Clock, user_id: int) -> int:
    return apply_ends(clock, PosSession.user_id == user_id)


def apply_end_of_session(clock: Clock, session_id: str) -> int:
    return apply_ends(clock, PosSession.id == session_id)


def end_sessions_of_agent(clock: Clock, agent: PosAgent, because: Because) -> None:
    """End every open work session of an agent, so that its next call is refused."""
    of_agent = (PosSession.site_id == agent.site_id, PosSession.user_id == agent.user_id)
    session_ids = select(PosSession.id).where(*of_agent, PosSession.ended_at.is_(None))
    for session_id in db.session.scalars(session_ids).all():
        api_sessions.end(clock, session_id, because)
    apply_ends(clock, *of_agent)


def _end_of(
    session: PosSession, api_session: ApiSession | None, user: User | None, now: datetime
) -> tuple[datetime, EndReason] | None:
    """Return the time and the reason of a work session's end, None where it goes on."""
    if api_session is None or user is None:  # It was purged, or its user removed.
        return min(now, session.expires_at), EndReason.EXPIRED
    if api_session.ended_at is not None:
        because = api_session.ended_because or ""
        return api_session.ended_at, EndReason(because) if because in NAMES else EndReason.REVOKED
    if api_session.session_version != user.session_version:
        return now, EndReason.PASSWORD_CHANGED
    if not user.enabled:
        return now, EndReason.REVOKED
    if now >= api_session.expires_at:
        return api_session.expires_at, EndReason.EXPIRED
    if abs(now - api_session.last_used_at) >= IDLE:
        return min(now, api_session.last_used_at + IDLE), EndReason.IDLE
    return None


def location_of(session: PosSession) -> PosLocation | None:
    return None if session.location_id is None else db.session.get(PosLocation, session.location_id)


def opened_location_of(session: PosSession) -> PosLocation | None:
    """Return the location at which a session's Z report counts."""
    return None if session.opened_location_id is None else db.session.get(PosLocation, session.opened_location_id)


def agent_of(session: PosSession) -> PosAgent | None:
    return None if session.agent_id is None else db.session.get(PosAgent, session.agent_id)


def person_of(session: PosSession) -> str:
    """Return the name of who opened a session; empty where the user was removed."""
    found = agent_of(session) or (session.user_id and db.session.get(User, session.user_id))
    return found.display_name if found else ""


def open_sessions(site_id: int, user_id: int) -> list[PosSession]:
    """Return the open sessions of a user, the latest first."""
    query = select(PosSession).where(PosSession.site_id == site_id, PosSession.user_id == user_id)
    return list(db.session.scalars(query.where(PosSession.ended_at.is_(None)).order_by(PosSession.started_at.desc())))


def past_sessions(site_id: int, user_id: int, page_number: int) -> Paged[PosSession]:
    """Return a page of the ended sessions of a user, the latest first."""
    which = (PosSession.site_id == site_id, PosSession.user_id == user_id, PosSession.ended_at.is_not(None))
    total = db.session.scalar(select(func.count()).select_from(PosSession).where(*which)) or 0
    query = select(PosSession).where(*which).order_by(PosSession.started_at.desc(), PosSession.id)
    rows = db.session.scalars(query.limit(SESSIONS_SHOWN).offset((page_number - 1) * SESSIONS_SHOWN)).all()
    return Paged(rows, page_number, SESSIONS_SHOWN, total)


def note_over_limit(clock: Clock, session_id: str, refused: RefusedAmount) -> TriesOverLimit:
    """Note an amount that was refused as above the limit, and return the tries of the session. The third that counts
    within ten minutes ends it: its agent would hardly try that (ASVS 5 section 7.4)."""
    noted = throttle.note_over_limit(clock, session_id, refused.amount, refused.limit)
    tries = count_tries(RefusedAmount(amount, limit) for amount, limit in noted)
    if tries.ends_session:
        why = "different amounts above the limit were tried within ten minutes"
        api_sessions.end_as_suspicious(clock, session_id, Because.OVER_LIMIT, why)
        apply_end_of_session(clock, session_id)
    return tries
