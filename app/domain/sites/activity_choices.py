"""The actions and kinds of things that stand in a site's activity log, each found by one step in an index, however many
entries there are."""

from __future__ import annotations

from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import InstrumentedAttribute, aliased

from app.domain.sites.models import AuditEntry
from app.extensions import db

MOST = 300


def actions(site_id: int) -> list[str]:
    return _values(site_id, "action")


def label_of(action: str) -> str:
    """An action in words: `pos_agent.enable` is “POS agent: enable”."""
    thing, _, act = action.replace("_", " ").partition(".")
    thing = thing[:1].upper() + thing[1:]
    return f"{thing}: {act}".replace("Pos ", "POS ", 1) if act else thing


def things(site_id: int) -> list[str]:
    return _values(site_id, "subject_type")


def _values(site_id: int, name: str) -> list[str]:
    """Return the values of a column by a recursive query: the smallest value, then the smallest above it, and so on."""
    column: InstrumentedAttribute[Any] = getattr(AuditEntry, name)
    found = select(func.min(column).label("value")).where(AuditEntry.site_id == site_id).cte("found", recursive=True)
    entry = aliased(AuditEntry)
    above = select(func.min(getattr(entry, name))).where(entry.site_id == site_id, getattr(entry, name) > found.c.value)
    found = found.union_all(select(above.scalar_subquery()).where(found.c.value.is_not(None)))
    query = select(found.c.value).where(found.c.value.is_not(None)).limit(MOST)
    return list(db.session.scalars(query))
