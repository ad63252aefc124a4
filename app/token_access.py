"""Personal access tokens at any surface: the caller of a token, and the note of its use."""

from __future__ import annotations

import structlog
from sqlalchemy.exc import OperationalError

from app import ports
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
