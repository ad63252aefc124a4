"""What counts as one word of a search: a word, or a run of words that others answer for: `(gearbox OR shifter)`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from app.adapters.whoosh.compounds import matches_of
from app.adapters.whoosh.facet_column import Docs
from app.adapters.whoosh.scoring import Matches, Scores, member, scores_at, united
from app.adapters.whoosh.view import View
from app.domain.search.engine import Alternatives, SearchRequest
from app.domain.search.text import LINKING_WORDS, query_words

# What an answer is worth beside the words that it answers for.
ANSWER_WORTH = 0.8
# How far what has less of the words stays below what has more.
BELOW = np.float32(0.99)


@dataclass(frozen=True, slots=True)
class Query:
    """The words asked, what answers for runs of them, and which of them need not match."""

    words: tuple[str, ...]
    alternatives: tuple[Alternatives, ...] = ()
    optional: frozenset[str] = LINKING_WORDS

    @classmethod
    def of(cls, request: SearchRequest) -> Query:
        words = query_words(request.words)
        if not request.alternatives and not request.optional:
            return cls(words)
        within = tuple(run for run in request.alternatives if run.place + run.length <= len(words))
        return cls(words, within, LINKING_WORDS | request.optional)

    def spelt(self, words: tuple[str, ...]) -> Query:
        """With other words. What answers for them is not known here."""
        return Query(words, optional=self.optional)


@dataclass(frozen=True, slots=True)
class Unit:
    """`match` is what the words find, or what answers for them does; `own` is what they find themselves, None where
    nothing answers for them."""

    words: tuple[str, ...]
    match: Matches
    own: Matches | None = None
    others: tuple[tuple[str, ...], ...] = ()


def units_of(view: View, query: Query, matches: Sequence[Matches], last: Matches | None = None) -> list[Unit]:
    """In the order of the words. `matches` are those of the words; `last` is what the last one finds as the beginning
    of longer words."""
    begun = [*matches[:-1], last] if last is not None else matches
    if not query.alternatives:
        return [Unit((word,), match) for word, match in zip(query.words, begun, strict=True)]
    runs = {run.place: run for run in query.alternatives}
    units = []
    place = 0
    while place < len(query.words):
        run = runs.get(place)
        end = place + (run.length if run else 1)
        words = query.words[place:end]
        if run is None:
            units.append(Unit(words, begun[place]))
        else:
            units.append(
                _widened(view, words, run, together(view, matches[place:end]), together(view, begun[place:end]))
            )
        place = end
    return units


def _widened(view: View, words: tuple[str, ...], run: Alternatives, own: Matches, begun: Matches) -> Unit:
    worth = ANSWER_WORTH * len(words)
    answers = [(answer_matches(view, other), worth / len(other)) for other in run.others]
    return Unit(words, united(view, [(begun, 1.0), *answers]), own, run.others)


def answer_matches(view: View, words: tuple[str, ...]) -> Matches:
    """What a search for all of these words finds."""
    return view.recent(("answer", words), lambda: together(view, matches_of(view, words)), Matches.size_in_bytes)


def together(view: View, matches: Sequence[Matches]) -> Matches:
    """The documents that all of them match, with the sum of the scores."""
    if len(matches) == 1:
        return matches[0]
    docs = reduce(lambda docs, match: docs[member(view, match, docs)], matches[1:], matches[0].docs)
    scores = np.zeros(len(docs), np.float32)
    for match in matches:
        scores += scores_at(view, match, docs)
    places = [np.searchsorted(match.docs, docs) for match in matches]
    fields = np.bitwise_or.reduce([match.fields[at] for match, at in zip(matches, places, strict=True)])
    return Matches(docs, scores, fields)


def answered(units: Sequence[Unit]) -> frozenset[str]:
    """Words that something answers for, so that they are no mistakes although no document has them."""
    return frozenset(word for unit in units if unit.own is not None and len(unit.match.docs) for word in unit.words)


def own_words_first(view: View, units: Sequence[Unit], docs: Docs, scores: Scores) -> Scores:
    """Documents that have the words rank above those with only an answer to them, and those with an answer to one
    above those with answers to two: their scores are brought down together, which keeps the order among them."""
    widened = [unit.own for unit in units if unit.own is not None]
    if not widened or not len(docs):
        return scores
    lacking = np.sum([~member(view, own, docs) for own in widened], axis=0)
    scores = scores.copy()
    for level in range(1, len(widened) + 1):
        below = lacking >= level
        if below.any() and not below.all():
            highest = scores[below].max()
            limit = BELOW * scores[~below].min()
            if highest > limit:
                scores[below] *= limit / highest
    return scores
