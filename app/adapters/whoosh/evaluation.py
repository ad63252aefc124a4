"""One request against one view: total, page, counts and ranges together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from app.adapters.whoosh.facet_column import Docs, Mask
from app.adapters.whoosh.matching import Found, find, match_some
from app.adapters.whoosh.ordering import Keys, page_of, sort_keys
from app.adapters.whoosh.spelling import Spelling, as_written, corrections, replaced, slips
from app.adapters.whoosh.view import View
from app.domain.search.engine import Hit, RangeCount, RangeFilter, SearchRequest, SearchResult, Sort, ValueFilter
from app.domain.search.text import MAX_CHARACTERS, query_words, stem, tokens

FACET_VALUES = 1_000


@dataclass(frozen=True, slots=True)
class Answer:
    """The documents that answer the words, before the shopper's filters. `scores` is None without words."""

    docs: Docs
    scores: Keys | None
    suggestion: str | None = None
    corrected: bool = False
    relaxed: bool = False


def evaluate(view: View, request: SearchRequest) -> SearchResult:
    if not view.size:
        return SearchResult(0)
    answer = answer_words(view, request)
    filters = Filters(view, request, answer.docs)
    kept = filters.kept()
    return SearchResult(
        total=int(np.count_nonzero(kept)) if kept is not None else len(answer.docs),
        hits=_page(view, request, answer, kept),
        facets=filters.facets(),
        ranges=filters.ranges(),
        suggestion=answer.suggestion,
        corrected=answer.corrected,
        relaxed=answer.relaxed,
    )


def answer_words(view: View, request: SearchRequest) -> Answer:
    words = query_words(request.words)
    if not words:
        docs = _all_docs(view, request.scope)
        # Words that hold no letter or digit ask for something and find nothing.
        return Answer(docs[:0] if request.words.strip() else docs, None)
    allowed = _allowed(view, request.scope)
    found = find(view, words, allowed, prefix_last=request.prefix_last)
    better = corrections(view, words, last_may_go_on=request.prefix_last)
    if not len(found.docs) and not better and len(words) > 1:
        better = slips(view, words)
    suggestion = suggested(view, request.words, better)
    if len(found.docs):
        return _answer(found, suggestion)
    if better and request.correct:
        corrected = replaced(words, better)
        found = find(view, corrected, allowed, prefix_last=False)
        found = found if len(found.docs) else match_some(view, corrected, allowed)
        if len(found.docs):
            return _answer(found, suggestion, corrected=True)
    return _answer(match_some(view, words, allowed), suggestion)


def suggested(view: View, typed: str, better: Mapping[str, Spelling]) -> str | None:
    """The typed words with the better spellings in their places, written as the catalogue writes them."""
    if not better:
        return None
    spoken = {word: " ".join(as_written(view, part) for part in spelling) for word, spelling in better.items()}
    return " ".join(spoken.get(stem(token), token) for token in tokens(typed[:MAX_CHARACTERS]))


def _answer(found: Found, suggestion: str | None, *, corrected: bool = False) -> Answer:
    return Answer(found.docs, found.scores, suggestion, corrected, found.relaxed and bool(len(found.docs)))


def _all_docs(view: View, scope: tuple[ValueFilter, ...]) -> Docs:
    """Every document of a listing without words: a category, say, which many ask for one after another."""

    def listed() -> Docs:
        allowed = _allowed(view, scope)
        return np.arange(view.size) if allowed is None else np.flatnonzero(allowed)

    return view.recent(("listing", scope), listed, lambda docs: docs.nbytes)


def _allowed(view: View, scope: Iterable[ValueFilter]) -> Mask | None:
    masks = [value_mask(view, f) for f in scope]
    if view.live is not None:
        masks.append(view.live)
    return _all_of(masks)


def value_mask(view: View, chosen: ValueFilter) -> Mask:
    return view.recent(("mask", chosen), lambda: view.value_mask(chosen.name, chosen.values), lambda mask: mask.nbytes)


def _range_mask(view: View, chosen: RangeFilter) -> Mask:
    numbers = view.numbers(chosen.name)
    low = -np.inf if chosen.low is None else chosen.low
    high = np.inf if chosen.high is None else chosen.high
    return (numbers >= low) & (numbers <= high)


def _all_of(masks: Sequence[Mask]) -> Mask | None:
    return reduce(np.logical_and, masks) if masks else None


class Filters:
    """The shopper's filters over the documents that answer. Each facet is counted without its own filter."""

    def __init__(self, view: View, request: SearchRequest, docs: Docs) -> None:
        self._view, self._request, self._docs = view, request, docs
        self._values: list[tuple[str, Mask]] = [(f.name, value_mask(view, f)[docs]) for f in request.filters]
        self._ranges: list[tuple[str, Mask]] = [(f.name, _range_mask(view, f)[docs]) for f in request.ranges]
        kept = self.kept()
        self._kept_docs = docs if kept is None else docs[kept]

    def kept(self) -> Mask | None:
        """Which of the documents pass all filters; None when there are none."""
        return _all_of([mask for _, mask in (*self._values, *self._ranges)])

    def facets(self) -> Mapping[str, tuple[tuple[str, int], ...]]:
        facets = {}
        for name in self._request.facets:
            docs = self._without(self._ranges, [f for f in self._values if f[0] != name], self._values)
            facets[name] = self._view.facet(name).counts(docs, FACET_VALUES)
        return facets

    def ranges(self) -> Mapping[str, RangeCount]:
        ranges = {}
        for name in self._request.range_facets:
            docs = self._without(self._values, [f for f in self._ranges if f[0] != name], self._ranges)
            ranges[name] = _range_count(self._view, name, docs)
        return ranges

    def _without(
        self, other: list[tuple[str, Mask]], rest: list[tuple[str, Mask]], all_of_kind: list[tuple[str, Mask]]
    ) -> Docs:
        if len(rest) == len(all_of_kind):
            return self._kept_docs
        mask = _all_of([mask for _, mask in (*other, *rest)])
        return self._docs if mask is None else self._docs[mask]


def _range_count(view: View, name: str, docs: Docs) -> RangeCount:
    numbers = view.numbers(name)[docs]
    numbers = numbers[~np.isnan(numbers)]
    if not len(numbers):
        return RangeCount(None, None, 0)
    return RangeCount(float(numbers.min()), float(numbers.max()), len(numbers))


def _page(view: View, request: SearchRequest, answer: Answer, kept: Mask | None) -> tuple[Hit, ...]:
    if request.per_page <= 0 or request.page < 1:
        return ()
    docs = answer.docs if kept is None else answer.docs[kept]
    if request.sort is Sort.RELEVANCE and answer.scores is not None:
        keys = answer.scores if kept is None else answer.scores[kept]
    else:
        keys = sort_keys(view, docs, request.sort, request.first)
    shown = page_of(docs, keys, request.page, request.per_page)
    found = zip(view.ids_and_cards(shown), _scores_of(answer, shown), strict=True)
    return tuple(Hit(document_id, score, card) for (document_id, card), score in found)


def _scores_of(answer: Answer, shown: Docs) -> list[float]:
    if answer.scores is None:
        return [0.0] * len(shown)
    scores: list[float] = answer.scores[answer.docs.searchsorted(shown)].tolist()
    return scores
