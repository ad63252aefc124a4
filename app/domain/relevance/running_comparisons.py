"""The comparisons that run now, with the serving configuration of each candidate, as a process that answers searches
caches them."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from sqlalchemy import select
from sqlalchemy.exc import OperationalError

from app.domain.relevance.candidates import baseline_of
from app.domain.relevance.proposals import Proposal, apply_proposal, read_proposal
from app.domain.search.ranking_settings import RankingSettings
from app.domain.search.serving.plan import Served
from app.domain.search_statistics.models import RankingComparison
from app.domain.shared.clock import Clock
from app.extensions import db

FRESH = timedelta(seconds=1)
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


class RunningComparisons:
    """Reads the running comparisons of all sites at most once a second; while the database does not answer, none runs.
    Safe to share between threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._read_at: datetime | None = None
        self._by_site: Mapping[int, RunningComparison] = {}
        self._candidates: dict[int, _Candidate] = {}

    def of(self, clock: Clock, site_id: int, today: date) -> RunningComparison | None:
        """Return the comparison that runs on a site on its day, None without one."""
        running = self._read(clock.now()).get(site_id)
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

    def _read(self, now: datetime) -> Mapping[int, RunningComparison]:
        if self._read_at is not None and abs(now - self._read_at) < FRESH:
            return self._by_site
        with self._lock:
            if self._read_at is None or abs(now - self._read_at) >= FRESH:
                self._by_site, self._read_at = _stored(), now
            return self._by_site


def _stored() -> Mapping[int, RunningComparison]:
    query = select(RankingComparison).where(RankingComparison.ended_at.is_(None))
    try:
        rows = db.session.scalars(query).all()
    except OperationalError:
        db.session.rollback()
        return {}
    return {
        row.site_id: RunningComparison(
            row.id, row.site_id, read_proposal(row.proposal), row.baseline, row.share, row.last_day
        )
        for row in rows
    }
