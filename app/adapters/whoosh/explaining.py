"""Why a document is, or is not, among the results of a request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from app.adapters.whoosh.compounds import matches_of
from app.adapters.whoosh.evaluation import answer_words, keys_of
from app.adapters.whoosh.facet_column import Docs
from app.adapters.whoosh.filtering import Filters
from app.adapters.whoosh.placing import Placing, is_placed
from app.adapters.whoosh.score_parts import score_parts
from app.adapters.whoosh.scoring import FIELDS, Matches
from app.adapters.whoosh.units import Unit, answer_matches
from app.adapters.whoosh.view import View
from app.domain.search.engine import Explanation, FieldMatch, SearchRequest
from app.domain.search.text import query_words


def explain(view: View, request: SearchRequest, document_id: str) -> Explanation:
    words = query_words(request.words)
    doc = view.document_of(document_id)
    if doc is None:
        return Explanation(words, False, None, None, (), words)
    answer = answer_words(view, request)
    units = answer.found.units if answer.found is not None else ()
    matches, missing = _words_in(view, units, doc)
    why = Explanation(words, True, None, None, matches, missing)
    kept = Filters(view, request, answer.docs).kept()
    docs = answer.docs if kept is None else answer.docs[kept]
    if not _holds(docs, doc):
        return why
    score = None if answer.scores is None else float(answer.scores[answer.docs.searchsorted(doc)])
    parts = () if not score or answer.found is None else score_parts(view, answer.words, answer.found, doc, score)
    placing = Placing.of(view, _placings(request), docs, keys_of(view, request, answer, docs, kept))
    return replace(why, rank=placing.rank(doc), score=score, parts=parts, placed=placing.placed(doc))


def _placings(request: SearchRequest) -> SearchRequest:
    """Where the order is not that by relevance, nothing has a place of its own."""
    return request if is_placed(request) else replace(request, pins=(), boosts=(), buries=())


def _words_in(view: View, units: Sequence[Unit], doc: int) -> tuple[tuple[FieldMatch, ...], tuple[str, ...]]:
    """(the words that each field of a document has, the words that it lacks)."""
    by_field: dict[str, dict[str, None]] = {}
    missing: list[str] = []
    for unit in units:
        found = list(_found_words(view, unit, doc))
        if not fields_with(unit.match, doc):
            present = {word for _, word in found}
            missing += (word for word in unit.words if word not in present)
        for field, word in found:
            by_field.setdefault(field, {})[word] = None
    return tuple(FieldMatch(field, tuple(words)) for field, words in by_field.items()), tuple(missing)


def _found_words(view: View, unit: Unit, doc: int) -> Iterator[tuple[str, str]]:
    """(field, word) for the words themselves, and for those of answers that the document has whole."""
    if unit.own is None:
        yield from ((field, unit.words[0]) for field in fields_with(unit.match, doc))
        return
    for words in (unit.words, *unit.others):
        if words == unit.words or _holds(answer_matches(view, words, unit.optional).docs, doc):
            for word, match in zip(words, matches_of(view, words), strict=True):
                yield from ((field, word) for field in fields_with(match, doc))


def fields_with(matches: Matches, doc: int) -> list[str]:
    if not _holds(matches.docs, doc):
        return []
    bits = int(matches.fields[matches.docs.searchsorted(doc)])
    return [field for bit, field in enumerate(FIELDS) if bits & 1 << bit]


def _holds(docs: Docs, doc: int) -> bool:
    at = int(np.searchsorted(docs, doc))
    return at < len(docs) and bool(docs[at] == doc)
