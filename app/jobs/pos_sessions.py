"""The end of work sessions at tills, which follows that of their API sessions."""

from __future__ import annotations

import structlog

from app.domain.pos import work_session_ends
from app.extensions import db
from app.ports import clock
from app.storage_alerts import note_storage_fault
from app.transaction import transaction

log = structlog.get_logger()


def follow_user(user_id: int) -> None:
    """End the work sessions of a user whose API session a change has ended. Never raises: the change is committed, and
    the schedule finds what was left."""
    try:
        with transaction():
            work_session_ends.follow_user(clock(), user_id)
    except Exception as error:
        db.session.rollback()
        if not note_storage_fault(error):
            log.exception("work_sessions_not_ended")


def follow_all() -> None:
    with transaction():
        ended = work_session_ends.follow(clock())
    if ended:
        log.info("work_sessions_ended", sessions=ended)
