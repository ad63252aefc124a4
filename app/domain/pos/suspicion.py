"""Suspicious use of an agent’s session, which its agent would hardly make; ASVS 5 section 7.4. The session ends, the
activity log says why, and the pages of the agents show it."""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta

from sqlalchemy import select

from app.domain.pos import work_session_ends
from app.domain.shared.clock import Clock
from app.domain.sites import api_sessions, throttle
from app.domain.sites.api_sessions import Because
from app.domain.sites.models import AuditEntry
from app.extensions import db

MOST_OVER_LIMIT = 3  # Within ten minutes.
SHOWN_FOR = timedelta(days=7)


def note_over_limit(clock: Clock, session_id: str) -> None:
    """Count a payment that was refused as above the limit; the third within ten minutes ends the session."""
    if throttle.count_over_limit(clock, session_id) >= MOST_OVER_LIMIT:
        why = "three payments above the limit were tried within ten minutes"
        api_sessions.end_as_suspicious(clock, session_id, Because.OVER_LIMIT, why)
        work_session_ends.follow_session(clock, session_id)


def suspected(clock: Clock, site_id: int, user_ids: Collection[int]) -> set[int]:
    """Return the ids of those users of whom a session ended as suspicious within the last week."""
    query = select(AuditEntry.subject_id).where(
        AuditEntry.site_id == site_id,
        AuditEntry.subject_type == "user",
        AuditEntry.subject_id.in_([str(user_id) for user_id in user_ids]),
        AuditEntry.action == api_sessions.ENDED_AS_SUSPICIOUS,
        AuditEntry.at > clock.now() - SHOWN_FOR,
    )
    return {int(subject_id) for subject_id in db.session.scalars(query)}
