"""The results of a search: total, page, counts and ranges together."""

from __future__ import annotations

from dataclasses import replace

from app.adapters.whoosh.evaluation import Evaluation
from app.adapters.whoosh.explaining import explained
from app.adapters.whoosh.meaning import Meanings
from app.adapters.whoosh.view import View
from app.domain.search.engine import Hit, RangeCount, SearchRequest, SearchResult
from app.domain.search.text import query_words


def evaluate(view: View, request: SearchRequest, meanings: Meanings | None = None) -> SearchResult:
    if not view.size:
        facets = {name: () for name in request.facets}
        ranges = {name: RangeCount(None, None, 0) for name in request.range_facets}
        return SearchResult(0, facets=facets, ranges=ranges, full_matches=0 if query_words(request.words) else None)
    evaluation = Evaluation(view, request, meanings)
    answer, total = evaluation.answer, len(evaluation.docs)
    by_words = total - evaluation.count(answer.added)
    full = None
    if answer.scores is not None:
        full = by_words if answer.full is None else evaluation.count(answer.full)
    return SearchResult(
        total=total,
        hits=_page(evaluation),
        facets=evaluation.filters.facets(),
        ranges=evaluation.filters.ranges(),
        suggestion=answer.suggestion,
        corrected=answer.corrected,
        relaxed=full is not None and full < by_words,
        full_matches=full,
        similar=_similar(evaluation),
        lacks_meaning=evaluation.lacks_meaning,
    )


def _similar(evaluation: Evaluation) -> tuple[Hit, ...]:
    docs, cosines = evaluation.similar()
    if not len(docs):
        return ()
    cards = evaluation.view.ids_and_cards(docs)
    return tuple(Hit(id, cosine, card) for (id, card), cosine in zip(cards, cosines.tolist(), strict=True))


def _page(evaluation: Evaluation) -> tuple[Hit, ...]:
    request, answer = evaluation.request, evaluation.answer
    start, end = request.window
    if start >= end or request.page < 1:
        return ()
    order = evaluation.order()
    shown = order.between(start, end)
    scores = [0.0] * len(shown)
    if answer.scores is not None:
        scores = answer.scores[answer.docs.searchsorted(shown)].tolist()
    cards = evaluation.view.ids_and_cards(shown)
    hits = tuple(Hit(id, score, card) for (id, card), score in zip(cards, scores, strict=True))
    if not request.explain:
        return hits
    return tuple(replace(hit, explanation=explained(evaluation, order, hit.id)) for hit in hits)
