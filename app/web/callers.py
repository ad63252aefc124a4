"""Who calls at any surface by a personal access token, and how often a caller may."""

from __future__ import annotations

import structlog
from sqlalchemy.exc import OperationalError

from app import ports
from app.domain.shared.problems import TooManyRequests
from app.domain.shared.rate_limit import Rate
from app.domain.sites import personal_tokens
from app.domain.sites.personal_tokens import TokenCaller
from app.transaction import transaction

log = structlog.get_logger()


def token_caller(token: str) -> TokenCaller:
    """Return the user and the site of a token, and note its use at most once an hour. Raises Unauthenticated."""
    caller = personal_tokens.caller_of(ports.clock(), token)
    if caller.is_stale:
        _note_use(caller.token_id)
    return caller


def _note_use(token_id: int) -> None:
    """Note the use of a token, unless the database is busy, which must not keep the caller from reading."""
    try:
        with transaction():
            personal_tokens.note_use(ports.clock(), token_id)
    except OperationalError:
        log.info("token_use_not_noted")


def seconds_to_wait(key: str, rate: Rate, counted: int = 1) -> int:
    """Count a request under a key, or only look with 0 as `counted`; return the seconds until another is allowed, 0
    when this one is within the limit."""
    return ports.shared_memory().take(key, rate, ports.clock().now().timestamp(), counted)


def user_key(action: str, site_id: int, user_id: int) -> str:
    """Return the key under which a user's requests of one kind are counted, at whichever surface they come."""
    return f"{action}:user:{site_id}:{user_id}"


def refuse_beyond(key: str, rate: Rate) -> None:
    """Count a request under a key. Raises TooManyRequests beyond the rate."""
    if wait := seconds_to_wait(key, rate):
        raise TooManyRequests(f"Too many requests. Try again in {wait} second{'s' * (wait != 1)}.", wait)
