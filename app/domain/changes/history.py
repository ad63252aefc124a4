"""The changes that the activity log can undo: in the words of the pages that make them, what undoing one would change,
and undo. `all_kinds` says which there are; the history of the Search section shows its own among them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from sqlalchemy import Select, case, func, or_, select, tuple_

from app.domain.changes.all_kinds import BY_NAME, KINDS, REUSED_IDS
from app.domain.changes.kinds import RecordKind, State, Undo, reverted_fields
from app.domain.changes.search_kinds import SEARCH_KINDS, SEARCH_NAMES
from app.domain.shared.paging import Paged
from app.domain.shared.problems import Conflict, Invalid, NotFound
from app.domain.sites.activity import FieldChange, differences
from app.domain.sites.models import AuditEntry
from app.domain.sites.sites import currency_of, time_zone_of
from app.extensions import db

PAGE_SIZE = 50
MOST_LATER = 200  # Later entries among which the one in the way is looked for.
MISSING = "There is no such entry that could be undone."
Entry = tuple[AuditEntry, RecordKind]


@dataclass(frozen=True, slots=True)
class LaterChange:
    """A later change of a record; `id` is that of its entry in the activity log."""

    id: int
    at: datetime
    actor: str
    summary: str


@dataclass(frozen=True, slots=True)
class Change:
    """A change of a record of a kind, of which `name` is the name and `kind` the label. `differences` are what it
    changed, `reverted` what undoing it would change. `can_be_undone`: the record is still as this change left it; where
    it is not, `later` is the latest change since, None where that is unknown (an import)."""

    id: int
    at: datetime
    actor: str
    name: str
    kind: str
    summary: str
    differences: tuple[FieldChange, ...]
    reverted: tuple[FieldChange, ...]
    is_addition: bool
    is_deletion: bool
    can_be_undone: bool
    later: LaterChange | None

    @property
    def is_of_search(self) -> bool:
        return self.name in SEARCH_NAMES


FindLater = Callable[[Sequence[Entry]], Mapping[int, LaterChange]]


def history_page(site_id: int, page_number: int, kind: str = "") -> Paged[Change]:
    """Return a page of the changes of the Search section, the latest first; of one kind where `kind` names one. Six
    queries, and one for each kind on the page."""
    chosen = [BY_NAME[kind]] if kind in SEARCH_NAMES else SEARCH_KINDS
    wanted = AuditEntry.site_id == site_id, or_(*(one.entries for one in chosen))
    total = db.session.scalar(select(func.count()).select_from(AuditEntry).where(*wanted)) or 0
    query = _query(site_id, chosen).order_by(AuditEntry.at.desc(), AuditEntry.id.desc())
    entries = _read(query.limit(PAGE_SIZE).offset((page_number - 1) * PAGE_SIZE))
    changes = _changes(site_id, entries, partial(later_changes, site_id))
    return Paged(changes, page_number, PAGE_SIZE, total)


def history_entry(site_id: int, entry_id: int) -> Change:
    """Return one change of the Search section. Raises NotFound."""
    return change_of(site_id, entry_id, SEARCH_KINDS)


def change_of(site_id: int, entry_id: int, kinds: Sequence[RecordKind] = KINDS) -> Change:
    """Return the change of an entry, with what stands in the way of undoing it. Raises NotFound for an entry of none of
    the kinds."""
    return _changes(site_id, [_entry(site_id, entry_id, kinds)], _later_of_each)[0]


def changes_of(site_id: int, entry_ids: Iterable[int]) -> Mapping[int, Change]:
    """Return those of the entries that are changes of some kind, by id, without what stands in their way; four queries,
    and those of each kind among them."""
    entries = _read(_query(site_id, KINDS).where(AuditEntry.id.in_(entry_ids)))
    return {change.id: change for change in _changes(site_id, entries, lambda _entries: {})}


def latest_entry_of(site_id: int, kind: str, subject_id: str) -> int | None:
    """Return the id of the latest entry about a record of `kind`; None where there is none."""
    wanted = AuditEntry.site_id == site_id, AuditEntry.subject_id == subject_id, BY_NAME[kind].entries
    return db.session.scalar(select(func.max(AuditEntry.id)).where(*wanted))


def undoable_change(site_id: int, kind: str, subject_id: str, actor: str) -> int | None:
    """Return the id of the latest entry about a record of `kind` if `actor` made it and it can be undone."""
    latest = latest_entry_of(site_id, kind, subject_id)
    if latest is None:
        return None
    found = change_of(site_id, latest, [BY_NAME[kind]])
    return latest if found.can_be_undone and found.actor == actor[:100] else None


def kind_of(site_id: int, entry_id: int, kinds: Sequence[RecordKind] = KINDS) -> RecordKind:
    """Return the kind of an entry. Raises NotFound for an entry of none of the kinds."""
    return _entry(site_id, entry_id, kinds)[1]


def undo_change(undo: Undo, entry_id: int, kinds: Sequence[RecordKind] = KINDS) -> AuditEntry:
    """Revert the record of an entry to its state before and return the entry. Call it in a transaction. Raises
    NotFound, and Conflict with the reason when the record has changed since or its earlier state is no longer valid."""
    site_id = undo.author.site_id
    entry, kind = _entry(site_id, entry_id, kinds)
    before, after = kind.read(entry.before), kind.read(entry.after)
    if before == after:
        raise NotFound(MISSING)
    try:
        kind.lock(site_id, entry.subject_id)
        now = kind.states(site_id, [entry.subject_id]).get(entry.subject_id)
        if not kind.is_as_left(before, after, now) or _replaced(site_id, [entry]):
            raise Conflict(_why_not(entry, kind))
        kind.revert(undo, entry.subject_id, reverted_fields(before, after, now) if kind.partial else before)
    except Invalid as invalid:
        reasons = " ".join(problem.message for problem in invalid.problems)
        raise Conflict(f"This cannot be undone any more: {reasons}") from invalid
    except NotFound as gone:
        raise Conflict("This cannot be undone: what it was about is not there any more.") from gone
    return entry


def _query(site_id: int, kinds: Sequence[RecordKind]) -> Select[Any]:
    """Return the query of the entries of some kinds, each with the name of the first kind that it is of."""
    name = case(*((kind.entries, kind.name) for kind in kinds))
    return select(AuditEntry, name).where(AuditEntry.site_id == site_id, or_(*(kind.entries for kind in kinds)))


def _read(query: Select[Any]) -> list[Entry]:
    return [(entry, BY_NAME[name]) for entry, name in db.session.execute(query)]


def _entry(site_id: int, entry_id: int, kinds: Sequence[RecordKind]) -> Entry:
    found = _read(_query(site_id, kinds).where(AuditEntry.id == entry_id))
    if not found:
        raise NotFound(MISSING)
    return found[0]


def _changes(site_id: int, entries: Sequence[Entry], find_later: FindLater) -> list[Change]:
    """Return the changes of entries; the states of the records are read kind by kind."""
    ids: dict[str, set[str]] = {}
    for entry, kind in entries:
        ids.setdefault(kind.name, set()).add(entry.subject_id)
    states = {name: BY_NAME[name].states(site_id, of_kind) for name, of_kind in ids.items()}
    replaced = _replaced(site_id, [entry for entry, _ in entries])
    undoable = {
        entry.id
        for entry, kind in entries
        if entry.id not in replaced and _is_undoable(entry, kind, states[kind.name].get(entry.subject_id))
    }
    later = find_later([one for one in entries if one[0].id not in undoable])
    zone, currency = time_zone_of(site_id), currency_of(site_id)
    return [_change(one, zone, currency, one[0].id in undoable, later.get(one[0].id)) for one in entries]


def _is_undoable(entry: AuditEntry, kind: RecordKind, now: State) -> bool:
    before, after = kind.read(entry.before), kind.read(entry.after)
    return before != after and kind.is_as_left(before, after, now)


def _change(one: Entry, zone: str, currency: str, undoable: bool, later: LaterChange | None) -> Change:
    entry, kind = one
    before, after = kind.read(entry.before), kind.read(entry.after)
    old, new = (None if state is None else kind.describe(state, zone) for state in (before, after))
    return Change(
        id=entry.id,
        at=entry.at,
        actor=entry.actor,
        name=kind.name,
        kind=kind.label,
        summary=entry.summary,
        differences=differences(old, new, currency),
        reverted=differences(new, old, currency),
        is_addition=before is None,
        is_deletion=after is None,
        can_be_undone=undoable,
        later=later,
    )


def _replaced(site_id: int, entries: Sequence[AuditEntry]) -> set[int]:
    """Return the entries after which their record was added, or deleted and not restored next: another one may have
    its id by now."""
    about = {(entry.subject_type, entry.subject_id) for entry in entries if entry.subject_type in REUSED_IDS}
    if not about:
        return set()
    subject = AuditEntry.subject_type, AuditEntry.subject_id
    acts = [f"{noun}.{act}" for noun in REUSED_IDS for act in ("create", "delete", "restore")]
    wanted = AuditEntry.site_id == site_id, tuple_(*subject).in_(about), AuditEntry.action.in_(acts)
    since = AuditEntry.id > min(entry.id for entry in entries)
    found: dict[tuple[str, str], list[tuple[int, str]]] = {}
    for noun, id, entry_id, action in db.session.execute(
        select(*subject, AuditEntry.id, AuditEntry.action).where(*wanted, since).order_by(AuditEntry.id)
    ):
        found.setdefault((noun, id), []).append((entry_id, action.rpartition(".")[2]))
    return {
        entry.id
        for entry in entries
        if not is_same_record(
            [act for id, act in found.get((entry.subject_type, entry.subject_id), ()) if id > entry.id]
        )
    }


def is_same_record(acts: Sequence[str]) -> bool:
    """Whether an id is still that of the same record after it was created, deleted and restored like this: only where
    each deletion was undone next. Imports add records without an entry, so two deletions may be of two records."""
    return list(acts) == ["delete", "restore"] * (len(acts) // 2)


def later_changes(site_id: int, entries: Sequence[Entry]) -> Mapping[int, LaterChange]:
    """Return the latest change of each entry's record of the Search section after the entry, by the entry's id, in two
    queries."""
    records = [entry for entry, kind in entries if not kind.partial]
    settings = [entry for entry, kind in entries if kind.partial]
    return _later_of_records(site_id, records) | _later_of_settings(site_id, settings)


def _later_of_records(site_id: int, rows: Sequence[AuditEntry]) -> dict[int, LaterChange]:
    if not rows:
        return {}
    subject = AuditEntry.subject_type, AuditEntry.subject_id
    about = tuple_(*subject).in_({(row.subject_type, row.subject_id) for row in rows})
    of_kinds = or_(*(kind.entries for kind in SEARCH_KINDS))
    latest = select(func.max(AuditEntry.id)).where(AuditEntry.site_id == site_id, about, of_kinds).group_by(*subject)
    query = select(*subject, *_LATER).where(AuditEntry.id.in_(latest))
    found = {(row[0], row[1]): _later(row) for row in db.session.execute(query)}
    known = {row.id: found.get((row.subject_type, row.subject_id)) for row in rows}
    return {id: later for id, later in known.items() if later is not None and later.id > id}


def _later_of_settings(site_id: int, rows: Sequence[AuditEntry]) -> dict[int, LaterChange]:
    """Return the latest change after each entry about settings. All settings are one record, so only changes of the
    same setting count; all later entries are read, since settings change seldom."""
    if not rows:
        return {}
    query = (
        select(*_LATER, AuditEntry.after)
        .where(AuditEntry.site_id == site_id, AuditEntry.action == "settings.search")
        .where(AuditEntry.id > min(row.id for row in rows))
        .order_by(AuditEntry.id)
    )
    changes = [(_later(row), set(row.after or ())) for row in db.session.execute(query)]
    return {
        row.id: later for row in rows for later, keys in changes if later.id > row.id and keys & set(row.after or ())
    }


_LATER = AuditEntry.id, AuditEntry.at, AuditEntry.actor, AuditEntry.summary


def _later(row: Any) -> LaterChange:
    return LaterChange(row.id, row.at, row.actor, row.summary)


def _later_of_each(entries: Sequence[Entry]) -> Mapping[int, LaterChange]:
    found = {entry.id: _later_change(entry, kind) for entry, kind in entries}
    return {id: later for id, later in found.items() if later is not None}


def _later_change(entry: AuditEntry, kind: RecordKind) -> LaterChange | None:
    """Return the latest change of an entry's record after the entry; of a record whose entries hold only what they
    changed, one that changed the same or the whole record."""
    newer = select(*_LATER, AuditEntry.before, AuditEntry.after).where(
        AuditEntry.site_id == entry.site_id,
        AuditEntry.subject_type == entry.subject_type,
        AuditEntry.subject_id == entry.subject_id,
        AuditEntry.id > entry.id,
    )
    if not kind.partial:
        newer = newer.where(kind.entries)
    fields = _fields_of(entry.before, entry.after)
    for row in db.session.execute(newer.order_by(AuditEntry.id.desc()).limit(MOST_LATER)):
        is_whole = (row.before is None) != (row.after is None)
        if not kind.partial or is_whole or fields & _fields_of(row.before, row.after):
            return _later(row)
    return None


def _fields_of(*sides: Any) -> set[str]:
    return {name for side in sides if isinstance(side, dict) for name in side}


def _why_not(entry: AuditEntry, kind: RecordKind) -> str:
    """Return why an entry cannot be undone, naming the latest change after it, which must be undone first."""
    latest = _later_change(entry, kind)
    if latest is None:
        return "This cannot be undone: it has changed since, by an import perhaps."
    return f"This cannot be undone: later {latest.actor} did “{latest.summary}”. Undo that first."
