"""The history of the Search section, and undo of a change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, or_, select

from app.domain.relevance.history.descriptions import readable
from app.domain.relevance.history.kinds import BY_NAME, KINDS, RecordKind, State, is_as_after, part
from app.domain.relevance.history.later import Later, later_changes
from app.domain.shared.author import Author
from app.domain.shared.paging import Paged
from app.domain.shared.problems import Conflict, Invalid, NotFound
from app.domain.shared.records import existing, find_record
from app.domain.sites.activity import FieldChange, differences
from app.domain.sites.models import AuditEntry
from app.domain.sites.sites import time_zone_of
from app.extensions import db

PAGE_SIZE = 50


@dataclass(frozen=True, slots=True)
class SearchChange:
    """A change of a record of `kind` (the label of its kind), with its author. `differences` are what it changed,
    `reverted` what undoing it would change. `can_be_undone`: the record is still as this change left it; where it is
    not, `later` is the latest change since, None where that is unknown (an import)."""

    id: int
    at: datetime
    actor: str
    kind: str
    summary: str
    differences: tuple[FieldChange, ...]
    reverted: tuple[FieldChange, ...]
    is_addition: bool
    is_deletion: bool
    can_be_undone: bool
    later: Later | None


def history(site_id: int, page_number: int, kind: str = "") -> Paged[SearchChange]:
    """Return a page of the changes, the latest first; of one kind where `kind` names one, else of all. Six queries, and
    one for each kind on the page."""
    chosen = [BY_NAME[kind]] if kind in BY_NAME else KINDS
    wanted = AuditEntry.site_id == site_id, or_(*(one.entries for one in chosen))
    total = db.session.scalar(select(func.count()).select_from(AuditEntry).where(*wanted)) or 0
    query = select(AuditEntry).where(*wanted).order_by(AuditEntry.at.desc(), AuditEntry.id.desc())
    rows = db.session.scalars(query.limit(PAGE_SIZE).offset((page_number - 1) * PAGE_SIZE)).all()
    return Paged(_entries(site_id, rows), page_number, PAGE_SIZE, total)


def entry(site_id: int, entry_id: int) -> SearchChange:
    """Return one change of the Search section. Raises NotFound."""
    wanted = AuditEntry.site_id == site_id, AuditEntry.id == entry_id, or_(*(one.entries for one in KINDS))
    row = existing(db.session.scalar(select(AuditEntry).where(*wanted)), "There is no such entry.")
    return _entries(site_id, [row])[0]


def latest_entry_of(site_id: int, kind: str, subject_id: str) -> int | None:
    """The id of the latest entry about a record of `kind`; None where there is none."""
    subject = AuditEntry.subject_type == kind, AuditEntry.subject_id == subject_id
    latest = select(func.max(AuditEntry.id)).where(AuditEntry.site_id == site_id, *subject, BY_NAME[kind].entries)
    return db.session.scalar(latest)


def undoable_change(site_id: int, kind: str, subject_id: str, actor: str) -> int | None:
    """Return the id of the latest entry about a record of `kind` if `actor` made it and it can be undone."""
    latest = latest_entry_of(site_id, kind, subject_id)
    if latest is None:
        return None
    found = entry(site_id, latest)
    return latest if found.can_be_undone and found.actor == actor[:100] else None


def undo(author: Author, entry_id: int) -> str:
    """Revert the record of an entry to its state before and return the entry's summary. Call it in a transaction.
    Raises NotFound, and Conflict with the reason when the record has changed since or its earlier state is no longer
    valid."""
    entry = find_record(AuditEntry, author.site_id, entry_id)
    kind = _kind_of(entry) if entry is not None else None
    if entry is None or kind is None:
        raise NotFound("There is no such entry that could be undone.")
    now = kind.states(author.site_id, [entry.subject_id]).get(entry.subject_id)
    before, after = part(kind, entry.before), part(kind, entry.after)
    if not is_as_after(kind, after, now):
        raise Conflict(_why_not(entry, kind))
    try:
        kind.revert(author, entry.subject_id, before)
    except Invalid as invalid:
        reasons = " ".join(problem.message for problem in invalid.problems)
        raise Conflict(f"This cannot be undone any more: {reasons}") from invalid
    except NotFound as gone:
        raise Conflict("This cannot be undone: what it was about is not there any more.") from gone
    return entry.summary


def _entries(site_id: int, rows: Sequence[AuditEntry]) -> list[SearchChange]:
    subjects: dict[str, set[str]] = {}
    for row in rows:
        subjects.setdefault(row.subject_type, set()).add(row.subject_id)
    states = {name: BY_NAME[name].states(site_id, ids) for name, ids in subjects.items()}
    undoable = {row.id for row in rows if _is_undoable(row, states[row.subject_type].get(row.subject_id))}
    later, zone = later_changes(site_id, [row for row in rows if row.id not in undoable]), time_zone_of(site_id)
    return [_entry(row, zone, row.id in undoable, later.get(row.id)) for row in rows]


def _is_undoable(row: AuditEntry, now: State) -> bool:
    kind = BY_NAME[row.subject_type]
    after = part(kind, row.after)
    return part(kind, row.before) != after and is_as_after(kind, after, now)


def _entry(row: AuditEntry, zone: str, undoable: bool, later: Later | None) -> SearchChange:
    kind = BY_NAME[row.subject_type]
    before, after = part(kind, row.before), part(kind, row.after)
    old, new = readable(kind.name, before, zone), readable(kind.name, after, zone)
    changed, back = differences(old, new), differences(new, old)
    came, went = before is None, after is None
    return SearchChange(row.id, row.at, row.actor, kind.label, row.summary, changed, back, came, went, undoable, later)


def _kind_of(entry: AuditEntry) -> RecordKind | None:
    kind = BY_NAME.get(entry.subject_type)
    return kind if kind is not None and part(kind, entry.before) != part(kind, entry.after) else None


def _why_not(entry: AuditEntry, kind: RecordKind) -> str:
    """Return why an entry cannot be undone, naming the latest change after it, which must be undone first."""
    newer = select(AuditEntry).where(
        AuditEntry.site_id == entry.site_id,
        kind.entries,
        AuditEntry.subject_type == entry.subject_type,
        AuditEntry.subject_id == entry.subject_id,
        AuditEntry.id > entry.id,
    )
    latest = db.session.scalar(newer.order_by(AuditEntry.id.desc()).limit(1))
    if latest is None:
        return "This cannot be undone: it has changed since, by an import perhaps."
    return f"This cannot be undone: later {latest.actor} did “{latest.summary}”. Undo that first."
