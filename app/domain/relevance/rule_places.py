"""The products of a search with a rule that is not saved, each with how far the rule moved it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from app.domain.relevance.proposals import RuleProposal, apply_proposal
from app.domain.relevance.trials import start_trial
from app.domain.search.engine import Hit, SearchEngine
from app.domain.search.serving.query import first_tens
from app.domain.shared.clock import Clock

LOOKED_THROUGH = 240  # Results without the rule; a product from further behind counts as new.


@dataclass(frozen=True, slots=True)
class RulePlace:
    """A product at a 1-based place. `margin` is how many places it stands further to the front than without the rule,
    negative for further back, None where it is not among the first LOOKED_THROUGH results without the rule.
    `is_pinned`: by whichever rule applies."""

    product_id: int
    sku: str
    place: int
    margin: int | None
    is_pinned: bool


@dataclass(frozen=True, slots=True)
class RulePlaces:
    """The first products of a search with the rule. `total` is how many it finds; `redirect` is where shoppers are sent
    instead."""

    words: str
    total: int
    places: tuple[RulePlace, ...]
    redirect: str | None = None


def rule_places(
    engine: SearchEngine, clock: Clock, site_id: int, proposal: RuleProposal, words: str, most: int
) -> RulePlaces:
    """Return the first `most` products of a search as they would be with the rule, compared with the results without
    it, also without what is stored of it. Raises SearchUnavailable."""
    with start_trial(engine, site_id, proposal, clock.now()) as trial:
        without = apply_proposal(trial.served, replace(proposal, remove=True))
        [before] = first_tens(trial.engine, site_id, [words], without, trial.now, most=LOOKED_THROUGH)
        [after] = first_tens(trial.changed_engine, site_id, [words], trial.changed, trial.now, most=most)
    was = {hit.id: place for place, hit in enumerate(before.hits, 1)}
    pinned = frozenset(pin.sku for pin in after.plan.applied.pins)
    places = tuple(_place_of(hit, place, was, pinned) for place, hit in enumerate(after.hits, 1))
    return RulePlaces(words, after.total, places, after.plan.redirect)


def _place_of(hit: Hit, place: int, was: Mapping[str, int], pinned: frozenset[str]) -> RulePlace:
    sku = str(hit.card["sku"])
    margin = was[hit.id] - place if hit.id in was else None
    return RulePlace(int(str(hit.card["id"])), sku, place, margin, sku in pinned)
