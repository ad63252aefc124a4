"""Explanations why a document is, or is not, among the results of a request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from app.adapters.whoosh.evaluation import Evaluation
from app.adapters.whoosh.meaning import Meanings
from app.adapters.whoosh.placing import PlacedOrder
from app.adapters.whoosh.score_parts import score_parts
from app.adapters.whoosh.scoring import Matches, place_of
from app.adapters.whoosh.unit_matches import UnitMatch, alternative_matches, matches_of
from app.adapters.whoosh.view import View
from app.domain.search.engine import Explanation, FieldMatch, ScorePart, SearchRequest
from app.domain.search.ranking.scoring import FIELDS
from app.domain.search.text import query_words


def explain(view: View, request: SearchRequest, document_id: str, meanings: Meanings | None = None) -> Explanation:
    evaluation = Evaluation(view, replace(request, patient=True), meanings)
    return explained(evaluation, evaluation.order(), document_id)


def explained(evaluation: Evaluation, order: PlacedOrder, document_id: str) -> Explanation:
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
    parts = _parts(evaluation, doc, score) if score else ()
    placed = order.placement.placed(document_id) or ("sold_out" if evaluation.puts_last(doc) else None)
    return replace(why, rank=order.rank(document_id, doc), score=score, parts=parts, placed=placed)


def _parts(evaluation: Evaluation, doc: int, score: float) -> tuple[ScorePart, ...]:
    view, answer = evaluation.view, evaluation.answer
    if answer.found is None:
        return ()
    if answer.fusion is None:
        return score_parts(view, answer.words, answer.found, doc, score)
    meaning = answer.fusion.meaning_at(int(answer.docs.searchsorted(doc)))
    parts = score_parts(view, answer.words, answer.found, doc, score - meaning)
    near = (ScorePart("meaning", None, (), meaning),) if meaning else ()
    return tuple(sorted((*parts, *near), key=lambda part: -part.worth))


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
            for word, match in zip(words, matches_of(view, words), strict=True):
                yield from ((field, word) for field in _fields_with(match, doc))


def _fields_with(matches: Matches, doc: int) -> list[str]:
    at = place_of(matches.docs, doc)
    bits = 0 if at is None else int(matches.fields[at])
    return [field for bit, field in enumerate(FIELDS) if bits & 1 << bit]
