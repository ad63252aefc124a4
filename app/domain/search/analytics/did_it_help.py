"""Whether a synonym, a rule or a product's search terms helped: the searches they are about, before and after."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select

from app.domain.catalogue.products import product_of
from app.domain.search.counting.effect import Asked, Effect, effect, effects
from app.domain.search.counting.mentions import Mentions
from app.domain.search.counting.term_history import kept_form, starts_of
from app.domain.search.live.models import SearchRule, Synonym
from app.domain.search.live.served import SynonymType
from app.domain.shared.clock import Clock
from app.domain.shared.problems import NotFound
from app.extensions import db


@dataclass(frozen=True, slots=True)
class Told:
    """`subject` names it, `about` the searches that it is about. Without `since` it is not live yet, or, of a term,
    nobody knows since when; then there is no `effect`. A rule has it `until` it ends."""

    subject: str
    about: str
    since: datetime | None
    effect: Effect | None
    until: datetime | None = None
    is_paused: bool = False


@dataclass(frozen=True, slots=True)
class TermsTold:
    product_name: str
    terms: tuple[Told, ...]


def of_synonym(clock: Clock, site_id: int, synonym_id: int) -> Told:
    """Searches that contain a word for which the synonym finds others. Raises NotFound."""
    query = select(Synonym).where(Synonym.site_id == site_id, Synonym.id == synonym_id)
    synonym = db.session.scalar(query)
    if synonym is None:
        raise NotFound("There is no such synonym.")
    typed = [synonym.root or ""] if synonym.type == SynonymType.ONE_WAY else synonym.words
    about = "Searches with " + " or ".join(f"“{word}”" for word in typed)
    since = synonym.live_since
    return Told(" · ".join(typed), about, since, effect(site_id, clock, Mentions(typed), since) if since else None)


def of_rule(clock: Clock, site_id: int, rule_id: int) -> Told:
    """Searches for exactly the rule's term. Raises NotFound."""
    rule = db.session.scalar(select(SearchRule).where(SearchRule.site_id == site_id, SearchRule.id == rule_id))
    if rule is None:
        raise NotFound("There is no such rule.")
    live = rule.live_since if rule.enabled else None
    since = max(live, rule.starts_at or live) if live else None
    found = effect(site_id, clock, rule.normalized_term, since, rule.ends_at) if since else None
    about = f"Searches for exactly “{rule.term}”"
    return Told(rule.term, about, since, found, rule.ends_at, is_paused=not rule.enabled)


def of_terms(clock: Clock, site_id: int, product_id: int) -> TermsTold:
    """Searches that contain a term, for each term of the product. Raises NotFound."""
    product = product_of(site_id, product_id)
    starts = starts_of(site_id, product_id)
    since = {term: starts.get(next(iter(kept_form([term])))) for term in product.search_terms}
    known = {term: moment for term, moment in since.items() if moment is not None}
    asked = [Asked(moment, Mentions([term])) for term, moment in known.items()]
    found = dict(zip(known, effects(site_id, clock, asked), strict=True))
    told = (Told(term, f"Searches with “{term}”", since[term], found.get(term)) for term in product.search_terms)
    return TermsTold(product.name, tuple(told))
