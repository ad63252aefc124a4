"""Previews of unsaved changes: searches answered as things are and as they would be, and how much better or worse the
judgement list says that is."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import selectinload

from app.domain.catalogue.models import Product
from app.domain.catalogue.product_rules import is_in_stock
from app.domain.relevance.comparison import Comparison
from app.domain.relevance.judgements.changes import PreviewJudgement, judge_change
from app.domain.relevance.proposals import (
    Proposal,
    RuleProposal,
    TermsProposal,
    complete_removal,
    describe,
    searches_of,
)
from app.domain.relevance.rule_levels import with_names
from app.domain.relevance.trials import Trial, start_trial
from app.domain.search.engine import SearchEngine, Searching, SearchRequest
from app.domain.search.ranking_settings import RankingSettings
from app.domain.search.serving.configuration import served as served_now
from app.domain.search.serving.plan import Served, plan
from app.domain.search.serving.query import search_products
from app.domain.search.serving.rule_set import RuleSet
from app.domain.search.serving.rules import Rule
from app.domain.search.serving.term_index import Match
from app.domain.search_statistics.counting.queries import site_today, top_words
from app.domain.shared.clock import Clock
from app.extensions import db

LONGEST_SEARCH = 200
POPULAR_DAYS, MOST_POPULAR = 30, 3
MOST_LOOKED_THROUGH = 10_000  # Searches, for those that a rule by condition is for.
MOST_OWN = 5  # Searches that a change names, and that are compared.


@dataclass(frozen=True, slots=True)
class Preview:
    """The effects of a change on the searches that it is about. `as_of` is the moment searched, set where it is not
    now; `note` says what of the change has no effect, and why; `judgement` is by the site's list for previews, None
    without one. `met` are the searches of the last POPULAR_DAYS days for which a rule by condition is, and how often
    they were made, most first; None for any other change."""

    proposal: Proposal
    summary: str
    comparisons: tuple[Comparison, ...]
    as_of: datetime | None = None
    note: str = ""
    judgement: PreviewJudgement | None = None
    met: tuple[tuple[str, int], ...] | None = None

    @property
    def times_met(self) -> int:
        return sum(times for _, times in self.met or ())


def preview_change(engine: SearchEngine, clock: Clock, site_id: int, proposal: Proposal, query: str = "") -> Preview:
    """Preview a change: compare the searches that it is about, the most popular ones where it is about all, or `query`
    where it is given. Raises NotFound, Invalid, SearchUnavailable, TrialsUnsupported."""
    whole = complete_removal(proposal, served_now(site_id))
    now = clock.now()
    met = _searches_met(clock, site_id, whole)
    own = (*searches_of(whole)[:MOST_OWN], *(words for words, _ in (met or ())[:MOST_POPULAR]))
    searches = (query[:LONGEST_SEARCH],) if query.strip() else tuple(dict.fromkeys(own))
    if not searches and met is None:
        popular = top_words(site_id, site_today(clock, site_id), POPULAR_DAYS, MOST_POPULAR)
        searches = tuple(words for words, _ in popular)
    with start_trial(engine, site_id, whole, now) as trial:
        comparisons = tuple(trial.compare(searches))
        notes = (_unplaced_note(trial, whole), _idle_note(trial, whole))
        judgement = judge_change(trial)
    as_of = trial.now if trial.now > now else None
    return Preview(whole, describe(whole), comparisons, as_of, " ".join(filter(None, notes)), judgement, met)


def _searches_met(clock: Clock, site_id: int, proposal: Proposal) -> tuple[tuple[str, int], ...] | None:
    """Return which of the most popular searches a rule by condition is for, and how often they were made; None for a
    change of another kind, or a rule for one exact term."""
    if not isinstance(proposal, RuleProposal):
        return None
    rule = with_names(site_id, [proposal.rule])[0]
    if rule.match is Match.EXACT and not rule.other_terms:
        return None
    known = RuleSet.of([rule])
    popular = top_words(site_id, site_today(clock, site_id), POPULAR_DAYS, MOST_LOOKED_THROUGH)
    return tuple((words, times) for words, times in popular if known.matching(words))


def _unplaced_note(trial: Trial, proposal: Proposal) -> str:
    """Return sentences on the products of a change that no search shows; empty where there are none."""
    site_id = trial.site_id
    match proposal:
        case TermsProposal(product_id=product_id):
            shown = select(Product.enabled).where(Product.site_id == site_id, Product.id == product_id)
            return "" if db.session.scalar(shown) else "The product is not shown to shoppers, so no search finds it."
        case RuleProposal(rule, False):
            hidden = hidden_as_sold_out(site_id, rule.skus, trial.changed.ranking)
            listed = ", ".join(sku for sku in dict.fromkeys(rule.skus) if sku in hidden)
            sold_out = f"Sold out, and so hidden from searches: {listed}." if listed else ""
            return " ".join(filter(None, (_unplaced(site_id, rule.skus), sold_out)))
    return ""


def _idle_note(trial: Trial, proposal: Proposal) -> str:
    """Return a sentence on the products that a rule boosts or buries to no effect; empty where there are none."""
    if not isinstance(proposal, RuleProposal) or proposal.remove:
        return ""
    rule = proposal.rule
    if rule.match is not Match.EXACT:
        return ""  # Of each of its searches others are found.
    missed = skus_not_found(
        trial.changed_engine, trial.site_id, rule.term, (*rule.boosts, *rule.buries), trial.changed, trial.now
    )
    shown = _enabled(trial.site_id, missed)
    hidden = hidden_as_sold_out(trial.site_id, missed, trial.changed.ranking)
    missed = tuple(sku for sku in missed if shown.get(sku) and sku not in hidden)
    listed_by_reason = (
        ("boosting does nothing, pin it", [sku for sku in missed if sku in rule.boosts]),
        ("burying does nothing", [sku for sku in missed if sku not in rule.boosts]),
    )
    return " ".join(f"Not found by “{rule.term}”: {', '.join(skus)}; {why}." for why, skus in listed_by_reason if skus)


def _enabled(site_id: int, skus: tuple[str, ...]) -> dict[str, bool]:
    """Return, for those of the SKUs that products of this site have, whether the product is enabled."""
    if not skus:
        return {}
    query = select(Product.sku, Product.enabled).where(Product.site_id == site_id, Product.sku.in_(skus))
    return {row.sku: row.enabled for row in db.session.execute(query)}


def _unplaced(site_id: int, skus: tuple[str, ...]) -> str:
    """Return a sentence on the products of a rule that cannot be placed, with the reasons; empty where there are
    none."""
    if not skus:
        return ""
    enabled = _enabled(site_id, skus)
    unknown = [sku for sku in skus if sku not in enabled]
    hidden = [sku for sku in skus if enabled.get(sku) is False]
    listed_by_reason = [("Not in the catalogue", unknown), ("Hidden from shoppers, so not placed", hidden)]
    return " ".join(f"{reason}: {', '.join(listed)}." for reason, listed in listed_by_reason if listed)


def hidden_as_sold_out(site_id: int, skus: Collection[str], ranking: RankingSettings) -> frozenset[str]:
    """Return those of the SKUs whose products are hidden from searches as sold out; none where nothing is hidden."""
    if not (skus and ranking.hides_sold_out):
        return frozenset()
    query = select(Product).where(Product.site_id == site_id, Product.enabled, Product.sku.in_(set(skus)))
    products = db.session.scalars(query.options(selectinload(Product.variants)))
    return frozenset(p.sku for p in products if not is_in_stock(p.stock, [variant.stock for variant in p.variants]))


def skus_not_found(
    engine: Searching, site_id: int, term: str, skus: Sequence[str], served: Served, now: datetime
) -> tuple[str, ...]:
    """Return those of the SKUs that the search does not find, in their order. One search is enough: with all of them
    boosted, those that it finds come first. Raises SearchUnavailable."""
    if not skus or not term.strip():
        return ()
    boosted = replace(plan(term, served, now, redirects=False), rules=(Rule(term=term, boosts=tuple(skus)),))
    request = SearchRequest(words=term, per_page=len(skus))
    hits = search_products(engine, site_id, request, boosted, served.stop_words).result.hits
    found = {hit.card.get("sku") for hit in hits}
    return tuple(sku for sku in skus if sku not in found)
