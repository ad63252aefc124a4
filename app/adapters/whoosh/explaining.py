"""Why a document is, or is not, among the results of a request."""

from __future__ import annotations

import numpy as np

from app.adapters.whoosh.compounds import matches_of
from app.adapters.whoosh.evaluation import Answer, answer_words
from app.adapters.whoosh.facet_column import Docs, Mask
from app.adapters.whoosh.filtering import Filters
from app.adapters.whoosh.ordering import Keys, sort_keys
from app.adapters.whoosh.scoring import FIELDS, Matches
from app.adapters.whoosh.view import View
from app.domain.search.engine import Explanation, FieldMatch, SearchRequest, Sort
from app.domain.search.text import query_words


def explain(view: View, request: SearchRequest, document_id: str) -> Explanation:
    words = query_words(request.words)
    doc = view.document_of(document_id)
    if doc is None:
        return Explanation(words, False, None, None, (), words)
    by_field: dict[str, list[str]] = {}
    missing = []
    for word, match in zip(words, matches_of(view, words), strict=True):
        fields = _fields_with(match, doc)
        if not fields:
            missing.append(word)
        for field in fields:
            by_field.setdefault(field, []).append(word)
    matches = tuple(FieldMatch(field, tuple(found)) for field, found in by_field.items())
    rank, score = _rank(view, request, doc)
    return Explanation(words, True, rank, score, matches, tuple(missing))


def _fields_with(matches: Matches, doc: int) -> list[str]:
    place = int(np.searchsorted(matches.docs, doc))
    if place == len(matches.docs) or matches.docs[place] != doc:
        return []
    bits = int(matches.fields[place])
    return [field for bit, field in enumerate(FIELDS) if bits & 1 << bit]


def _rank(view: View, request: SearchRequest, doc: int) -> tuple[int | None, float | None]:
    answer = answer_words(view, request)
    kept = Filters(view, request, answer.docs).kept()
    kept = np.ones(len(answer.docs), np.bool_) if kept is None else kept
    docs = answer.docs[kept]
    place = np.flatnonzero(docs == doc)
    if not len(place):
        return None, None
    keys = _keys(view, request, answer, docs, kept)
    own = keys[place[0]]
    rank = 1 + np.count_nonzero(keys > own) + np.count_nonzero(keys[: place[0]] == own)
    return int(rank), None if answer.scores is None else float(answer.scores[kept][place[0]])


def _keys(view: View, request: SearchRequest, answer: Answer, docs: Docs, kept: Mask) -> Keys:
    if request.sort is Sort.RELEVANCE and answer.scores is not None:
        return answer.scores[kept]
    return sort_keys(view, docs, request.sort, request.first)
