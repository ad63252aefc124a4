"""Measure the effect of a synonym, a rule, a product's search terms or learning from clicks: the searches concerned,
before and after."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select

from app.domain.catalogue.products import product_of
from app.domain.relevance.models import LearnedWord
from app.domain.relevance.rule_definition import describe_searches
from app.domain.relevance.rule_levels import with_names
from app.domain.relevance.rules import rule_of
from app.domain.relevance.synonyms import synonym_of
from app.domain.search.serving.configuration import serving_state
from app.domain.search.serving.rule_set import RuleSet
from app.domain.search.serving.rules import Rule
from app.domain.search.serving.term_index import Match
from app.domain.search_statistics.counting.before_after import (
    BeforeAfter,
    LiveChange,
    Searches,
    compare,
    normalized_terms,
    starts_of,
)
from app.domain.search_statistics.counting.gathering import PhraseMatcher
from app.domain.shared.clock import Clock
from app.extensions import db


@dataclass(frozen=True, slots=True)
class Effect:
    """The effect of `subject` (a synonym, a rule, a search term or learning) on the searches that the text `searches`
    describes. `since` and `comparison` are None where it is not live or, for a term, its start is unknown. A rule
    applies `until` it ends."""

    subject: str
    searches: str
    since: datetime | None
    comparison: BeforeAfter | None
    until: datetime | None = None
    is_paused: bool = False


@dataclass(frozen=True, slots=True)
class TermEffects:
    product_name: str
    terms: tuple[Effect, ...]


def effect_of_synonym(clock: Clock, site_id: int, synonym_id: int) -> Effect:
    """Compare searches that contain a word for which the synonym finds others. Raises NotFound."""
    synonym = synonym_of(site_id, synonym_id)
    typed = [synonym.root] if synonym.root else synonym.words
    searches = "Searches with " + " or ".join(f"“{word}”" for word in typed)
    since = synonym.live_since
    changes = [LiveChange(since, PhraseMatcher(typed))] if since else []
    return Effect(" · ".join(typed), searches, since, next(iter(compare(site_id, clock, changes)), None))


def effect_of_rule(clock: Clock, site_id: int, rule_id: int) -> Effect:
    """Compare the searches for which the rule is. Raises NotFound."""
    rule = rule_of(site_id, rule_id)
    live = rule.live_since if rule.enabled else None
    since = max(live, rule.starts_at or live) if live else None
    changes = [LiveChange(since, _searches_of(site_id, rule.value), rule.ends_at)] if since else []
    comparison = next(iter(compare(site_id, clock, changes)), None)
    searches = describe_searches(rule)
    return Effect(rule.term, searches, since, comparison, rule.ends_at, is_paused=not rule.enabled)


def _searches_of(site_id: int, rule: Rule) -> Searches:
    if rule.match is Match.EXACT and not rule.other_terms:
        return rule.normalized_term
    known = RuleSet.of(with_names(site_id, [rule]))
    return lambda words: bool(known.matching(words))


def effect_of_learning(clock: Clock, site_id: int) -> Effect:
    """Compare the searches for which something is learned, before and since shoppers are served it."""
    state = serving_state(site_id)
    since = state.learning_since if state else None
    words = set(db.session.scalars(select(LearnedWord.word).where(LearnedWord.site_id == site_id)))
    changes = [LiveChange(since, words.__contains__)] if since else []
    searches = f"The {len(words):,} search{'es' * (len(words) != 1)} for which something is learned"
    return Effect("Learning from clicks", searches, since, next(iter(compare(site_id, clock, changes)), None))


def effects_of_terms(clock: Clock, site_id: int, product_id: int) -> TermEffects:
    """Compare searches that contain a term, for each term of the product. Raises NotFound."""
    product = product_of(site_id, product_id)
    starts = starts_of(site_id, product_id)
    since = {term: starts.get(next(iter(normalized_terms([term])))) for term in product.search_terms}
    changes = {term: LiveChange(start, PhraseMatcher([term])) for term, start in since.items() if start is not None}
    compared = dict(zip(changes, compare(site_id, clock, list(changes.values())), strict=True))
    effects = (Effect(term, f"Searches with “{term}”", start, compared.get(term)) for term, start in since.items())
    return TermEffects(product.name, tuple(effects))
