"""Judge an engine by rated queries: NDCG@10, the same over rated products alone, and what nobody has rated.

The figures are those of judgement lists. Products that nobody rated gain nothing. That punishes an engine for what it
finds and nobody had looked at, which the condensed figure does not: it leaves unrated products out before it takes ten.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from app.domain.relevance.judgements.measures import DEPTH, SEED, mean_with_interval, ndcg
from bench.catalogue import ratings

COMPLETED, SECOND = "completed", "second"  # Rated queries to choose on, one half of them, and those to report on only.
CONDENSED_DEPTH = 200  # Results that are looked through for ten rated ones.

Search = Callable[[str, int], list[str]]
"""The ids of the first products that an engine finds for words, at most so many."""
Grades = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Judgement:
    """How one query was answered. `unrated` is the share of the first ten that nobody rated."""

    query: str
    found: tuple[str, ...]
    ndcg: float
    condensed: float
    unrated: float


def judge(search: Search, rated: Mapping[str, Grades] | None = None) -> list[Judgement]:
    """Return a judgement of each rated query, or of those of `rated`.

    Whatever ranks can be judged. For the shop's engine with a sentence model: build an index with
    `engine = WhooshEngine(directory, model)` and `bench.measuring.build(engine, bench.catalogue.documents())`, then
    `judge(partial(bench.relevance.shop_ids, engine))`; what answers late without its vector must be awaited within the
    search. `difference` compares two lists of judgements, and `halves` says which queries settings may be chosen on.
    """
    return [
        _judgement(query, search(query, CONDENSED_DEPTH), grades)
        for query, grades in (rated or rated_queries()).items()
    ]


def _judgement(query: str, found: Sequence[str], grades: Grades) -> Judgement:
    first = found[:DEPTH]
    return Judgement(
        query,
        tuple(first),
        ndcg(first, grades),
        ndcg([id for id in found if id in grades], grades),
        sum(id not in grades for id in first) / len(first) if first else 0.0,
    )


def rated_queries(name: str = COMPLETED) -> dict[str, dict[str, int]]:
    """Queries with at least one product that answers."""
    return {query: grades for query, grades in ratings(name).items() if any(grades.values())}


def halves() -> tuple[frozenset[str], frozenset[str]]:
    """Return (the rated queries on which settings are chosen, those kept aside), the same ones each time."""
    queries = sorted(rated_queries())
    random.Random(SEED).shuffle(queries)
    return frozenset(queries[: len(queries) // 2]), frozenset(queries[len(queries) // 2 :])


@dataclass(frozen=True, slots=True)
class Difference:
    """The mean difference of NDCG@10 between two engines, and the interval that holds it with 95 per cent, by drawing
    as many queries with replacement over and over."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.mean:+.3f} ({self.low:+.3f} to {self.high:+.3f})"


def difference(ours: Sequence[Judgement], theirs: Sequence[Judgement]) -> Difference:
    """Compare two engines on the same queries."""
    found = mean_with_interval([one.ndcg - other.ndcg for one, other in zip(ours, theirs, strict=True)])
    return Difference(found.mean, found.low, found.high)
