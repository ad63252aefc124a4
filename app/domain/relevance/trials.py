"""Changes on trial: searches answered as things are, and as they would be with a change that is not saved.

Synonyms, rules and ranking settings are values, so the changed serving configuration is made and given to the same
search. Search terms are in the index: there the product's document is made with the proposed terms and searched in a
private copy of the index (SearchEngine.trial), exactly as if it had been saved. Neither side has the changes of other
saves that still wait for the index.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import select

from app.domain.catalogue.models import Product
from app.domain.catalogue.product_rules import add_to_terms
from app.domain.relevance.comparison import Comparison, compare
from app.domain.relevance.proposals import Proposal, RuleProposal, TermsProposal, apply_proposal, preview_moment
from app.domain.relevance.rule_levels import with_names
from app.domain.search.engine import Change, IndexName, SearchEngine, Searching, TrialsUnsupported, Upsert
from app.domain.search.index.documents import product_documents
from app.domain.search.serving.configuration import served as served_now
from app.domain.search.serving.interleaved import are_alike
from app.domain.search.serving.plan import Served, plan
from app.domain.search.serving.query import FirstTen, first_tens
from app.domain.shared.records import existing
from app.extensions import db


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
        """Whether the rules, the synonyms, the ranking, the use of meaning, what was learned and what is understood of
        a search stay as they are."""
        if self.served.understanding is not self.changed.understanding:
            return False
        return are_alike(*(plan(words, served, self.now) for served in (self.served, self.changed)))

    def may_change(self, words: str) -> bool:
        """Whether the change may alter the results of a search, unless by a correction of its spelling."""
        return self.changed_engine is not self.engine or not self.plans_alike(words)


@contextmanager
def start_trial(engine: SearchEngine, site_id: int, proposal: Proposal, now: datetime) -> Iterator[Trial]:
    """Yield the trial of a proposal, for as long as the engine holds its changes. Raises NotFound for a product that is
    not of this site, SearchUnavailable and TrialsUnsupported."""
    served = served_now(site_id)
    with ExitStack() as stack:
        changed_engine: Searching = engine
        if isinstance(proposal, RuleProposal):
            proposal = replace(proposal, rule=with_names(site_id, [proposal.rule])[0])
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
