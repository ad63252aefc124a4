"""The kinds of changes of the Search section, in the words of its pages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from zoneinfo import ZoneInfo

from sqlalchemy import select

from app.domain.catalogue.models import Product
from app.domain.catalogue.products import TERMS
from app.domain.catalogue.terms import replace_terms
from app.domain.changes.kinds import Fields, RecordKind, State, Undo, revert_by_id, states_by_id
from app.domain.relevance import golden, learning, rules, synonyms
from app.domain.relevance.synonym_definition import SynonymState
from app.domain.relevance.synonym_mining import describe_evidence
from app.domain.search import ranking_settings
from app.domain.search import settings as search_settings
from app.domain.search.serving.rules import Rule
from app.domain.search.serving.synonyms import SynonymGroup
from app.domain.search.settings import TITLES
from app.domain.shared.author import Author
from app.domain.sites.models import AuditEntry
from app.domain.sites.settings import settings_of
from app.extensions import db

PRODUCT = "product"


def _synonym_fields(state: Mapping[str, Any], _time_zone: str) -> Fields:
    fields = SynonymGroup.describe(state) | SynonymState.describe(state)
    evidence = describe_evidence(state.get("evidence"))
    del fields["evidence"]
    return fields | {"evidence": evidence} if evidence else fields


def _rule_fields(state: Mapping[str, Any], time_zone: str) -> Fields:
    return Rule.describe(state, ZoneInfo(time_zone))


def _golden_fields(state: Mapping[str, Any], _time_zone: str) -> Fields:
    return {"search": state.get("query"), "product": state.get("sku"), "in the first": state.get("within")}


def _terms_alone(stored: Any) -> State:
    return {TERMS: stored[TERMS]} if isinstance(stored, dict) and TERMS in stored else None


def _terms_of_products(site_id: int, ids: list[int]) -> Mapping[str, State]:
    query = select(Product.id, Product.search_terms).where(Product.site_id == site_id, Product.id.in_(ids))
    return {str(id): {TERMS: list(terms)} for id, terms in db.session.execute(query)}


def _revert_terms(author: Author, product_id: int, before: State) -> None:
    replace_terms(author, product_id, (before or {}).get(TERMS, []))


def _settings_states(site_id: int, ids: Iterable[str]) -> Mapping[str, State]:
    of_search = search_settings.PAGE.stored_form(search_settings.stored_settings(site_id))
    of_ranking = ranking_settings.stored_form(ranking_settings.ranking_of(settings_of(site_id)))
    return dict.fromkeys(ids, of_search | of_ranking)


def _revert_settings(undo: Undo, _id: str, before: State) -> None:
    search_settings.change(undo.author, before or {})


def _revert_learning(undo: Undo, id: str, before: State) -> None:
    learning.revert(undo.author, id, before)


# Read as text: for a missing field SQLite yields the JSON value null, which is not NULL.
WITH_TERMS = (AuditEntry.subject_type == PRODUCT) & AuditEntry.before[TERMS].as_string().is_not(None)
SYNONYM, RULE, GOLDEN, LEARNING = (
    AuditEntry.subject_type == name for name in ("synonym", "rule", "golden_search", learning.AUDIT_KIND)
)
SEARCH_KINDS = (
    RecordKind(
        "synonym",
        "Synonyms",
        SYNONYM,
        states_by_id(synonyms.records),
        revert_by_id(synonyms.revert_synonym),
        describe=_synonym_fields,
    ),
    RecordKind("rule", "Rules", RULE, states_by_id(rules.records), revert_by_id(rules.revert), describe=_rule_fields),
    RecordKind(
        PRODUCT,
        "Search terms",
        WITH_TERMS,
        states_by_id(_terms_of_products),
        revert_by_id(_revert_terms),
        read=_terms_alone,
        describe=lambda state, _time_zone: {"search terms": state.get(TERMS)},
    ),
    RecordKind(
        "golden_search",
        "Golden searches",
        GOLDEN,
        states_by_id(golden.records),
        revert_by_id(golden.revert),
        describe=_golden_fields,
    ),
    RecordKind(
        learning.AUDIT_KIND,
        "Learning",
        LEARNING,
        learning.records,
        _revert_learning,
        describe=lambda state, _time_zone: {"forgotten through": state.get("through")},
    ),
    RecordKind(
        "settings",
        "Settings",
        AuditEntry.action == "settings.search",
        _settings_states,
        _revert_settings,
        partial=True,
        describe=lambda state, _time_zone: {TITLES.get(key, key): value for key, value in state.items()},
    ),
)
SEARCH_NAMES = frozenset(kind.name for kind in SEARCH_KINDS)
