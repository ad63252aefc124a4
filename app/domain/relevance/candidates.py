"""Candidates of a comparison of rankings: what of the present ranking each would replace, and what may be compared.
Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from app.domain.relevance.proposals import (
    LearningProposal,
    MeaningProposal,
    Proposal,
    RankingProposal,
    RuleProposal,
    apply_proposal,
)
from app.domain.search.serving.plan import LearningMode, Served
from app.domain.search.serving.rules import Rule
from app.domain.shared.problems import Problem

COMPARABLE = (RankingProposal, LearningProposal, MeaningProposal, RuleProposal)
SHARES = (10, 25, 50, 100)  # Percent of visits.
FEWEST_DAYS, DAYS, MOST_DAYS = 7, 60, 180
Baseline = Mapping[str, Any]


def baseline_of(served: Served, proposal: Proposal) -> dict[str, Any]:
    """Return what of the present ranking the proposal would replace, as it is stored with a comparison. Once it has
    changed, the comparison is of something else."""
    match proposal:
        case RankingProposal():
            return dict(served.ranking.as_json())
        case LearningProposal():
            return {"on": served.learned.mode is LearningMode.ON}
        case MeaningProposal():
            return {"on": served.by_meaning}
        case RuleProposal(rule):
            present = served.rules.like(rule)
            return present.as_json(for_shoppers=True) if present is not None else {}
    return {}


def candidate_problems(served: Served, proposal: Proposal, now: datetime) -> list[Problem]:
    """Return why the proposal cannot be compared with what is served."""
    if not isinstance(proposal, COMPARABLE):
        message = "Compare ranking settings, learning from clicks, search by meaning or a rule; preview the others."
        return [Problem("not_comparable", message, "#/candidate/kind")]
    problems = []
    match proposal:
        case RankingProposal(ranking) if ranking.hides_sold_out != served.ranking.hides_sold_out:
            message = "Both sides must find the same products: sold-out products are hidden in both or in neither."
            problems.append(Problem("hides_differently", message, "#/candidate/soldOut"))
        case LearningProposal() if not served.learned.searches:
            message = "Nothing is learned from clicks yet. Choose Shadow in the settings, and compare later."
            problems.append(Problem("nothing_learned", message, "#/candidate/on"))
        case RuleProposal():
            problems += _rule_problems(proposal, now)
    if not problems and is_as_served(served, proposal):
        message = "Shoppers are served this already, so there is nothing to compare."
        problems.append(Problem("no_difference", message, "#/candidate"))
    return problems


def _rule_problems(proposal: RuleProposal, now: datetime) -> list[Problem]:
    rule = proposal.rule
    if proposal.remove and not rule.normalized_term:
        return [Problem("unknown_rule", "There is no such rule.", "#/candidate/id")]
    if rule.redirect_url:
        message = "A rule that leads to a page shows no products, so shoppers cannot choose among them."
        return [Problem("rule_redirects", message, "#/candidate/redirectUrl")]
    if not rule.skus and not rule.groups:
        message = "The rule pins, boosts or buries no product, so it changes no order."
        return [Problem("rule_places_nothing", message, "#/candidate/pins")]
    if not rule.applies_at(now):
        message = "The rule does not apply now: it is paused, has not begun or has ended."
        return [Problem("rule_does_not_apply", message, "#/candidate/startsAt")]
    return []


def rule_candidate(rule: Rule) -> RuleProposal:
    """Return the candidate that a saved rule is: that it applies where it is paused, else that it is gone."""
    return RuleProposal(rule, remove=True) if rule.enabled else RuleProposal(replace(rule, enabled=True))


def is_as_served(served: Served, proposal: Proposal) -> bool:
    """Whether the proposal would change nothing."""
    changed = apply_proposal(served, proposal)
    return baseline_of(changed, proposal) == baseline_of(served, proposal)


def run_problems(share: int, days: int) -> list[Problem]:
    """Return what is wrong with the share of visits, in percent, and the longest period, in days."""
    problems = []
    if share not in SHARES:
        message = f"The share of visits is {', '.join(map(str, SHARES[:-1]))} or {SHARES[-1]} percent."
        problems.append(Problem("invalid_share", message, "#/share"))
    if not FEWEST_DAYS <= days <= MOST_DAYS:
        message = f"A comparison takes {FEWEST_DAYS} to {MOST_DAYS} days at most."
        problems.append(Problem("invalid_days", message, "#/days"))
    return problems
