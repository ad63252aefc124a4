"""Previews of unsaved changes: searches answered as things are and as they would be.

Synonyms, rules and ranking settings are values, so the changed serving configuration is made and given to the same
search. Search terms are in the index: there the product's document is made with the proposed terms and searched in a
private copy of the index (SearchEngine.trial), exactly as if it had been saved. Neither side has the changes of other
saves that still wait for the index.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import selectinload

from app.domain.catalogue.models import Product
from app.domain.catalogue.product_rules import add_to_terms, is_in_stock
from app.domain.relevance.comparison import Comparison, compare
from app.domain.relevance.proposals import (
    Proposal,
    RuleProposal,
    TermsProposal,
    apply_proposal,
    complete_removal,
    describe,
    preview_moment,
    searches_of,
)
from app.domain.search.engine import (
    Change,
    IndexName,
    SearchEngine,
    Searching,
    SearchRequest,
    TrialsUnsupported,
    Upsert,
)
from app.domain.search.index.documents import product_documents
from app.domain.search.ranking_settings import RankingSettings
from app.domain.search.serving.configuration import served as served_now
from app.domain.search.serving.plan import Served, plan
from app.domain.search.serving.query import FirstTen, first_tens, search_products
from app.domain.search.serving.rules import Rule
from app.domain.search_statistics.counting.queries import site_today, top_words
from app.domain.shared.clock import Clock
from app.domain.shared.records import existing
from app.extensions import db

LONGEST_SEARCH = 200
POPULAR_DAYS, MOST_POPULAR = 30, 3


@dataclass(frozen=True, slots=True)
class Trial:
    """A change on trial. `now` is the moment as of which both sides are searched."""

    site_id: int
    engine: SearchEngine
    changed_engine: Searching
    served: Served
    changed: Served
    now: datetime

    def compare(self, searches: Sequence[str]) -> list[Comparison]:
        """Return the comparison of each search. Raises SearchUnavailable, as `before` and `after` do."""
        sides = zip(searches, self.before(searches), self.after(searches), strict=True)
        return [compare(words, before, after) for words, before, after in sides]

    def before(self, searches: Sequence[str]) -> list[FirstTen]:
        return first_tens(self.engine, self.site_id, searches, self.served, self.now)

    def after(self, searches: Sequence[str]) -> list[FirstTen]:
        return first_tens(self.changed_engine, self.site_id, searches, self.changed, self.now)

    def plans_alike(self, words: str) -> bool:
        """Whether the rule, the synonyms, the ranking, what was learned and what is understood of a search stay as they
        are."""
        if self.served.understanding is not self.changed.understanding:
            return False
        before, after = (plan(words, served, self.now) for served in (self.served, self.changed))
        return all(
            getattr(before, name) == getattr(after, name) for name in ("rule", "expansion", "ranking", "learned")
        )


@dataclass(frozen=True, slots=True)
class Preview:
    """The effects of a change on the searches that it is about. `as_of` is the moment searched, set where it is not
    now; `note` says what of the change has no effect, and why."""

    proposal: Proposal
    summary: str
    comparisons: tuple[Comparison, ...]
    as_of: datetime | None = None
    note: str = ""


@contextmanager
def start_trial(engine: SearchEngine, site_id: int, proposal: Proposal, now: datetime) -> Iterator[Trial]:
    """Yield the trial of a proposal, for as long as the engine holds its changes. Raises NotFound for a product that is
    not of this site, SearchUnavailable and TrialsUnsupported."""
    served = served_now(site_id)
    with ExitStack() as stack:
        changed_engine: Searching = engine
        if isinstance(proposal, TermsProposal):
            if not engine.supports_trials:
                raise TrialsUnsupported
            query = select(Product.search_terms).where(Product.site_id == site_id, Product.id == proposal.product_id)
            known = existing(db.session.scalar(query), "There is no such product on this site.")
            terms = tuple(add_to_terms(known, proposal.terms) if proposal.add else proposal.terms)
            documents = product_documents(site_id, {proposal.product_id})  # None where shoppers do not see the product.
            changes: list[Change] = [Upsert(replace(document, terms=terms)) for document in documents]
            changed_engine = stack.enter_context(engine.trial(site_id, IndexName.PRODUCTS, changes))
        yield Trial(
            site_id, engine, changed_engine, served, apply_proposal(served, proposal), preview_moment(proposal, now)
        )


def preview_change(engine: SearchEngine, clock: Clock, site_id: int, proposal: Proposal, query: str = "") -> Preview:
    """Preview a change: compare the searches that it is about, the most popular ones where it is about all, or `query`
    where it is given. Raises NotFound, Invalid, SearchUnavailable, TrialsUnsupported."""
    whole = complete_removal(proposal, served_now(site_id))
    now = clock.now()
    searches = (query[:LONGEST_SEARCH],) if query.strip() else searches_of(whole)
    if not searches:
        popular = top_words(site_id, site_today(clock, site_id), POPULAR_DAYS, MOST_POPULAR)
        searches = tuple(words for words, _ in popular)
    with start_trial(engine, site_id, whole, now) as trial:
        comparisons = tuple(trial.compare(searches))
        notes = (_unplaced_note(trial, whole), _idle_note(trial, whole))
    as_of = trial.now if trial.now > now else None
    return Preview(whole, describe(whole), comparisons, as_of, " ".join(filter(None, notes)))


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
    boosted = replace(plan(term, served, now, redirects=False), rule=Rule(term=term, boosts=tuple(skus)))
    request = SearchRequest(words=term, per_page=len(skus))
    hits = search_products(engine, site_id, request, boosted, served.stop_words).result.hits
    found = {hit.card.get("sku") for hit in hits}
    return tuple(sku for sku in skus if sku not in found)
