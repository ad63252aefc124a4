"""The share of learning in an explanation: the evidence beside its parts of a score, and what it would add where it is
only in shadow."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from app.domain.search.engine import Hit, ScorePart, SearchRequest
from app.domain.search.index.document import product_document_id
from app.domain.search.ranking.learning import LearnedSearch
from app.domain.search.serving.learned import factors_of

LEARNED, LEARNED_LEVEL = "learned", "learned_level"
WOULD_STAND = 50  # Places that are looked through for products that learning would move.

Answer = Callable[[SearchRequest], Sequence[Hit]]


@dataclass(frozen=True, slots=True)
class WouldBe:
    """A product as learning would place it."""

    rank: int
    parts: tuple[ScorePart, ...]


def with_evidence(parts: Sequence[ScorePart], document_id: str, learned: LearnedSearch) -> tuple[ScorePart, ...]:
    """Return the parts, those of learning with how often shoppers opened the product or products of its level."""
    opens = {product_document_id(one.product_id): one.opens for one in learned.products}
    of_levels = max((one.opens for one in learned.levels), default=None)
    evidence = {LEARNED: opens.get(document_id), LEARNED_LEVEL: of_levels}
    return tuple(replace(part, opens=evidence[part.kind]) if part.kind in evidence else part for part in parts)


def would_be(answer: Answer, request: SearchRequest, learned: LearnedSearch) -> Mapping[str, WouldBe]:
    """Return, by document, what learning would move to where. Raises SearchUnavailable."""
    if not learned:
        return {}
    served = replace(request, learned=factors_of(learned), page=1, per_page=WOULD_STAND, explain=True)
    return dict(_moved(answer(served), learned))


def _moved(hits: Sequence[Hit], learned: LearnedSearch) -> Iterator[tuple[str, WouldBe]]:
    for rank, hit in enumerate(hits, start=1):
        parts = hit.explanation.parts if hit.explanation else ()
        of_learning = [part for part in parts if part.kind in (LEARNED, LEARNED_LEVEL)]
        yield hit.id, WouldBe(rank, with_evidence(of_learning, hit.id, learned))
