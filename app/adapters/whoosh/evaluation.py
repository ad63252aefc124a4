"""One request against one view, up to the documents that are found and their order."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from app.adapters.whoosh.facet_column import Docs, Mask
from app.adapters.whoosh.filtering import Filters, all_of, value_mask
from app.adapters.whoosh.matching import Found, ViewIndex
from app.adapters.whoosh.ordering import Keys, sort_keys
from app.adapters.whoosh.placing import PlacedOrder, pinned_docs
from app.adapters.whoosh.view import View
from app.domain.search.engine import SearchRequest, Sort, ValueFilter
from app.domain.search.ranking import strategy
from app.domain.search.ranking.query import Query


@dataclass(frozen=True, slots=True)
class WordMatches:
    """The documents that answer the words, before the shopper's filters. `scores` is None without words, `full` marks
    the documents that have all the words, None where all of them do. `found` is what the words that were searched in
    the end, `words`, found; `added` marks the documents that a pin alone put among them."""

    docs: Docs
    scores: Keys | None = None
    suggestion: str | None = None
    corrected: bool = False
    full: Mask | None = None
    words: tuple[str, ...] = ()
    found: Found | None = None
    added: Mask | None = None


class Evaluation:
    """One request evaluated up to the documents that are shown, before any is read."""

    def __init__(self, view: View, request: SearchRequest) -> None:
        self.view, self.request = view, request
        self.answer = answer_words(view, request)
        self.filters = Filters(view, request, self.answer.docs)
        self.kept = self.filters.kept()
        self.docs = self.answer.docs if self.kept is None else self.answer.docs[self.kept]

    def order(self) -> PlacedOrder:
        return PlacedOrder.of(self.view, self.request, self.docs, self._keys())

    def _keys(self) -> Keys:
        """Return the keys by which the documents are ordered where nothing is placed."""
        scores = self.answer.scores
        if self.request.sort is Sort.RELEVANCE and scores is not None:
            return scores if self.kept is None else scores[self.kept]
        return sort_keys(self.view, self.docs, self.request.sort, self.request.first)

    def count(self, which: Mask | None) -> int:
        """Return the number of marked documents that pass the filters."""
        if which is None:
            return 0
        return int(np.count_nonzero(which if self.kept is None else which & self.kept))


def answer_words(view: View, request: SearchRequest) -> WordMatches:
    allowed = _allowed(view, request.scope)
    query = Query.of(request)
    if query.words:
        found = strategy.answer(ViewIndex(view, request, allowed), request, query)
        matched = found.found
        answer = WordMatches(
            matched.docs,
            matched.scores,
            found.suggestion,
            found.corrected,
            matched.full,
            found.query.words,
            matched,
        )
    else:
        # Words that hold no letter or digit ask for something and find nothing.
        docs = _all_docs(view, request.scope)
        answer = WordMatches(docs[:0] if request.words.strip() else docs)
    return _with_pinned(answer, pinned_docs(view, request, allowed)) if request.pins else answer


def _with_pinned(answer: WordMatches, pinned: Docs) -> WordMatches:
    """Return the answer with the pinned documents that the words do not find, in their places among the numbers."""
    new = pinned[~np.isin(pinned, answer.docs)]
    if not len(new):
        return answer
    at = answer.docs.searchsorted(new)
    return replace(
        answer,
        docs=np.insert(answer.docs, at, new),
        scores=None if answer.scores is None else np.insert(answer.scores, at, np.float32(0)),
        full=None if answer.full is None else np.insert(answer.full, at, False),
        added=np.insert(np.zeros(len(answer.docs), np.bool_), at, True),
    )


def _all_docs(view: View, scope: tuple[ValueFilter, ...]) -> Docs:
    """Every document of a listing without words, cached: many shoppers request the same category one after another."""

    def listed() -> Docs:
        allowed = _allowed(view, scope)
        return np.arange(view.size) if allowed is None else np.flatnonzero(allowed)

    return view.recent(("listing", scope), listed, lambda docs: docs.nbytes)


def _allowed(view: View, scope: Iterable[ValueFilter]) -> Mask | None:
    masks = [value_mask(view, f) for f in scope]
    if view.live is not None:
        masks.append(view.live)
    return all_of(masks)
