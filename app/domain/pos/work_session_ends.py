"""The end of work sessions: each ends with the API session of the same id, which has the time and the reason.

Ends are read from the API sessions. A change that ends some applies them in its own transaction; others, such as
expiries, are found by the job `pos-sessions`.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from sqlalchemy import ColumnElement, select

from app.domain.pos.models import PosAgent, PosSession
from app.domain.shared.clock import Clock
from app.domain.sites import api_sessions
from app.domain.sites.api_sessions import IDLE, Because
from app.domain.sites.models import ApiSession, User
from app.extensions import db


class EndReason(StrEnum):
    LOGOUT = "LOGOUT"
    EXPIRED = "EXPIRED"
    IDLE = "IDLE"
    REVOKED = "REVOKED"
    AGENT_DISABLED = "AGENT_DISABLED"
    REFRESH_REUSE = "REFRESH_REUSE"
    PIN_LOCKOUT = "PIN_LOCKOUT"
    PASSWORD_CHANGED = "PASSWORD_CHANGED"


# Any other reason of an API session is a revocation; the activity log has the cause.
NAMES = frozenset(EndReason.__members__)


def follow(clock: Clock, *which: ColumnElement[bool]) -> int:
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
        if (end := _end(session, api_session, user, clock.now())) is not None:
            session.ended_at, session.end_reason = end[0], end[1].value
            ended += 1
    return ended


def follow_user(clock: Clock, user_id: int) -> int:
    return follow(clock, PosSession.user_id == user_id)


def follow_session(clock: Clock, session_id: str) -> int:
    return follow(clock, PosSession.id == session_id)


def end_all_of(clock: Clock, agent: PosAgent, because: Because) -> None:
    """End every open work session of an agent, so that its next call is refused."""
    of_agent = (PosSession.site_id == agent.site_id, PosSession.user_id == agent.user_id)
    session_ids = select(PosSession.id).where(*of_agent, PosSession.ended_at.is_(None))
    for session_id in db.session.scalars(session_ids).all():
        api_sessions.end(clock, session_id, because)
    follow(clock, *of_agent)


def _end(
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
