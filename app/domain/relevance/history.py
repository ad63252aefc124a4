"""The history of the Search section: its changes in the words of the pages that make them, and undo.

KINDS says which kinds of records there are, what their present state is and how to revert them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from sqlalchemy import ColumnElement, func, or_, select, tuple_

from app.domain.catalogue.models import Product
from app.domain.catalogue.terms import replace_terms
from app.domain.relevance import golden, learning, rules, synonyms
from app.domain.relevance.synonym_definition import SynonymState
from app.domain.relevance.synonym_mining import describe_evidence
from app.domain.search import ranking_settings
from app.domain.search import settings as search_settings
from app.domain.search.serving.rules import Rule
from app.domain.search.serving.synonyms import SynonymGroup
from app.domain.search.settings import TITLES
from app.domain.shared.author import Author
from app.domain.shared.paging import Paged
from app.domain.shared.problems import Conflict, Invalid, NotFound
from app.domain.shared.records import existing, find_record
from app.domain.sites.activity import FieldChange, differences
from app.domain.sites.models import AuditEntry
from app.domain.sites.settings import settings_of
from app.domain.sites.sites import time_zone_of
from app.extensions import db

TERMS = "search_terms"
PRODUCT = "product"
SETTINGS = "settings"
PAGE_SIZE = 50
Fields = dict[str, Any]
State = Mapping[str, Any] | None
States = Callable[[int, Iterable[str]], Mapping[str, State]]
Revert = Callable[[Author, str, State], None]


def readable_fields(kind: str, state: Mapping[str, Any] | None, time_zone: str) -> Fields | None:
    """Return the fields of a record of `kind` under the labels of its page, None for no record; times are in
    `time_zone`."""
    if state is None:
        return None
    if kind == "rule":
        return Rule.describe(state, ZoneInfo(time_zone))
    return _FIELDS_BY_KIND[kind](state)


def _synonym_fields(state: Mapping[str, Any]) -> Fields:
    fields = SynonymGroup.describe(state) | SynonymState.describe(state)
    evidence = describe_evidence(state.get("evidence"))
    del fields["evidence"]
    return fields | {"evidence": evidence} if evidence else fields


def _golden_fields(state: Mapping[str, Any]) -> Fields:
    return {"search": state.get("query"), "product": state.get("sku"), "in the first": state.get("within")}


_FIELDS_BY_KIND: Mapping[str, Callable[[Mapping[str, Any]], Fields]] = {
    "synonym": _synonym_fields,
    "golden_search": _golden_fields,
    "learning": lambda state: {"forgotten through": state.get("through")},
    "product": lambda state: {"search terms": state.get(TERMS)},
    "settings": lambda state: {TITLES.get(key, key): value for key, value in state.items()},
}


@dataclass(frozen=True, slots=True)
class RecordKind:
    """A kind of record. `name` is the subject type in the activity log. `states(site_id, ids)` returns the current
    states of the records that exist, by subject id; `revert(author, id, before)` restores the state `before`, None for
    no record, and raises NotFound, Invalid or Conflict with the reason."""

    name: str
    label: str
    entries: ColumnElement[bool]
    states: States
    revert: Revert


def _revertible_part(kind: RecordKind, stored: Any) -> State:
    """Return the part of an entry's `before` or `after` that can be reverted."""
    if kind.name == PRODUCT:
        return {TERMS: stored[TERMS]} if isinstance(stored, dict) and TERMS in stored else None
    return stored if isinstance(stored, dict) else None


def _is_as_after(kind: RecordKind, after: State, now: State) -> bool:
    """Whether a record is still as an entry left it. An entry about settings has only the settings that it changed."""
    if kind.name != SETTINGS or after is None or now is None:
        return after == now
    return all(now.get(key) == value for key, value in after.items())


def _states_by_id(records: Callable[[int, list[int]], Mapping[str, State]]) -> States:
    return lambda site_id, ids: records(site_id, [int(id) for id in ids if id.isdecimal()])


def _revert_by_id(revert: Callable[[Author, int, State], None]) -> Revert:
    return lambda author, id, before: revert(author, int(id), before)


def _terms_of_products(site_id: int, ids: list[int]) -> Mapping[str, State]:
    query = select(Product.id, Product.search_terms).where(Product.site_id == site_id, Product.id.in_(ids))
    return {str(id): {TERMS: list(terms)} for id, terms in db.session.execute(query)}


def _revert_terms(author: Author, product_id: int, before: State) -> None:
    replace_terms(author, product_id, (before or {}).get(TERMS, []))


def _settings_states(site_id: int, ids: Iterable[str]) -> Mapping[str, State]:
    of_search = search_settings.PAGE.stored_form(search_settings.stored_settings(site_id))
    of_ranking = ranking_settings.stored_form(ranking_settings.ranking_of(settings_of(site_id)))
    return dict.fromkeys(ids, of_search | of_ranking)


def _revert_settings(author: Author, _id: str, before: State) -> None:
    search_settings.change(author, before or {})


# Read as text: for a missing field SQLite yields the JSON value null, which is not NULL.
WITH_TERMS = (AuditEntry.subject_type == PRODUCT) & AuditEntry.before[TERMS].as_string().is_not(None)
OF_SETTINGS = AuditEntry.action == "settings.search"
SYNONYM, RULE, GOLDEN, LEARNING = (
    AuditEntry.subject_type == name for name in ("synonym", "rule", "golden_search", learning.AUDIT_KIND)
)
KINDS = (
    RecordKind("synonym", "Synonyms", SYNONYM, _states_by_id(synonyms.records), _revert_by_id(synonyms.revert_synonym)),
    RecordKind("rule", "Rules", RULE, _states_by_id(rules.records), _revert_by_id(rules.revert)),
    RecordKind(PRODUCT, "Search terms", WITH_TERMS, _states_by_id(_terms_of_products), _revert_by_id(_revert_terms)),
    RecordKind("golden_search", "Golden searches", GOLDEN, _states_by_id(golden.records), _revert_by_id(golden.revert)),
    RecordKind(learning.AUDIT_KIND, "Learning", LEARNING, learning.records, learning.revert),
    RecordKind(SETTINGS, "Settings", OF_SETTINGS, _settings_states, _revert_settings),
)
BY_NAME: Mapping[str, RecordKind] = {kind.name: kind for kind in KINDS}


@dataclass(frozen=True, slots=True)
class LaterChange:
    """A later change of a record; `id` is that of its entry in the activity log."""

    id: int
    at: datetime
    actor: str


def later_changes(site_id: int, rows: Sequence[AuditEntry]) -> Mapping[int, LaterChange]:
    """Return the latest change of each entry's record after the entry, by the entry's id, in two queries."""
    records = [row for row in rows if row.subject_type != SETTINGS]
    settings = [row for row in rows if row.subject_type == SETTINGS]
    return _later_of_records(site_id, records) | _later_of_settings(site_id, settings)


def _later_of_records(site_id: int, rows: Sequence[AuditEntry]) -> dict[int, LaterChange]:
    if not rows:
        return {}
    subject = AuditEntry.subject_type, AuditEntry.subject_id
    about = tuple_(*subject).in_({(row.subject_type, row.subject_id) for row in rows})
    of_kinds = or_(*(kind.entries for kind in KINDS))
    latest = select(func.max(AuditEntry.id)).where(AuditEntry.site_id == site_id, about, of_kinds).group_by(*subject)
    query = select(*subject, AuditEntry.id, AuditEntry.at, AuditEntry.actor).where(AuditEntry.id.in_(latest))
    found = {(type, subject): LaterChange(id, at, actor) for type, subject, id, at, actor in db.session.execute(query)}
    known = {row.id: found.get((row.subject_type, row.subject_id)) for row in rows}
    return {id: later for id, later in known.items() if later is not None and later.id > id}


def _later_of_settings(site_id: int, rows: Sequence[AuditEntry]) -> dict[int, LaterChange]:
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
    changes = [(LaterChange(id, at, actor), set(after or ())) for id, at, actor, after in db.session.execute(query)]
    return {
        row.id: later for row in rows for later, keys in changes if later.id > row.id and keys & set(row.after or ())
    }


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
    later: LaterChange | None


def history_page(site_id: int, page_number: int, kind: str = "") -> Paged[SearchChange]:
    """Return a page of the changes, the latest first; of one kind where `kind` names one, else of all. Six queries, and
    one for each kind on the page."""
    chosen = [BY_NAME[kind]] if kind in BY_NAME else KINDS
    wanted = AuditEntry.site_id == site_id, or_(*(one.entries for one in chosen))
    total = db.session.scalar(select(func.count()).select_from(AuditEntry).where(*wanted)) or 0
    query = select(AuditEntry).where(*wanted).order_by(AuditEntry.at.desc(), AuditEntry.id.desc())
    rows = db.session.scalars(query.limit(PAGE_SIZE).offset((page_number - 1) * PAGE_SIZE)).all()
    return Paged(_read_entries(site_id, rows), page_number, PAGE_SIZE, total)


def history_entry(site_id: int, entry_id: int) -> SearchChange:
    """Return one change of the Search section. Raises NotFound."""
    wanted = AuditEntry.site_id == site_id, AuditEntry.id == entry_id, or_(*(one.entries for one in KINDS))
    row = existing(db.session.scalar(select(AuditEntry).where(*wanted)), "There is no such entry.")
    return _read_entries(site_id, [row])[0]


def changes_of(site_id: int, entry_ids: Iterable[int]) -> Mapping[int, SearchChange]:
    """Return those of the entries that are changes of the Search section, by id; five queries, and one for each kind
    among them."""
    wanted = AuditEntry.site_id == site_id, AuditEntry.id.in_(entry_ids), or_(*(one.entries for one in KINDS))
    rows = db.session.scalars(select(AuditEntry).where(*wanted)).all()
    return {change.id: change for change in _read_entries(site_id, rows)}


def latest_entry_of(site_id: int, kind: str, subject_id: str) -> int | None:
    """Return the id of the latest entry about a record of `kind`; None where there is none."""
    subject = AuditEntry.subject_type == kind, AuditEntry.subject_id == subject_id
    latest = select(func.max(AuditEntry.id)).where(AuditEntry.site_id == site_id, *subject, BY_NAME[kind].entries)
    return db.session.scalar(latest)


def undoable_change(site_id: int, kind: str, subject_id: str, actor: str) -> int | None:
    """Return the id of the latest entry about a record of `kind` if `actor` made it and it can be undone."""
    latest = latest_entry_of(site_id, kind, subject_id)
    if latest is None:
        return None
    found = history_entry(site_id, latest)
    return latest if found.can_be_undone and found.actor == actor[:100] else None


def undo_change(author: Author, entry_id: int) -> AuditEntry:
    """Revert the record of an entry to its state before and return the entry. Call it in a transaction.
    Raises NotFound, and Conflict with the reason when the record has changed since or its earlier state is no longer
    valid."""
    entry = find_record(AuditEntry, author.site_id, entry_id)
    kind = BY_NAME.get(entry.subject_type) if entry is not None else None
    if entry is None or kind is None:
        raise NotFound("There is no such entry that could be undone.")
    before, after = _revertible_part(kind, entry.before), _revertible_part(kind, entry.after)
    if before == after:
        raise NotFound("There is no such entry that could be undone.")
    now = kind.states(author.site_id, [entry.subject_id]).get(entry.subject_id)
    if not _is_as_after(kind, after, now):
        raise Conflict(_why_not(entry, kind))
    try:
        kind.revert(author, entry.subject_id, before)
    except Invalid as invalid:
        reasons = " ".join(problem.message for problem in invalid.problems)
        raise Conflict(f"This cannot be undone any more: {reasons}") from invalid
    except NotFound as gone:
        raise Conflict("This cannot be undone: what it was about is not there any more.") from gone
    return entry


def _read_entries(site_id: int, rows: Sequence[AuditEntry]) -> list[SearchChange]:
    subjects: dict[str, set[str]] = {}
    for row in rows:
        subjects.setdefault(row.subject_type, set()).add(row.subject_id)
    states = {name: BY_NAME[name].states(site_id, ids) for name, ids in subjects.items()}
    undoable = {row.id for row in rows if _is_undoable(row, states[row.subject_type].get(row.subject_id))}
    later, zone = later_changes(site_id, [row for row in rows if row.id not in undoable]), time_zone_of(site_id)
    return [_read_entry(row, zone, row.id in undoable, later.get(row.id)) for row in rows]


def _is_undoable(row: AuditEntry, now: State) -> bool:
    kind = BY_NAME[row.subject_type]
    after = _revertible_part(kind, row.after)
    return _revertible_part(kind, row.before) != after and _is_as_after(kind, after, now)


def _read_entry(row: AuditEntry, zone: str, undoable: bool, later: LaterChange | None) -> SearchChange:
    kind = BY_NAME[row.subject_type]
    before, after = _revertible_part(kind, row.before), _revertible_part(kind, row.after)
    old, new = readable_fields(kind.name, before, zone), readable_fields(kind.name, after, zone)
    changed, back = differences(old, new), differences(new, old)
    came, went = before is None, after is None
    return SearchChange(row.id, row.at, row.actor, kind.label, row.summary, changed, back, came, went, undoable, later)


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
