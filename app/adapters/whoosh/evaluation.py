"""One request against one view, up to the documents that are found and their order."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from app.adapters.whoosh.facets import Filters, all_of, filter_mask, group_mask
from app.adapters.whoosh.matching import Found, ViewIndex, missing_units
from app.adapters.whoosh.meaning import Meaning, meaning_of
from app.adapters.whoosh.ordering import (
    Keys,
    PlacedOrder,
    by_tier,
    pinned_docs,
    sold_out_last,
    sort_keys,
    tiers_of_groups,
)
from app.adapters.whoosh.scoring import Scores, in_stock
from app.adapters.whoosh.view import Docs, Mask, View
from app.domain.search.engine import PlacedGroup, SearchRequest, Sort, ValueFilter
from app.domain.search.ranking import spelling
from app.domain.search.ranking.query import Query
from app.domain.search.ranking.scoring import group_tiers
from app.domain.search.sentence_model import MeaningLateError, Meanings

N = TypeVar("N", bound=np.generic)


class Evaluation:
    """One request evaluated up to the documents that are shown, before any is read."""

    def __init__(self, view: View, request: SearchRequest, meanings: Meanings | None = None) -> None:
        self.view, self.request = view, request
        self.answer = _answer_words(view, request)
        self.lacks_meaning = False
        self.meaning = self._find_meaning(meanings)
        if self.meaning is not None:
            self.answer = _with_meaning(view, request, self.answer, self.meaning)
        if request.pins:
            self.answer = _add_pinned(self.answer, pinned_docs(view, request, _allowed(view, request.scope)))
        self.filters = Filters(view, request, self.answer.docs)
        self.passing = self.filters.mask()
        self.docs = self.answer.docs if self.passing is None else self.answer.docs[self.passing]

    def order(self) -> PlacedOrder:
        return PlacedOrder.of(self.view, self.request, self.docs, self._keys(), self._alone)

    @property
    def _alone(self) -> Mask | None:
        """Return the mask of those of `docs` that are found by their meaning alone; None for none."""
        alone = self.answer.alone
        return alone if alone is None or self.passing is None else alone[self.passing]

    def is_by_meaning_alone(self, doc: int) -> bool:
        """Return whether the words do not find one of the results, which is found by its meaning."""
        alone = self.answer.alone
        return alone is not None and bool(alone[self.answer.docs.searchsorted(doc)])

    def _keys(self) -> Keys:
        """Return the keys by which the documents are ordered where none is placed by its id."""
        keys, groups = self._own_keys(), self.request.groups
        if not groups or self.request.sort is not Sort.RELEVANCE:
            return keys
        return by_tier(keys, tiers_of_groups(self.view, self.docs, groups, self._alone))

    def _own_keys(self) -> Keys:
        scores = self.answer.scores
        if self.request.sort is Sort.RELEVANCE and scores is not None:
            keys = scores if self.answer.keys is None else self.answer.keys
            keys = keys if self.passing is None else keys[self.passing]
            if not self.request.ranking.sold_out_last:
                return keys
            full = self.answer.full
            full = full if full is None or self.passing is None else full[self.passing]
            return sold_out_last(self.view, self.docs, keys, full)
        return sort_keys(self.view, self.docs, self.request)

    def puts_last(self, doc: int) -> bool:
        """Return whether a document stands behind the others because it is sold out."""
        request = self.request
        by_relevance = request.sort is Sort.RELEVANCE and request.ranking.sold_out_last
        return by_relevance and not in_stock(self.view)[doc]

    def group_of(self, doc: int) -> PlacedGroup | None:
        """Return the group that places one of the results, None for none."""
        if self.request.sort is not Sort.RELEVANCE:
            return None
        may_boost = not self.is_by_meaning_alone(doc)
        groups = (group for group in self.request.groups if may_boost or not group.is_boosted)
        return next((group for group in groups if group_mask(self.view, group)[doc]), None)

    def similar(self) -> tuple[Docs, Scores]:
        """Return the documents near in meaning to show beside a short list of results, the nearest first, and their
        cosines."""
        request = self.request
        if self.meaning is None or request.page != 1 or len(self.docs) >= request.similar_below:
            return self.docs[:0], np.zeros(0, np.float32)
        others = np.ones(self.view.size, np.bool_)
        others[self.answer.docs] = False
        buried = (self.view.document_of(document_id) for document_id in self.request.buries)
        others[[doc for doc in buried if doc is not None]] = False
        if request.groups:
            _, ordinary = group_tiers(request.groups)
            others &= tiers_of_groups(self.view, np.arange(self.view.size), request.groups) <= ordinary
        in_scope = _allowed(self.view, self.request.scope)
        for mask in (*self.filters.masks_of_all(), *([] if in_scope is None else [in_scope])):
            others &= mask
        return self.meaning.similar(others)

    def _find_meaning(self, meanings: Meanings | None) -> Meaning | None:
        """Return the meaning of the words; None where words alone rank, or where their vector is late."""
        request, answer = self.request, self.answer
        if meanings is None or not request.by_meaning or request.is_typing or not answer.words:
            return None
        text = answer.suggestion if answer.corrected and answer.suggestion else request.words
        try:
            return meaning_of(self.view, meanings, text, answer.words, request)
        except MeaningLateError:
            self.lacks_meaning = True
            return None

    def count(self, which: Mask | None) -> int:
        """Return the number of marked documents that pass the filters."""
        if which is None:
            return 0
        return int(np.count_nonzero(which if self.passing is None else which & self.passing))


@dataclass(frozen=True, slots=True)
class WordMatches:
    """The documents that answer the words, before the shopper's filters. `scores` is None without words, `full` marks
    the documents that have all the words, None where all of them do. `words` are those that were searched in the end,
    and `found` is what they found; `added` marks the documents that a pin alone put among them.
    `alone` marks those that are found by their meaning alone. With `keys`, of the order by relevance, the scores are
    points by words and by meaning, and `near` are those by meaning."""

    docs: Docs
    scores: Keys | None = None
    suggestion: str | None = None
    corrected: bool = False
    full: Mask | None = None
    words: tuple[str, ...] = ()
    found: Found | None = None
    added: Mask | None = None
    alone: Mask | None = None
    keys: Keys | None = None
    near: Scores | None = None


def _answer_words(view: View, request: SearchRequest) -> WordMatches:
    """Return the documents that answer the words of a request within its scope."""
    allowed = _allowed(view, request.scope)
    query = Query.of(request)
    if query.words:
        found = spelling.answer(ViewIndex(view, request, allowed), request, query)
        matched = found.found
        return WordMatches(
            matched.docs, matched.scores, found.suggestion, found.corrected, matched.full, found.query.words, matched
        )
    # A search of words without any letter or digit finds nothing.
    docs = _list_docs(view, request.scope)
    return WordMatches(docs[:0] if request.words.strip() else docs)


def _with_meaning(view: View, request: SearchRequest, answer: WordMatches, meaning: Meaning) -> WordMatches:
    """Return the answer with the documents that meaning adds and with the order by words and by meaning. Where the
    words name a level, nothing is added."""
    found, scores = answer.found, answer.scores
    if found is None or scores is None:
        return answer
    if any(lift.kind == "level_name" for lift in found.lifts):
        if request.sort is not Sort.RELEVANCE:
            return answer
        fusion = meaning.rank(answer.docs, scores, _tiers(view, answer))
        return replace(answer, scores=fusion.points, keys=fusion.keys, near=fusion.near)
    allowed = _allowed(view, request.scope)
    in_scope = None if allowed is None else np.flatnonzero(allowed)
    own = missing_units(view, found.units, answer.docs) if answer.full is None else np.zeros(len(answer.docs), np.intp)
    fusion = meaning.unite(answer.docs, scores, answer.full, own, in_scope)
    alone = fusion.alone
    assert alone is not None
    full = ~alone
    if answer.full is not None:
        full[~alone] = answer.full
    united = replace(answer, docs=fusion.docs, full=full, alone=alone)
    if request.sort is Sort.RELEVANCE:
        return replace(united, scores=fusion.points, keys=fusion.keys, near=fusion.near)
    by_words = np.zeros(len(alone), np.float32)
    by_words[~alone] = scores
    return replace(united, scores=by_words)


def _list_docs(view: View, scope: tuple[ValueFilter, ...]) -> Docs:
    """Return the documents of a listing without words, cached: many shoppers request the same category one after
    another."""

    def listed() -> Docs:
        allowed = _allowed(view, scope)
        return np.arange(view.size) if allowed is None else np.flatnonzero(allowed)

    return view.recent(("listing", scope), listed, lambda docs: docs.nbytes)


def _add_pinned(answer: WordMatches, pinned: Docs) -> WordMatches:
    """Return the answer with the pinned documents that the words do not find, in their places among the numbers."""
    new = pinned[~np.isin(pinned, answer.docs)]
    if not len(new):
        return answer
    at = answer.docs.searchsorted(new)

    def with_new(values: npt.NDArray[N] | None, value: float) -> npt.NDArray[N] | None:
        return None if values is None else np.insert(values, at, value)

    return replace(
        answer,
        docs=np.insert(answer.docs, at, new),
        scores=with_new(answer.scores, 0),
        full=with_new(answer.full, False),
        added=np.insert(np.zeros(len(answer.docs), np.bool_), at, True),
        alone=with_new(answer.alone, False),
        keys=with_new(answer.keys, 0),
        near=with_new(answer.near, 0),
    )


def _tiers(view: View, answer: WordMatches) -> Docs:
    """Return the tier of each document, 0 first, which meaning cannot change where it adds nothing: documents that lack
    some of the words stand behind those that have them all, and alternatives behind the words themselves."""
    if answer.full is not None:
        return (~answer.full).astype(np.intp)
    return missing_units(view, () if answer.found is None else answer.found.units, answer.docs)


def _allowed(view: View, scope: Iterable[ValueFilter]) -> Mask | None:
    """Return the mask of live documents in a scope; None where that is all documents."""
    masks = [filter_mask(view, f) for f in scope]
    if view.live is not None:
        masks.append(view.live)
    return all_of(masks)
