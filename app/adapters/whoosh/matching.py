"""From words to the documents that answer them: all words first, then as many as there are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from heapq import nsmallest

import numpy as np
import numpy.typing as npt

from app.adapters.whoosh.compounds import matches_of
from app.adapters.whoosh.facet_column import Docs, Mask
from app.adapters.whoosh.intent import lifted
from app.adapters.whoosh.scoring import FieldScores, Matches, Scores, field_scores, united, word_matches
from app.adapters.whoosh.view import View
from app.adapters.whoosh.vocabulary import vocabulary_of
from app.domain.search.text import LINKING_WORDS, joined, neighbours

ENOUGH = 12
FEW = 4
PREFIX_EXPANSIONS = 40
PREFIX_WORTH = 0.4
SHORTEST_CODE = 4
PHRASE_WEIGHT = 3.0
CODE_WEIGHT = 100.0


@dataclass(frozen=True, slots=True)
class Found:
    """The documents that answer, rising, and their scores. `full` tells which of them have all the words; None where
    all of them do."""

    docs: Docs
    scores: Scores
    full: Mask | None = None


def find(view: View, words: Sequence[str], allowed: Mask | None, *, prefix_last: bool) -> Found:
    """All words must match; when few documents do, the last word may be the beginning of one, and when very
    few do still, documents with fewer of the words follow. Words that no document has together find nothing here:
    a better spelling comes before fewer words."""
    matches = matches_of(view, words)
    found = match_all(view, matches, words, allowed)
    if prefix_last and len(found.docs) < ENOUGH:
        last = _begun(view, words[-1], matches[-1])
        if len(last.docs) > len(matches[-1].docs):
            found = match_all(view, [*matches[:-1], last], words, allowed)
    if len(found.docs) < FEW and _may_relax(words):
        if not len(found.docs):
            return found
        some = match_some(view, words, allowed)
        return replace(some, full=np.isin(some.docs, found.docs))
    return Found(found.docs, _finished(view, words, found))


def _may_relax(words: Sequence[str]) -> bool:
    """Words with digits name one thing: fewer of them would name another."""
    return len(words) > 1 and not any(character.isdigit() for word in words for character in word)


def _finished(view: View, words: Sequence[str], found: Found) -> Scores:
    return lifted(view, found.docs, found.scores + bonus(view, words, found.docs))


def match_all(view: View, matches: Sequence[Matches], words: Sequence[str], allowed: Mask | None) -> Found:
    needed = [m for m, word in zip(matches, words, strict=True) if word not in LINKING_WORDS] or list(matches)
    needed.sort(key=lambda m: len(m.docs))
    docs = needed[0].docs
    if allowed is not None:
        docs = docs[allowed[docs]]
    for other in needed[1:]:
        docs = docs[member(view, other, docs)]
    scores = np.zeros(len(docs), np.float32)
    for match in matches:
        scores += _scores_at(view, match, docs)
    return Found(docs, scores)


def match_some(view: View, words: Sequence[str], allowed: Mask | None) -> Found:
    """The documents with the most of the words: one word less at a time until there are enough of them.
    What scores is weighed by the square of the share of words that match. For words that no document has together."""
    matches = matches_of(view, words)
    counts = np.zeros(view.size, np.uint8)
    totals = np.zeros(view.size, np.float32)
    for match, word in zip(matches, words, strict=True):
        if word not in LINKING_WORDS:
            counts[match.docs] += np.uint8(1)
        totals[match.docs] += match.scores
    if allowed is not None:
        counts *= allowed
    docs = _with_most(counts, len(words))
    share = (counts[docs] / max(len(words), 1)).astype(np.float32)
    scores = _finished(view, words, Found(docs, totals[docs] * share * share))
    return Found(docs, scores, full=np.zeros(len(docs), np.bool_))


def _with_most(counts: npt.NDArray[np.uint8], most: int) -> Docs:
    """The documents with the highest counts, as many counts down as it takes to have enough of them."""
    docs = np.flatnonzero(counts > 0)
    found = counts[docs]
    at_least = np.bincount(found, minlength=most + 1)[::-1].cumsum()[::-1]
    enough = [count for count in range(most, 0, -1) if at_least[count] >= ENOUGH]
    return docs[found >= enough[0]] if enough else docs


def _begun(view: View, beginning: str, match: Matches) -> Matches:
    """`match` is what the word finds, which may be more than the word alone, and stays among what is found."""
    begun = begun_word(view, beginning)
    if len(match.docs) == len(word_matches(view, beginning).docs):
        return begun
    return united(view, [(match, 1.0), (begun, 1.0)])


def begun_word(view: View, beginning: str) -> Matches:
    """The word itself and, for less, the words that begin with it."""
    return view.recent(("begun", beginning), lambda: _begun_word(view, beginning), Matches.size_in_bytes)


def _begun_word(view: View, beginning: str) -> Matches:
    longer = [(word_matches(view, word), PREFIX_WORTH) for word in longer_words(view, beginning)]
    return united(view, [(word_matches(view, beginning), 1.0), *longer])


def longer_words(view: View, beginning: str) -> list[str]:
    """The commonest words of the index that begin so, then codes that do."""
    if len(beginning) < 2:
        return []
    vocabulary = vocabulary_of(view)
    longer = vocabulary.beginning_with(beginning) - {beginning}
    common = nsmallest(PREFIX_EXPANSIONS, longer, key=lambda word: (-vocabulary.frequency(word), word))
    if len(beginning) < SHORTEST_CODE or len(common) == PREFIX_EXPANSIONS:
        return common
    found = [s.terms_from("codes", beginning.encode(), PREFIX_EXPANSIONS) for s in view.segments]
    codes = [term.decode() for terms in found for term, _ in terms]
    return [*common, *(code for code in codes if code != beginning)][:PREFIX_EXPANSIONS]


def bonus(view: View, words: Sequence[str], docs: Docs) -> Scores:
    """Words that stand side by side in the name, and words that together are a code, count on top."""
    extra = np.zeros(len(docs), np.float32)
    for pair in neighbours(words):
        extra += _exact(view, "pairs", pair, docs, PHRASE_WEIGHT)
    extra += _exact(view, "codes", joined(words), docs, CODE_WEIGHT)
    return extra


def _exact(view: View, field: str, term: str, docs: Docs, weight: float) -> Scores:
    scored = view.recent(("exact", field, term), lambda: field_scores(view, field, term.encode()), _size)
    extra = np.zeros(len(docs), np.float32)
    if scored is None or not len(docs):
        return extra
    holders, scores = scored
    places = np.minimum(np.searchsorted(docs, holders), len(docs) - 1)
    present = docs[places] == holders
    extra[places[present]] = weight * scores[present]
    return extra


def _size(scored: FieldScores | None) -> int:
    return 0 if scored is None else scored[0].nbytes + scored[1].nbytes


def member(view: View, match: Matches, docs: Docs) -> Mask:
    """Which of `docs` match."""
    if len(docs) * 64 < view.size and len(match.docs):
        places = np.minimum(np.searchsorted(match.docs, docs), len(match.docs) - 1)
        return np.equal(match.docs[places], docs)
    mask = np.zeros(view.size, np.bool_)
    mask[match.docs] = True
    return mask[docs]


def _scores_at(view: View, match: Matches, docs: Docs) -> Scores:
    """The scores of a word at `docs`, zero where it is not found."""
    if not len(match.docs) or not len(docs):
        return np.zeros(len(docs), np.float32)
    if len(docs) * 64 < view.size:
        places = np.minimum(np.searchsorted(match.docs, docs), len(match.docs) - 1)
        return np.where(match.docs[places] == docs, match.scores[places], np.float32(0))
    dense = np.zeros(view.size, np.float32)
    dense[match.docs] = match.scores
    return dense[docs]
