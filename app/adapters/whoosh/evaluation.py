"""One request against one view: total, page, counts and ranges together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from app.adapters.whoosh.facet_column import Docs, Mask
from app.adapters.whoosh.filtering import Filters, all_of, value_mask
from app.adapters.whoosh.matching import Found, find, match_some
from app.adapters.whoosh.ordering import Keys, page_of, sort_keys
from app.adapters.whoosh.placing import Placing, is_placed, pinned_docs
from app.adapters.whoosh.spelling import Spelling, as_written, corrections, replaced, slips
from app.adapters.whoosh.units import Query, answered
from app.adapters.whoosh.view import View
from app.domain.search.engine import Hit, RangeCount, SearchRequest, SearchResult, Sort, ValueFilter
from app.domain.search.text import MAX_CHARACTERS, stem, tokens


@dataclass(frozen=True, slots=True)
class Answer:
    """The documents that answer the words, before the shopper's filters. `scores` is None without words,
    `full` tells which documents have all the words, None where all of them do. `found` is what the words that were
    searched in the end, `words`, found; `added` tells which documents a pin alone put among them."""

    docs: Docs
    scores: Keys | None
    suggestion: str | None = None
    corrected: bool = False
    full: Mask | None = None
    words: tuple[str, ...] = ()
    found: Found | None = None
    added: Mask | None = None


def evaluate(view: View, request: SearchRequest) -> SearchResult:
    if not view.size:
        return _nothing(request)
    answer = answer_words(view, request)
    filters = Filters(view, request, answer.docs)
    kept = filters.kept()
    total = int(np.count_nonzero(kept)) if kept is not None else len(answer.docs)
    added = _kept_count(answer.added, kept)
    full = _full_matches(answer, kept, total - added)
    return SearchResult(
        total=total,
        hits=_page(view, request, answer, kept),
        facets=filters.facets(),
        ranges=filters.ranges(),
        suggestion=answer.suggestion,
        corrected=answer.corrected,
        relaxed=full is not None and full < total - added,
        full_matches=full,
    )


def _full_matches(answer: Answer, kept: Mask | None, total: int) -> int | None:
    if answer.scores is None:
        return None
    return total if answer.full is None else _kept_count(answer.full, kept)


def _kept_count(which: Mask | None, kept: Mask | None) -> int:
    if which is None:
        return 0
    return int(np.count_nonzero(which if kept is None else which & kept))


def _nothing(request: SearchRequest) -> SearchResult:
    facets = {name: () for name in request.facets}
    return SearchResult(0, facets=facets, ranges={name: RangeCount(None, None, 0) for name in request.range_facets})


def answer_words(view: View, request: SearchRequest) -> Answer:
    query = Query.of(request)
    if not query.words:
        docs = _all_docs(view, request.scope)
        # Words that hold no letter or digit ask for something and find nothing.
        answer = Answer(docs[:0] if request.words.strip() else docs, None)
    else:
        answer = _answer_query(view, request, query)
    return _with_pinned(view, request, answer) if request.pins else answer


def _answer_query(view: View, request: SearchRequest, query: Query) -> Answer:
    allowed = _allowed(view, request.scope)
    found = find(view, query, allowed, prefix_last=request.prefix_last)
    right = answered(found.units) | request.optional if query.alternatives else request.optional
    better = corrections(view, query.words, right, last_may_go_on=request.prefix_last)
    if not len(found.docs) and not better and len(query.words) > 1:
        better = slips(view, query.words, right)
    suggestion = suggested(view, request.words, better)
    if len(found.docs):
        return _answer(query, found, suggestion)
    if better and request.correct:
        corrected = query.spelt(replaced(query.words, better))
        found = find(view, corrected, allowed, prefix_last=False)
        found = found if len(found.docs) else match_some(view, corrected, allowed)
        if len(found.docs):
            return _answer(corrected, found, suggestion, corrected=True)
    return _answer(query, match_some(view, query, allowed), suggestion)


def _with_pinned(view: View, request: SearchRequest, answer: Answer) -> Answer:
    """With the pinned documents that the words do not find, in their places among the numbers."""
    pinned = pinned_docs(view, request, _allowed(view, request.scope))
    new = pinned[~np.isin(pinned, answer.docs)]
    if not len(new):
        return answer
    at = answer.docs.searchsorted(new)
    count = len(answer.docs)
    return replace(
        answer,
        docs=np.insert(answer.docs, at, new),
        scores=None if answer.scores is None else np.insert(answer.scores, at, np.float32(0)),
        full=None if answer.full is None else np.insert(answer.full, at, False),
        added=np.insert(np.zeros(count, np.bool_), at, True),
    )


def suggested(view: View, typed: str, better: Mapping[str, Spelling]) -> str | None:
    """The typed words with the better spellings in their places, written as the catalogue writes them."""
    if not better:
        return None
    spoken = {word: " ".join(as_written(view, part) for part in spelling) for word, spelling in better.items()}
    return " ".join(spoken.get(stem(token), token) for token in tokens(typed[:MAX_CHARACTERS]))


def _answer(query: Query, found: Found, suggestion: str | None, *, corrected: bool = False) -> Answer:
    return Answer(found.docs, found.scores, suggestion, corrected, found.full, query.words, found)


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
    return all_of(masks)


def _page(view: View, request: SearchRequest, answer: Answer, kept: Mask | None) -> tuple[Hit, ...]:
    if request.per_page <= 0 or request.page < 1:
        return ()
    docs = answer.docs if kept is None else answer.docs[kept]
    keys = keys_of(view, request, answer, docs, kept)
    if is_placed(request):
        shown = Placing.of(view, request, docs, keys).page(request.page, request.per_page)
    else:
        shown = page_of(docs, keys, request.page, request.per_page)
    found = zip(view.ids_and_cards(shown), _scores_of(answer, shown), strict=True)
    return tuple(Hit(document_id, score, card) for (document_id, card), score in found)


def keys_of(view: View, request: SearchRequest, answer: Answer, docs: Docs, kept: Mask | None) -> Keys:
    """The keys of the documents that are kept, by which they are ordered where nothing is placed."""
    if request.sort is Sort.RELEVANCE and answer.scores is not None:
        return answer.scores if kept is None else answer.scores[kept]
    return sort_keys(view, docs, request.sort, request.first)


def _scores_of(answer: Answer, shown: Docs) -> list[float]:
    if answer.scores is None:
        return [0.0] * len(shown)
    scores: list[float] = answer.scores[answer.docs.searchsorted(shown)].tolist()
    return scores
