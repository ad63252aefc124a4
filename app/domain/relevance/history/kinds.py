"""The records of the Search section that can be reverted: for each kind of record its present state and how to revert
it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, select

from app.domain.catalogue.models import Product
from app.domain.catalogue.terms import replace_terms
from app.domain.relevance.golden import searches as golden
from app.domain.relevance.learning import forgetting
from app.domain.relevance.rules import editing as rules
from app.domain.relevance.synonyms import revert as synonyms
from app.domain.search import ranking_settings
from app.domain.search import settings as search_settings
from app.domain.shared.author import Author
from app.domain.sites.models import AuditEntry
from app.domain.sites.settings import settings_of
from app.extensions import db

TERMS = "search_terms"
PRODUCT = "product"
State = Mapping[str, Any] | None
States = Callable[[int, Iterable[str]], Mapping[str, State]]
Revert = Callable[[Author, str, State], None]


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


def part(kind: RecordKind, stored: Any) -> State:
    """Return the part of an entry's `before` or `after` that can be reverted."""
    if kind.name == PRODUCT:
        return {TERMS: stored[TERMS]} if isinstance(stored, dict) and TERMS in stored else None
    return stored if isinstance(stored, dict) else None


def is_as_after(kind: RecordKind, after: State, now: State) -> bool:
    """Whether a record is still as an entry left it. An entry about settings has only the settings that it changed."""
    if kind.name != "settings" or after is None or now is None:
        return after == now
    return all(now.get(key) == value for key, value in after.items())


def _of_records(records: Callable[[int, list[int]], Mapping[str, State]]) -> States:
    return lambda site_id, ids: records(site_id, [int(id) for id in ids if id.isdecimal()])


def _of_record(revert: Callable[[Author, int, State], None]) -> Revert:
    return lambda author, id, before: revert(author, int(id), before)


def _terms_of_products(site_id: int, ids: list[int]) -> Mapping[str, State]:
    query = select(Product.id, Product.search_terms).where(Product.site_id == site_id, Product.id.in_(ids))
    return {str(id): {TERMS: list(terms)} for id, terms in db.session.execute(query)}


def _revert_terms(author: Author, product_id: int, before: State) -> None:
    replace_terms(author, product_id, (before or {}).get(TERMS, []))


def _settings(site_id: int, ids: Iterable[str]) -> Mapping[str, State]:
    of_search = search_settings.stored_form(search_settings.stored_settings(site_id))
    of_ranking = ranking_settings.stored_form(ranking_settings.ranking_of(settings_of(site_id)))
    return dict.fromkeys(ids, of_search | of_ranking)


def _revert_settings(author: Author, _id: str, before: State) -> None:
    search_settings.change(author, before or {})


SYNONYM, RULE, GOLDEN, LEARNING = (
    AuditEntry.subject_type == name for name in ("synonym", "rule", "golden_search", forgetting.KIND)
)
# Read as text: for a missing field SQLite yields the JSON value null, which is not NULL.
WITH_TERMS = (AuditEntry.subject_type == PRODUCT) & AuditEntry.before[TERMS].as_string().is_not(None)
OF_SETTINGS = AuditEntry.action == "settings.search"
KINDS = (
    RecordKind("synonym", "Synonyms", SYNONYM, _of_records(synonyms.records), _of_record(synonyms.revert)),
    RecordKind("rule", "Rules", RULE, _of_records(rules.records), _of_record(rules.revert)),
    RecordKind(PRODUCT, "Search terms", WITH_TERMS, _of_records(_terms_of_products), _of_record(_revert_terms)),
    RecordKind("golden_search", "Golden searches", GOLDEN, _of_records(golden.records), _of_record(golden.revert)),
    RecordKind(forgetting.KIND, "Learning", LEARNING, forgetting.records, forgetting.revert),
    RecordKind("settings", "Settings", OF_SETTINGS, _settings, _revert_settings),
)
BY_NAME: Mapping[str, RecordKind] = {kind.name: kind for kind in KINDS}
