"""Writing what must be the only one of its kind."""

from __future__ import annotations

from sqlalchemy.exc import IntegrityError

from app.domain.shared.problems import Conflict
from app.extensions import db


def flush_or_conflict(message: str) -> None:
    """Two savers can both find a name free and both write it; the database stops the second. Raises Conflict."""
    try:
        db.session.flush()
    except IntegrityError as error:
        raise Conflict(message) from error
