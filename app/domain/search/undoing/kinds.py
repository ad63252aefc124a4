"""What of the Search section can be taken back: for each kind of record its present state and the way back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, select

from app.domain.catalogue.models import Product
from app.domain.catalogue.terms import replace_terms
from app.domain.search import search_settings
from app.domain.search.live.models import SearchRule, Synonym
from app.domain.search.rules import editing as rules
from app.domain.search.synonyms import putting_back as synonyms
from app.domain.search.synonyms.record import record_of
from app.domain.search.trying import golden
from app.domain.search.trying.models import GoldenSearch
from app.domain.shared.clock import Clock
from app.domain.sites.models import AuditEntry
from app.extensions import Base, db

TERMS = "search_terms"
State = Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class Kind:
    """`name` is the subject type in the activity log. `states(site_id, ids)` are the present states of those that are
    there, by subject id; `put_back(clock, site_id, id, before, actor)` makes one what it was, None for not there, and
    raises NotFound, Invalid or Conflict with the reason."""

    name: str
    label: str
    entries: ColumnElement[bool]
    states: Callable[[int, Iterable[str]], Mapping[str, State]]
    put_back: Callable[[Clock, int, str, State, str], None]


def part(kind: Kind, stored: Any) -> State:
    """What an entry's `before` or `after` says of the part that can be taken back."""
    if kind.name == "product":
        return {TERMS: stored[TERMS]} if isinstance(stored, dict) and TERMS in stored else None
    return stored if isinstance(stored, dict) else None


def is_as_after(kind: Kind, after: State, now: State) -> bool:
    """Whether a record still is what an entry made of it. Entries of settings tell only those that changed."""
    if kind.name != "settings" or after is None or now is None:
        return after == now
    return all(now.get(key) == value for key, value in after.items())


def _records_of(model: type[Base], record: Callable[[Any], dict[str, Any]]) -> Callable[..., Mapping[str, State]]:
    def states(site_id: int, ids: Iterable[str]) -> Mapping[str, State]:
        wanted = [int(id) for id in ids if id.isdecimal()]
        columns: Any = model
        found = db.session.scalars(select(model).where(columns.site_id == site_id, columns.id.in_(wanted)))
        return {str(row.id): record(row) for row in found}  # type: ignore[attr-defined]

    return states


def _terms_of_products(site_id: int, ids: Iterable[str]) -> Mapping[str, State]:
    wanted = [int(id) for id in ids if id.isdecimal()]
    query = select(Product.id, Product.search_terms).where(Product.site_id == site_id, Product.id.in_(wanted))
    return {str(id): {TERMS: list(terms)} for id, terms in db.session.execute(query)}


def _settings(site_id: int, ids: Iterable[str]) -> Mapping[str, State]:
    stored = search_settings.stored_form(search_settings.stored_settings(site_id))
    return dict.fromkeys(ids, stored)


def _put_synonym_back(clock: Clock, site_id: int, id: str, before: State, actor: str) -> None:
    synonyms.put_back(clock, site_id, int(id), None if before is None else dict(before), actor)


def _put_rule_back(clock: Clock, site_id: int, id: str, before: State, actor: str) -> None:
    rules.put_back(clock, site_id, int(id), None if before is None else dict(before), actor)


def _put_golden_back(clock: Clock, site_id: int, id: str, before: State, actor: str) -> None:
    golden.put_back(clock, site_id, int(id), None if before is None else dict(before), actor)


def _put_terms_back(clock: Clock, site_id: int, id: str, before: State, actor: str) -> None:
    replace_terms(clock, site_id, int(id), (before or {}).get(TERMS, []), actor)


def _put_settings_back(clock: Clock, site_id: int, _id: str, before: State, actor: str) -> None:
    search_settings.change(clock, site_id, actor, before or {})


# As text, since what a record lacks is the JSON value null to SQLite, which is not NULL.
KINDS = (
    Kind(
        "synonym",
        "Synonyms",
        AuditEntry.subject_type == "synonym",
        _records_of(Synonym, record_of),
        _put_synonym_back,
    ),
    Kind(
        "rule",
        "Rules",
        AuditEntry.subject_type == "rule",
        _records_of(SearchRule, rules.record),
        _put_rule_back,
    ),
    Kind(
        "product",
        "Search terms",
        (AuditEntry.subject_type == "product") & AuditEntry.before[TERMS].as_string().is_not(None),
        _terms_of_products,
        _put_terms_back,
    ),
    Kind(
        "golden_search",
        "Golden searches",
        AuditEntry.subject_type == "golden_search",
        _records_of(GoldenSearch, golden.record),
        _put_golden_back,
    ),
    Kind("settings", "Settings", AuditEntry.action == "settings.search", _settings, _put_settings_back),
)
BY_NAME: Mapping[str, Kind] = {kind.name: kind for kind in KINDS}
