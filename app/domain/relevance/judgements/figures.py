"""The NDCG of the searches of a list by the products that shoppers find now, or would find with a change.

Each search is judged by its own results, also where a rule sends shoppers elsewhere.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import select

from app.domain.relevance.judgements.measures import DEPTH, Interval, mean_with_interval, ndcg
from app.domain.relevance.judgements.ratings import RatedSearch
from app.domain.relevance.models import JudgementList, JudgementRun
from app.domain.search.engine import IndexName, SearchEngine, Searching, SearchRequest
from app.domain.search.serving.plan import Served, plan
from app.domain.search.serving.query import UnderstoodSearch, search_understood, understander
from app.domain.shared.paging import batched
from app.domain.work.models import State
from app.extensions import db

BETWEEN_NOTES = 25  # Searches.


@dataclass(frozen=True, slots=True)
class Figures:
    """The NDCG of each search of a list that a product answers, by its id. `corrected` are those whose spelling was
    corrected, on which a change may act through the corrected words."""

    ndcgs: Mapping[int, float]
    corrected: frozenset[int] = frozenset()

    @property
    def interval(self) -> Interval | None:
        """The mean with its interval; None without a search."""
        return mean_with_interval(list(self.ndcgs.values())) if self.ndcgs else None

    def as_json(self) -> dict[str, Any]:
        return {"each": [[id, value] for id, value in self.ndcgs.items()], "corrected": sorted(self.corrected)}

    @classmethod
    def of_json(cls, stored: Mapping[str, Any]) -> Figures:
        return cls({id: value for id, value in stored.get("each", ())}, frozenset(stored.get("corrected", ())))


def measure(
    engine: Searching,
    site_id: int,
    searches: Sequence[RatedSearch],
    served: Served,
    now: datetime,
    note: Callable[[int], object] = lambda _done: None,
) -> Figures:
    """Search and return the figures. `note` is called with the number of searches done so far. Raises
    SearchUnavailable."""
    ndcgs: dict[int, float] = {}
    corrected: set[int] = set()
    understand = understander(engine, site_id, served)
    for batch in batched(searches, BETWEEN_NOTES):
        understood = [
            UnderstoodSearch(
                SearchRequest(words=search.query, per_page=DEPTH, patient=True),
                plan(search.query, served, now, redirects=False),
                understand(search.query),
            )
            for search in batch
        ]
        answers = search_understood(engine, site_id, understood, served.stop_words)
        for search, answered in zip(batch, answers, strict=True):
            result = answered.answer.result
            ndcgs[search.id] = ndcg([str(hit.card.get("sku")) for hit in result.hits], search.grades)
            if result.corrected:
                corrected.add(search.id)
        note(len(ndcgs))
    return Figures(ndcgs, frozenset(corrected))


def state_of(engine: SearchEngine, row: JudgementList, served: Served, now: datetime) -> str:
    """Return a text that changes whenever the figures of a list may: with the index, the serving configuration, the
    rules that apply at the moment, and the ratings."""
    applying = sorted(str(rule.id) for rule in served.rules.rules if rule.applies_at(now))
    settings = (
        served.by_meaning,
        served.ranking,
        sorted(served.stop_words),
        served.learned.mode,
        served.understanding.value,
    )
    index = engine.status(row.site_id, IndexName.PRODUCTS)
    state = index.generation, index.version, served.version, settings, applying, row.ratings_version, row.combination
    return hashlib.sha256(repr(state).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class StoredFigures:
    """Figures that were computed earlier, and the state that they are of."""

    figures: Figures
    depends_on: str
    computed_at: datetime


def stored_figures(row: JudgementList) -> StoredFigures | None:
    """Return the latest figures of a list as things are; None before the first."""
    done = JudgementRun.list_id == row.id, JudgementRun.state == State.DONE, JudgementRun.proposal.is_(None)
    query = select(JudgementRun).where(*done).order_by(JudgementRun.finished_at.desc(), JudgementRun.id).limit(1)
    run = db.session.scalar(query)
    if run is None or run.finished_at is None:
        return None
    return StoredFigures(Figures.of_json(run.report), run.depends_on, run.finished_at)


def current_figures(engine: SearchEngine, row: JudgementList, served: Served, now: datetime) -> Figures | None:
    """Return the stored figures of a list where they are of the present state; else None."""
    stored = stored_figures(row)
    if stored is None or stored.depends_on != state_of(engine, row, served, now):
        return None
    return stored.figures
