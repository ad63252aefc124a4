"""The end of work sessions at tills, which follows that of their API sessions."""

from __future__ import annotations

import structlog

from app.domain.pos import sessions
from app.jobs.follow_up import follow_up
from app.ports import clock
from app.transaction import transaction

log = structlog.get_logger()


def follow_user(user_id: int) -> None:
    """End the work sessions of a user whose API session a change has ended. Never raises: the change is committed, and
    the schedule finds what was left."""
    with follow_up("work_sessions_not_ended", user=user_id), transaction():
        sessions.apply_ends_of_user(clock(), user_id)


def follow_all() -> None:
    with transaction():
        ended = sessions.apply_ends(clock())
    if ended:
        log.info("work_sessions_ended", sessions=ended)
