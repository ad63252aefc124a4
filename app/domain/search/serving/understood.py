"""Searches whose words are understood: the understood parts become filters of the request, and where those find nothing
the words are searched as they were typed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from app.domain.search.engine import Searching, SearchRequest
from app.domain.search.serving.plan import Plan
from app.domain.search.serving.query import Answered, search_many_products
from app.domain.search.understanding.parts import Understanding


@dataclass(frozen=True, slots=True)
class UnderstoodSearch:
    """A search of products with what its words mean."""

    request: SearchRequest
    plan: Plan
    understanding: Understanding = Understanding.NOTHING


@dataclass(frozen=True, slots=True)
class UnderstoodAnswer:
    """An answer, and what of the words was applied as filters; nothing where these would have left no product."""

    answer: Answered
    applied: Understanding = Understanding.NOTHING


def narrow(search: UnderstoodSearch) -> tuple[SearchRequest, Plan]:
    """Return the request and the plan with the understood parts as filters. Synonyms widen the words that are left."""
    request, plan, understanding = search.request, search.plan, search.understanding
    if not understanding:
        return request, plan
    words = understanding.searched
    if words != request.words:
        plan = replace(plan, expansion=plan.synonyms.expand(words))
    narrowed = replace(
        request,
        words=words,
        filters=(*request.filters, *understanding.filters),
        ranges=(*request.ranges, *understanding.ranges),
        optional=request.optional | understanding.optional,
    )
    return narrowed, plan


def search_understood(
    engine: Searching, site_id: int, searches: Sequence[UnderstoodSearch], stop_words: frozenset[str] = frozenset()
) -> list[UnderstoodAnswer]:
    """Return the answers in the order of the searches. Raises SearchUnavailable."""
    narrowed = search_many_products(engine, site_id, [narrow(search) for search in searches], stop_words)
    answers = [UnderstoodAnswer(found, one.understanding) for found, one in zip(narrowed, searches, strict=True)]
    emptied = [place for place, one in enumerate(answers) if one.applied and not one.answer.result.total]
    if emptied:
        again = [(searches[place].request, searches[place].plan) for place in emptied]
        for place, found in zip(emptied, search_many_products(engine, site_id, again, stop_words), strict=True):
            answers[place] = UnderstoodAnswer(found)
    return answers
