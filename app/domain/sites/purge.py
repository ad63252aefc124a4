"""Removes what signing in, and counting how often somebody does things, keeps only for a time."""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy import delete

from app.domain.shared.clock import Clock
from app.domain.sites.models import ApiSession, SignInFailure, SignInSession
from app.domain.sites.sign_in_sessions import LONGEST
from app.domain.sites.throttle import ACCOUNT_WINDOW
from app.extensions import db

MARGIN = timedelta(days=1)  # A clock that jumps a little ends nobody's session.


def purge(clock: Clock) -> int:
    """Sessions that can no longer be used and failed tries that no longer count; how many went."""
    now = clock.now()
    old = (
        delete(SignInSession).where(SignInSession.created_at < now - LONGEST - MARGIN),
        delete(ApiSession).where(ApiSession.expires_at < now - MARGIN),
        delete(SignInFailure).where(SignInFailure.at < now - ACCOUNT_WINDOW - MARGIN),
    )
    results = [db.session.execute(statement, execution_options={"synchronize_session": False}) for statement in old]
    return sum(result.rowcount for result in results)  # type: ignore[attr-defined]
