"""The retention of sessions and tokens after their end, of devices and passkeys that are no longer used, and of the
counts against callers who try too often."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, or_
from sqlalchemy.orm import InstrumentedAttribute

from app.domain.retention.purging import Retention
from app.domain.sites import api_sessions, sign_in_sessions
from app.domain.sites.models import (
    ApiSession,
    PersonalToken,
    SignInFailure,
    SignInPasskey,
    SignInSession,
    UserDevice,
    UserPasskey,
)
from app.domain.sites.throttle import GROWTH_WINDOW

ENDED_TOKENS_KEPT = timedelta(days=90)  # As long as their users may want to know what they were.
MARGIN = timedelta(days=1)  # A clock that jumps a little ends nobody's session.


def _is_without_use(at: InstrumentedAttribute[datetime], now: datetime, lasts: timedelta) -> ColumnElement[bool]:
    """Return the condition of records without further use: those that are too old to count, and those dated while the
    clock was far ahead, which would count again one day."""
    return or_(at < now - lasts - MARGIN, at > now + lasts + MARGIN)


def _is_long_ended(now: datetime) -> ColumnElement[bool]:
    before = now - ENDED_TOKENS_KEPT
    return or_(PersonalToken.expires_at < before, PersonalToken.revoked_at < before)


RETENTIONS = (
    Retention("ended access tokens", PersonalToken, dated=PersonalToken.created_at, is_old=_is_long_ended),
    Retention(
        "sign-in sessions",
        SignInSession,
        dated=SignInSession.created_at,
        is_old=lambda now: _is_without_use(SignInSession.created_at, now, sign_in_sessions.LONGEST),
    ),
    Retention(
        "API sessions",
        ApiSession,
        dated=ApiSession.created_at,
        is_old=lambda now: _is_without_use(ApiSession.created_at, now, api_sessions.LONGEST),
    ),
    Retention(
        "devices",
        UserDevice,
        dated=UserDevice.last_seen_at,
        is_old=lambda now: _is_without_use(UserDevice.last_seen_at, now, sign_in_sessions.DEVICE_KNOWN_FOR),
    ),
    Retention(
        "passkeys",
        UserPasskey,
        dated=UserPasskey.last_used_at,
        is_old=lambda now: _is_without_use(UserPasskey.last_used_at, now, sign_in_sessions.DEVICE_KNOWN_FOR),
    ),
    Retention(
        "passkeys to sign in with",
        SignInPasskey,
        dated=SignInPasskey.last_used_at,
        is_old=lambda now: _is_without_use(SignInPasskey.last_used_at, now, sign_in_sessions.DEVICE_KNOWN_FOR),
    ),
    Retention(
        "throttled attempts",
        SignInFailure,
        dated=SignInFailure.at,
        is_old=lambda now: _is_without_use(SignInFailure.at, now, GROWTH_WINDOW),
    ),
)
