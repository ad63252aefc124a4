"""The results of a search: total, page, counts and ranges together, and why a document is, or is not, among them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import numpy.typing as npt

from app.adapters.whoosh.evaluation import Evaluation
from app.adapters.whoosh.generation import readable
from app.adapters.whoosh.matching import Found, UnitMatch, Vocabulary, alternative_matches, match_words
from app.adapters.whoosh.ordering import PlacedOrder
from app.adapters.whoosh.scoring import Matches, field_scores, form_scores, place_of
from app.adapters.whoosh.view import Docs, View
from app.domain.search.engine import (
    Explanation,
    FieldMatch,
    Hit,
    IndexName,
    RangeCount,
    ScorePart,
    SearchRequest,
    SearchResult,
)
from app.domain.search.ranking.parts import bonus_parts, readings, scaled_parts, unit_parts
from app.domain.search.ranking.query import completions
from app.domain.search.ranking.scoring import FIELDS
from app.domain.search.sentence_model import Meanings
from app.domain.search.text import query_words, quoted_words
from app.domain.search.word_forms import root


class ViewSearch:
    """Answers searches from one view of one index of one site, which need not be live."""

    def __init__(self, view: View, meanings: Meanings | None = None) -> None:
        self._view, self._meanings = view, meanings

    def search(self, site_id: int, index: IndexName, request: SearchRequest) -> SearchResult:
        with readable():
            return evaluate(self._view, request, self._meanings)

    def search_many(self, site_id: int, index: IndexName, requests: Sequence[SearchRequest]) -> list[SearchResult]:
        return [self.search(site_id, index, request) for request in requests]


def evaluate(view: View, request: SearchRequest, meanings: Meanings | None = None) -> SearchResult:
    """Return the results of a request."""
    if not view.size:
        facets = {name: () for name in request.facets}
        ranges = {name: RangeCount(None, None, 0) for name in request.range_facets}
        return SearchResult(0, facets=facets, ranges=ranges, full_matches=0 if query_words(request.words) else None)
    evaluation = Evaluation(view, request, meanings)
    answer, total = evaluation.answer, len(evaluation.docs)
    by_meaning_alone = evaluation.count(answer.alone)
    by_words = total - evaluation.count(answer.added) - by_meaning_alone
    full = None
    if answer.scores is not None:
        full = by_words if answer.full is None else evaluation.count(answer.full)
    return SearchResult(
        total=total,
        hits=_page_hits(evaluation),
        facets=evaluation.filters.facets(),
        ranges=evaluation.filters.ranges(),
        suggestion=answer.suggestion,
        corrected=answer.corrected,
        relaxed=full is not None and full < by_words,
        full_matches=full,
        by_meaning_alone=by_meaning_alone,
        similar=_similar_hits(evaluation),
        lacks_meaning=evaluation.lacks_meaning,
    )


def _page_hits(evaluation: Evaluation) -> tuple[Hit, ...]:
    """Return the hits of the requested page in their order, each with its explanation where the request wants it."""
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
    return tuple(replace(hit, explanation=explain_document(evaluation, order, hit.id)) for hit in hits)


def _similar_hits(evaluation: Evaluation) -> tuple[Hit, ...]:
    """Return the hits near in meaning that stand beside a short list of results."""
    docs, cosines = evaluation.similar()
    if not len(docs):
        return ()
    cards = evaluation.view.ids_and_cards(docs)
    return tuple(Hit(id, cosine, card) for (id, card), cosine in zip(cards, cosines.tolist(), strict=True))


def explain(view: View, request: SearchRequest, document_id: str, meanings: Meanings | None = None) -> Explanation:
    """Return why a document is, or is not, among the results of a request."""
    evaluation = Evaluation(view, replace(request, patient=True), meanings)
    return explain_document(evaluation, evaluation.order(), document_id)


def explain_document(evaluation: Evaluation, order: PlacedOrder, document_id: str) -> Explanation:
    """Return the words that a document has and lacks, its rank and the parts of its score."""
    view, answer = evaluation.view, evaluation.answer
    words = query_words(evaluation.request.words)
    doc = view.document_of(document_id)
    if doc is None:
        return Explanation(words, False, None, None, (), words)
    units = answer.found.units if answer.found is not None else ()
    matches, missing = _words_in(view, units, doc)
    why = Explanation(words, True, None, None, matches, missing)
    if place_of(evaluation.docs, doc) is None:
        return why
    score = None if answer.scores is None else float(answer.scores[answer.docs.searchsorted(doc)])
    parts = _explain_score(evaluation, doc, score) if score else ()
    placed = order.placement.placed(document_id, evaluation.group_of(doc))
    placed = placed or ("sold_out" if evaluation.puts_last(doc) else None)
    alone = evaluation.is_by_meaning_alone(doc)
    rank = order.rank(document_id, doc)
    return replace(why, rank=rank, score=score, parts=parts, placed=placed, by_meaning_alone=alone)


def _words_in(view: View, units: Sequence[UnitMatch], doc: int) -> tuple[tuple[FieldMatch, ...], tuple[str, ...]]:
    """Return (the words that each field of a document has, the words that it lacks)."""
    by_field: dict[str, dict[str, None]] = {}
    missing: list[str] = []
    for unit in units:
        found = list(_found_words(view, unit, doc))
        if place_of(unit.match.docs, doc) is None:
            present = {word for _, word in found}
            missing += (word for word in unit.words if word not in present)
        for field, word in found:
            by_field.setdefault(field, {})[word] = None
    return tuple(FieldMatch(field, tuple(words)) for field, words in by_field.items()), tuple(missing)


def _found_words(view: View, unit: UnitMatch, doc: int) -> Iterator[tuple[str, str]]:
    """Yield (field, word) for the words themselves, and for those of alternatives that the document has whole."""
    if unit.own is None:
        yield from ((field, unit.words[0]) for field in _fields_with(unit.match, doc))
        return
    for words in (unit.words, *unit.alternatives):
        if words == unit.words or place_of(alternative_matches(view, words, unit.optional).docs, doc) is not None:
            for word, match in zip(words, match_words(view, words), strict=True):
                yield from ((field, word) for field in _fields_with(match, doc))


def _fields_with(matches: Matches, doc: int) -> list[str]:
    at = place_of(matches.docs, doc)
    bits = 0 if at is None else int(matches.fields[at])
    return [field for bit, field in enumerate(FIELDS) if bits & 1 << bit]


def _explain_score(evaluation: Evaluation, doc: int, score: float) -> tuple[ScorePart, ...]:
    """Return the parts of a document's score by words and by meaning, the largest first."""
    answer = evaluation.answer
    if answer.found is None:
        return ()
    if answer.near is None:
        return _score_parts(evaluation, answer.found, doc, score)
    at = int(answer.docs.searchsorted(doc))
    meaning = float(answer.near[at])
    near = (ScorePart("meaning", None, (), meaning),) if meaning else ()
    if answer.alone is not None and answer.alone[at]:
        return near
    parts = _score_parts(evaluation, answer.found, doc, score - meaning)
    return tuple(sorted((*parts, *near), key=lambda part: -part.worth))


def _score_parts(evaluation: Evaluation, found: Found, doc: int, score: float) -> tuple[ScorePart, ...]:
    """Return the parts of a document's score, the largest first; they sum up to `score`."""
    view, words, exact = evaluation.view, evaluation.answer.words, quoted_words(evaluation.request.words)

    def field_score(field: str, word: str) -> float:
        return _field_score(view, field, word, doc)

    def form_score(field: str, word: str) -> tuple[float, tuple[str, ...]]:
        return _form_score(view, field, word, doc)

    longer = partial(completions, vocabulary=Vocabulary(view))
    raw: list[ScorePart] = []
    for unit in found.units:
        ways = readings(unit.words, unit.alternatives, words, longer, exact)
        raw += unit_parts(_value_at(unit.match.docs, unit.match.scores, doc), ways, field_score, form_score)
    raw += bonus_parts(words, field_score)
    lifts = [(lift.kind, _value_at(found.docs, lift.factors, doc)) for lift in found.lifts]
    return tuple(sorted(scaled_parts(raw, lifts, score), key=lambda part: -part.worth))


def _field_score(view: View, field: str, term: str, doc: int) -> float:
    scored = field_scores(view, field, term)
    return 0.0 if scored is None else _value_at(*scored, doc)


def _form_score(view: View, field: str, word: str, doc: int) -> tuple[float, tuple[str, ...]]:
    """Return what the forms of a word score in a text field of a document, and those that it has."""
    shared = root(word)
    forms = [] if shared is None else view.forms(shared)
    scored = form_scores(view, field, forms)
    if scored is None or not (score := _value_at(*scored, doc)):
        return 0.0, ()
    return score, tuple(sorted(form for form in forms if _field_score(view, field, form, doc)))


def _value_at(docs: Docs | npt.NDArray[np.int32], scores: npt.NDArray[np.floating], doc: int) -> float:
    at = place_of(docs, doc)
    return 0.0 if at is None else float(scores[at])
