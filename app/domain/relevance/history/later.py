"""The later changes of a record after an entry of the activity log, with their authors, so that people know what to
undo first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, or_, select, tuple_

from app.domain.relevance.history.kinds import KINDS
from app.domain.sites.models import AuditEntry
from app.extensions import db

SETTINGS = "settings"


@dataclass(frozen=True, slots=True)
class Later:
    """A later change of a record; `id` is that of its entry in the activity log."""

    id: int
    at: datetime
    actor: str


def later_changes(site_id: int, rows: Sequence[AuditEntry]) -> Mapping[int, Later]:
    """Return the latest change of each entry's record after the entry, by the entry's id, in two queries."""
    records = [row for row in rows if row.subject_type != SETTINGS]
    settings = [row for row in rows if row.subject_type == SETTINGS]
    return _of_records(site_id, records) | _of_settings(site_id, settings)


def _of_records(site_id: int, rows: Sequence[AuditEntry]) -> dict[int, Later]:
    if not rows:
        return {}
    subject = AuditEntry.subject_type, AuditEntry.subject_id
    about = tuple_(*subject).in_({(row.subject_type, row.subject_id) for row in rows})
    of_kinds = or_(*(kind.entries for kind in KINDS))
    latest = select(func.max(AuditEntry.id)).where(AuditEntry.site_id == site_id, about, of_kinds).group_by(*subject)
    query = select(*subject, AuditEntry.id, AuditEntry.at, AuditEntry.actor).where(AuditEntry.id.in_(latest))
    found = {(type, subject): Later(id, at, actor) for type, subject, id, at, actor in db.session.execute(query)}
    known = {row.id: found.get((row.subject_type, row.subject_id)) for row in rows}
    return {id: later for id, later in known.items() if later is not None and later.id > id}


def _of_settings(site_id: int, rows: Sequence[AuditEntry]) -> dict[int, Later]:
    """Return the latest change after each entry about settings. All settings are one record, so only changes of the
    same setting count; all later entries are read, since settings change seldom."""
    if not rows:
        return {}
    query = (
        select(AuditEntry.id, AuditEntry.at, AuditEntry.actor, AuditEntry.after)
        .where(AuditEntry.site_id == site_id, AuditEntry.action == "settings.search")
        .where(AuditEntry.id > min(row.id for row in rows))
        .order_by(AuditEntry.id)
    )
    changes = [(Later(id, at, actor), set(after or ())) for id, at, actor, after in db.session.execute(query)]
    return {
        row.id: later for row in rows for later, keys in changes if later.id > row.id and keys & set(row.after or ())
    }
