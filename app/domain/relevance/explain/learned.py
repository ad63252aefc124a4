"""The share of learning in an explanation: the evidence beside its parts of a score, and what it would add where it is
only in shadow."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from app.domain.search.engine import Hit, ScorePart, SearchRequest
from app.domain.search.index.document import product_document_id
from app.domain.search.ranking.learning import LearnedLevel, LearnedSearch
from app.domain.search.serving.plan import factors_of

LEARNED, LEARNED_LEVEL, MEANING = "learned", "learned_level", "meaning"
WOULD_STAND = 50  # Results that are read, as learning would order them.

Answer = Callable[[SearchRequest], Sequence[Hit]]


@dataclass(frozen=True, slots=True)
class WouldBe:
    """A product as learning would place it."""

    rank: int
    parts: tuple[ScorePart, ...]


def with_evidence(parts: Sequence[ScorePart], document_id: str, learned: LearnedSearch) -> tuple[ScorePart, ...]:
    """Return all parts of a score, those of learning with how often shoppers opened the product or products of its
    level."""
    opens = {product_document_id(one.product_id): one.opens for one in learned.products}
    evidence = {LEARNED: opens.get(document_id), LEARNED_LEVEL: _opens_of_level(parts, learned.levels)}
    return tuple(replace(part, opens=evidence[part.kind]) if part.kind in evidence else part for part in parts)


def _opens_of_level(parts: Sequence[ScorePart], levels: Sequence[LearnedLevel]) -> int | None:
    """Return the opens of the level by whose factor the score was multiplied, None where it was not. The factor is the
    last one, so it follows from its part of the score; of levels with the same factor, the fewest opens."""
    score = sum(part.worth for part in parts if part.kind != MEANING)
    worth = sum(part.worth for part in parts if part.kind == LEARNED_LEVEL)
    if not worth or not levels:
        return None
    factor = score / (score - worth)
    return min(levels, key=lambda one: (round(abs(one.factor - factor), 5), one.opens)).opens


def would_be(answer: Answer, request: SearchRequest, learned: LearnedSearch) -> Mapping[str, WouldBe]:
    """Return, by document id, each of the first WOULD_STAND results as learning would place it; empty where nothing is
    learned. Raises SearchUnavailable."""
    if not learned:
        return {}
    served = replace(request, learned=factors_of(learned), page=1, per_page=WOULD_STAND, explain=True)
    return dict(_moved(answer(served), learned))


def _moved(hits: Sequence[Hit], learned: LearnedSearch) -> Iterator[tuple[str, WouldBe]]:
    for rank, hit in enumerate(hits, start=1):
        parts = hit.explanation.parts if hit.explanation else ()
        shown = with_evidence(parts, hit.id, learned)
        yield hit.id, WouldBe(rank, tuple(part for part in shown if part.kind in (LEARNED, LEARNED_LEVEL)))
