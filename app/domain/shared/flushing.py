"""Flush of records that a unique constraint may refuse."""

from __future__ import annotations

from sqlalchemy.exc import IntegrityError

from app.domain.shared.problems import Conflict
from app.extensions import db


def flush_or_conflict(message: str) -> None:
    """Flush the session. Raises Conflict with the message where a constraint refuses a record, as for the second of two
    savers that found the same name free."""
    try:
        db.session.flush()
    except IntegrityError as error:
        raise Conflict(message) from error
