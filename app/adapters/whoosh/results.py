"""The results of a search: total, page, counts and ranges together, and why a document is, or is not, among them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import prod

import numpy as np
import numpy.typing as npt

from app.adapters.whoosh.evaluation import Evaluation
from app.adapters.whoosh.generation import readable
from app.adapters.whoosh.matching import Found, UnitMatch, Vocabulary, alternative_matches, match_words
from app.adapters.whoosh.ordering import PlacedOrder
from app.adapters.whoosh.scoring import Lift, Matches, field_scores, place_of
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
from app.domain.search.ranking.query import completions, with_neighbours_joined
from app.domain.search.ranking.scoring import (
    ALTERNATIVE_WORTH,
    CODE_WEIGHT,
    COMPOUND_WORTH,
    FIELDS,
    PHRASE_WEIGHT,
    PREFIX_WORTH,
    field_weight,
)
from app.domain.search.sentence_model import Meanings
from app.domain.search.text import joined, query_words

_CLOSE = 1e-3  # Of a score: sums of small floats differ in their last digits.


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
    by_words = total - evaluation.count(answer.added)
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
    placed = order.placement.placed(document_id) or ("sold_out" if evaluation.puts_last(doc) else None)
    return replace(why, rank=order.rank(document_id, doc), score=score, parts=parts, placed=placed)


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
    view, answer = evaluation.view, evaluation.answer
    if answer.found is None:
        return ()
    if answer.fusion is None:
        return _score_parts(view, answer.words, answer.found, doc, score)
    meaning = answer.fusion.meaning_at(int(answer.docs.searchsorted(doc)))
    parts = _score_parts(view, answer.words, answer.found, doc, score - meaning)
    near = (ScorePart("meaning", None, (), meaning),) if meaning else ()
    return tuple(sorted((*parts, *near), key=lambda part: -part.worth))


def _score_parts(view: View, words: Sequence[str], found: Found, doc: int, score: float) -> tuple[ScorePart, ...]:
    """Return the parts of a document's score, the largest first; they sum up to `score`. What scales the whole score,
    such as the share of the words that the document has, scales each part; each lift is a part of its own, below zero
    where it takes away."""
    raw = [part for unit in found.units for part in _unit_parts(view, unit, words, doc)]
    raw += _bonus_parts(view, words, doc)
    total = _total(raw)
    if not total:
        return ()
    factors = [(lift, _value_at(found.docs, lift.factors, doc)) for lift in found.lifts]
    unlifted = score / prod(factor for _, factor in factors)
    parts = [ScorePart(part.kind, part.field, part.words, part.worth * unlifted / total) for part in raw]
    parts += _lift_parts(unlifted, factors)
    return tuple(sorted(parts, key=lambda part: -part.worth))


def _unit_parts(view: View, unit: UnitMatch, words: Sequence[str], doc: int) -> list[ScorePart]:
    """Return the parts of a unit's score, by the reading that gives what the unit scores, or comes nearest."""
    worth = _value_at(unit.match.docs, unit.match.scores, doc)
    if not worth:
        return []
    best: list[ScorePart] = []
    for reading in _readings(view, unit, words):
        parts = _reading_parts(view, reading, doc)
        if parts and (not best or abs(_total(parts) - worth) < abs(_total(best) - worth)):
            best = parts
        if abs(_total(best) - worth) <= _CLOSE * worth:
            break
    return best


@dataclass(frozen=True, slots=True)
class _Reading:
    """One way in which a unit is found in a document: these words, for this share of what they score."""

    kind: str
    words: tuple[str, ...]
    worth: float


def _readings(view: View, unit: UnitMatch, words: Sequence[str]) -> Iterator[_Reading]:
    """Yield the ways in which a unit may be found."""
    yield _Reading("word", unit.words, 1.0)
    for other in unit.alternatives:
        for spelled in (other, *with_neighbours_joined(other)):
            yield _Reading("alternative", spelled, ALTERNATIVE_WORTH * len(unit.words) / len(other))
    for first, second in pairwise(words):
        if first in unit.words or second in unit.words:
            yield _Reading("word", (first + second,), COMPOUND_WORTH)
    if words and unit.words[-1] == words[-1]:
        for longer in completions(words[-1], Vocabulary(view)):
            yield _Reading("beginning", (*unit.words[:-1], longer), PREFIX_WORTH)


def _reading_parts(view: View, reading: _Reading, doc: int) -> list[ScorePart]:
    parts = []
    for word in reading.words:
        for field in FIELDS:
            worth = reading.worth * field_weight(field) * _field_score(view, field, word, doc)
            if worth:
                parts.append(ScorePart(reading.kind, field, (word,), worth))
    return parts


def _bonus_parts(view: View, words: Sequence[str], doc: int) -> Iterator[ScorePart]:
    for first, second in pairwise(words):
        if worth := PHRASE_WEIGHT * _field_score(view, "pairs", first + second, doc):
            yield ScorePart("side_by_side", "name", (first, second), worth)
    if worth := CODE_WEIGHT * _field_score(view, "codes", joined(words), doc):
        yield ScorePart("code", "codes", tuple(words), worth)


def _lift_parts(score: float, factors: Sequence[tuple[Lift, float]]) -> Iterator[ScorePart]:
    for lift, factor in factors:
        if factor != 1:
            yield ScorePart(lift.kind, None, (), score * (factor - 1))
        score *= factor


def _total(parts: Sequence[ScorePart]) -> float:
    return sum(part.worth for part in parts)


def _field_score(view: View, field: str, term: str, doc: int) -> float:
    scored = field_scores(view, field, term)
    return 0.0 if scored is None else _value_at(*scored, doc)


def _value_at(docs: Docs | npt.NDArray[np.int32], scores: npt.NDArray[np.floating], doc: int) -> float:
    at = place_of(docs, doc)
    return 0.0 if at is None else float(scores[at])
