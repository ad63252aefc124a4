"""What every save of a record does: nobody saved in between, only what changed is written, and no name was taken in
the same moment."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sqlalchemy.exc import IntegrityError

from app.domain.shared.problems import Conflict, StaleRevision
from app.extensions import db


def check_revision(current: int, known: int, noun: str) -> None:
    """Raises StaleRevision."""
    if current != known:
        raise StaleRevision(f"Somebody else saved this {noun} while you worked on it.", current)


def assign(record: object, draft: object, fields: Iterable[str]) -> dict[str, Any]:
    """Give the record what differs in the draft; the earlier values of those fields."""
    changed = [name for name in fields if getattr(record, name) != getattr(draft, name)]
    before = {name: getattr(record, name) for name in changed}
    for name in changed:
        setattr(record, name, getattr(draft, name))
    return before


def flush_or_conflict() -> None:
    """Two savers can both find a name free and both write it; the database stops the second. Raises Conflict."""
    try:
        db.session.flush()
    except IntegrityError as error:
        raise Conflict("Somebody else took this SKU or SEO name at the same moment. Nothing was saved.") from error
