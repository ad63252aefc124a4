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
from app.adapters.whoosh.scoring import (
    FieldScores,
    Matches,
    Scores,
    field_scores,
    member,
    scores_at,
    united,
    word_matches,
)
from app.adapters.whoosh.units import BELOW, Query, Unit, own_words_first, units_of, words_alone
from app.adapters.whoosh.view import View
from app.adapters.whoosh.vocabulary import vocabulary_of
from app.domain.search.text import joined, neighbours

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
    all of them do. `units` are what was counted as words."""

    docs: Docs
    scores: Scores
    units: tuple[Unit, ...]
    full: Mask | None = None


def find(view: View, query: Query, allowed: Mask | None, *, prefix_last: bool) -> Found:
    """All words must match; when few documents do, the last word may be the beginning of one, and when very
    few do still, documents with fewer of the words follow. Words that no document has together find nothing here:
    a better spelling comes before fewer words. How many documents answers find does not decide about the beginning:
    with answers the words find everything that they find without."""
    matches = matches_of(view, query.words)
    found = match_all(view, words_alone(query, matches), query, allowed)
    last = _last_begun(view, query, matches) if prefix_last and len(found.docs) < ENOUGH else None
    if last is not None or query.alternatives:
        found = match_all(view, units_of(view, query, matches, last), query, allowed)
    if len(found.docs) < FEW and _may_relax(query):
        if not len(found.docs):
            return found
        some = match_some(view, query, allowed, last)
        full = np.isin(some.docs, found.docs)
        return replace(some, full=full, scores=_full_first(some.scores, full))
    finished = _finished(view, query.words, found)
    if query.alternatives:
        finished = own_words_first(view, found.units, found.docs, finished)
    return Found(found.docs, finished, found.units)


def _last_begun(view: View, query: Query, matches: Sequence[Matches]) -> Matches | None:
    """What the last word finds as the beginning of longer ones; None where that is no more."""
    last = _begun(view, query.words[-1], matches[-1])
    return last if len(last.docs) > len(matches[-1].docs) else None


def _full_first(scores: Scores, full: Mask) -> Scores:
    """Documents with all the words come before the others, whose scores are brought down together."""
    if not full.any() or full.all():
        return scores
    highest, limit = scores[~full].max(), BELOW * scores[full].min()
    return np.where(full, scores, scores * (limit / highest)) if highest > limit else scores


def _may_relax(query: Query) -> bool:
    """Words with digits name one thing: fewer of them would name another."""
    return len(query.words) > 1 and not any(character.isdigit() for word in query.words for character in word)


def _finished(view: View, words: Sequence[str], found: Found) -> Scores:
    return lifted(view, found.docs, found.scores + bonus(view, words, found.docs))


def match_all(view: View, units: Sequence[Unit], query: Query, allowed: Mask | None) -> Found:
    needed = sorted(_needed(units, query), key=lambda m: len(m.docs))
    docs = needed[0].docs
    if allowed is not None:
        docs = docs[allowed[docs]]
    for other in needed[1:]:
        docs = docs[member(view, other, docs)]
    scores = np.zeros(len(docs), np.float32)
    for unit in units:
        scores += scores_at(view, unit.match, docs)
    return Found(docs, scores, tuple(units))


def _needed(units: Sequence[Unit], query: Query) -> list[Matches]:
    """What must match: all words but the optional ones, or all where there are no others."""
    optional = query.optional
    needed = [unit.match for unit in units if not optional.issuperset(unit.words)]
    return needed or [unit.match for unit in units]


def match_some(view: View, query: Query, allowed: Mask | None, last: Matches | None = None) -> Found:
    """The documents with the most of the words: one word less at a time until there are enough of them.
    What scores is weighed by the square of the share of words that match. How many words less is decided without
    what answers for them, so that answers leave out nothing. `last` is what the last word finds as a beginning."""
    matches = matches_of(view, query.words)
    units = tuple(units_of(view, query, matches, last, apart=True))
    counts = _counts(view, units, query, allowed)
    alone = counts
    if query.alternatives:
        alone = _counts(view, words_alone(query, [*matches[:-1], last or matches[-1]]), query, allowed)
    totals = np.zeros(view.size, np.float32)
    for unit in units:
        totals[unit.match.docs] += unit.match.scores
    docs = np.flatnonzero(counts >= _fewest(alone if alone.any() else counts, len(units)))
    share = (counts[docs] / max(len(units), 1)).astype(np.float32)
    scores = _finished(view, query.words, Found(docs, totals[docs] * share * share, units))
    ranked = _own_words_first(view, units, docs, scores, counts[docs])
    return Found(docs, ranked, units, full=np.zeros(len(docs), np.bool_))


def _counts(view: View, units: Sequence[Unit], query: Query, allowed: Mask | None) -> npt.NDArray[np.uint8]:
    """How many of the words that must match each document has."""
    counts = np.zeros(view.size, np.uint8)
    for match in _needed(units, query):
        counts[match.docs] += np.uint8(1)
    if allowed is not None:
        counts *= allowed
    return counts


def _own_words_first(
    view: View, units: Sequence[Unit], docs: Docs, scores: Scores, counts: npt.NDArray[np.uint8]
) -> Scores:
    """Among the documents that have equally many of the words."""
    if all(unit.own is None for unit in units):
        return scores
    scores = scores.copy()
    for count in np.unique(counts):
        equal = counts == count
        scores[equal] = own_words_first(view, units, docs[equal], scores[equal])
    return scores


def _fewest(counts: npt.NDArray[np.uint8], most: int) -> int:
    """The lowest count that is among the results: as many counts down as it takes to have enough documents."""
    at_least = np.bincount(counts[counts > 0], minlength=most + 1)[::-1].cumsum()[::-1]
    return next((count for count in range(most, 0, -1) if at_least[count] >= ENOUGH), 1)


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
