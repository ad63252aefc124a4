"""The comparisons that run now, with the serving configuration of each candidate, as a process that answers searches
caches them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from sqlalchemy import select
from sqlalchemy.exc import OperationalError

from app.domain.relevance.candidates import baseline_of
from app.domain.relevance.proposals import Proposal, RuleProposal, apply_proposal, stored_proposal
from app.domain.relevance.rule_levels import with_names
from app.domain.search.ranking_settings import RankingSettings
from app.domain.search.serving.plan import Served
from app.domain.search_statistics.models import RankingComparison
from app.extensions import db

ServedState = tuple[int, frozenset[str], RankingSettings, bool]


@dataclass(frozen=True, slots=True)
class RunningComparison:
    """A comparison in `share` percent of visits, through `last_day`."""

    id: int
    site_id: int
    proposal: Proposal
    baseline: Mapping[str, Any]
    share: int
    last_day: date


@dataclass(frozen=True, slots=True)
class _Candidate:
    """What a comparison would serve in place of a state; None where that has changed what it compares."""

    comparison_id: int
    state: ServedState
    served: Served | None


@dataclass(frozen=True, slots=True)
class _Read:
    """The comparison that ran on a site at a version of the shop's configuration."""

    version: int
    running: RunningComparison | None


class RunningComparisons:
    """Reads the running comparison of a site when the version of its configuration is new; while the database does not
    answer, none runs. Safe to share between threads."""

    def __init__(self) -> None:
        self._by_site: dict[int, _Read] = {}
        self._candidates: dict[int, _Candidate] = {}

    def of(self, site_id: int, version: int, today: date) -> RunningComparison | None:
        """Return the comparison that runs on a site on its day, None without one. `version` is that of the shop."""
        known = self._by_site.get(site_id)
        if known is None or known.version != version:
            try:
                known = self._by_site[site_id] = _Read(version, _stored(site_id))
            except OperationalError:
                db.session.rollback()
                return None
        running = known.running
        return running if running is not None and today <= running.last_day else None

    def candidate(self, running: RunningComparison, served: Served) -> Served | None:
        """Return the candidate's serving configuration; None once what it would replace is not what it was."""
        state = (served.version, served.stop_words, served.ranking, served.by_meaning)
        known = self._candidates.get(running.site_id)
        if known is None or (known.comparison_id, known.state) != (running.id, state):
            is_same = baseline_of(served, running.proposal) == running.baseline
            candidate = apply_proposal(served, running.proposal) if is_same else None
            known = self._candidates[running.site_id] = _Candidate(running.id, state, candidate)
        return known.served


def _stored(site_id: int) -> RunningComparison | None:
    query = select(RankingComparison).where(RankingComparison.site_id == site_id, RankingComparison.ended_at.is_(None))
    row = db.session.scalar(query)
    if row is None:
        return None
    proposal = stored_proposal(row.proposal)
    if isinstance(proposal, RuleProposal):
        proposal = replace(proposal, rule=with_names(site_id, [proposal.rule])[0])
    return RunningComparison(row.id, site_id, proposal, row.baseline, row.share, row.last_day)
