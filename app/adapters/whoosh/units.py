"""What counts as one word of a search: a word, or a run of words that others answer for: `(gearbox OR shifter)`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
    nothing answers for them. `optional` need not match among the words, nor within one of `others`."""

    words: tuple[str, ...]
    match: Matches
    own: Matches | None = None
    others: tuple[tuple[str, ...], ...] = ()
    optional: frozenset[str] = LINKING_WORDS


def words_alone(query: Query, matches: Sequence[Matches]) -> list[Unit]:
    """As if nothing answered for the words."""
    return [Unit((word,), match) for word, match in zip(query.words, matches, strict=True)]


def units_of(
    view: View, query: Query, matches: Sequence[Matches], last: Matches | None = None, *, apart: bool = False
) -> list[Unit]:
    """In the order of the words. `matches` are those of the words; `last` is what the last one finds as the beginning
    of longer words. `apart`, each word of a run counts as one, and an answer to the run answers for each."""
    begun = [*matches[:-1], last] if last is not None else list(matches)
    if not query.alternatives:
        return words_alone(query, begun)
    units = []
    for place, end, run in _pieces(query, apart):
        words = query.words[place:end]
        if run is None:
            units.append(Unit(words, begun[place]))
        else:
            own, longer = (together(view, words, found[place:end], query.optional) for found in (matches, begun))
            units.append(_widened(view, words, run, own, longer, query.optional))
    return units


def _pieces(query: Query, apart: bool) -> Iterator[tuple[int, int, Alternatives | None]]:
    """(begin, end, what answers) of what counts as one word."""
    runs = {run.place: run for run in query.alternatives}
    place = 0
    while place < len(query.words):
        run = runs.get(place)
        end = place + (run.length if run else 1)
        if run is None or not apart:
            yield place, end, run
        else:
            needed = needed_of(query.words[place:end], query.optional)
            yield from ((at, at + 1, run if query.words[at] in needed else None) for at in range(place, end))
        place = end


def _widened(
    view: View, words: tuple[str, ...], run: Alternatives, own: Matches, begun: Matches, optional: frozenset[str]
) -> Unit:
    worth = ANSWER_WORTH * len(words)
    answers = [(answer_matches(view, other, optional), worth / len(other)) for other in run.others]
    return Unit(words, united(view, [(begun, 1.0), *answers]), own, run.others, optional)


def answer_matches(view: View, words: tuple[str, ...], optional: frozenset[str]) -> Matches:
    """What a search for these words finds."""

    def matches() -> Matches:
        return together(view, words, matches_of(view, words), optional)

    return view.recent(("answer", words, optional.intersection(words)), matches, Matches.size_in_bytes)


def needed_of(words: Sequence[str], optional: frozenset[str]) -> tuple[str, ...]:
    """What must match: all words but the optional ones, or all where there are no others. Words that answer for
    others, and those that others answer for, are read as they are in any search."""
    return tuple(word for word in words if word not in optional) or tuple(words)


def together(
    view: View, words: Sequence[str], matches: Sequence[Matches], optional: frozenset[str] = frozenset()
) -> Matches:
    """The documents that all of the words match, the optional ones aside, with the sum of the scores of all."""
    if len(matches) == 1:
        return matches[0]
    names = needed_of(words, optional)
    needed = [match for word, match in zip(words, matches, strict=True) if word in names]
    docs = reduce(lambda docs, match: docs[member(view, match, docs)], needed[1:], needed[0].docs)
    scores = np.zeros(len(docs), np.float32)
    fields = np.zeros(len(docs), np.uint16)
    for match in matches:
        scores += scores_at(view, match, docs)
        here = member(view, match, docs)
        fields[here] |= match.fields[np.searchsorted(match.docs, docs[here])]
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
