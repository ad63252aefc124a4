"""The documents that match words: all words first, then as many as there are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from app.adapters.whoosh.facet_column import Docs, Mask
from app.adapters.whoosh.lifts import Lift, lifted, lifts_of
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
from app.adapters.whoosh.unit_matches import UnitMatch, matches_of, own_words_first, plain_matches, unit_matches
from app.adapters.whoosh.view import View
from app.adapters.whoosh.vocabulary import Vocabulary
from app.domain.search.engine import SearchRequest
from app.domain.search.ranking import spelling
from app.domain.search.ranking.query import ENOUGH, FEW, Query, completions, fewest_words
from app.domain.search.ranking.scoring import CODE_WEIGHT, PHRASE_WEIGHT, PREFIX_WORTH, demotion
from app.domain.search.ranking.spelling import NAMES_CONSULTED, Spelling
from app.domain.search.text import joined, neighbours


@dataclass(frozen=True, slots=True)
class Found:
    """The documents that match, rising, and their scores. `full` marks those that have all the words; None where all
    of them do. `units` are what was counted as words, `lifts` what else is in the scores."""

    docs: Docs
    scores: Scores
    units: tuple[UnitMatch, ...]
    full: Mask | None = None
    lifts: tuple[Lift, ...] = ()

    def __len__(self) -> int:
        return len(self.docs)

    @property
    def answered(self) -> frozenset[str]:
        units = (unit for unit in self.units if unit.own is not None and len(unit.match.docs))
        return frozenset(word for unit in units for word in unit.words)


class ViewIndex:
    """One view within the scope of a request, as `ranking.strategy` works with it. `allowed` marks the documents in
    the scope; None for all."""

    def __init__(self, view: View, request: SearchRequest, allowed: Mask | None) -> None:
        self._view, self._request, self._allowed = view, request, allowed
        self._vocabulary = Vocabulary(view)

    def find(self, query: Query, *, prefix_last: bool) -> Found:
        """Return the documents that match a query. The matches without alternatives decide by their number whether the
        last word may be the beginning of longer ones: with alternatives the words match everything that they match
        without."""
        view, matches = self._view, matches_of(self._view, query.words)
        found = self._with_all(plain_matches(query, matches), query)
        may_go_on = prefix_last and (self._request.is_typing or len(found) < ENOUGH)
        last = self._unfinished(query, matches) if may_go_on else None
        if last is not None or query.alternatives:
            found = self._with_all(unit_matches(view, query, matches, last), query)
        if not len(found):
            return found
        if len(found) < FEW and query.may_relax:
            some = self._find_fewer(query, matches, last)
            full = np.isin(some.docs, found.docs)
            return replace(some, full=full, scores=_full_first(some.scores, full))
        scores, lifts = self._finished(query, found.docs, found.scores)
        return replace(found, scores=own_words_first(view, found.units, found.docs, scores), lifts=lifts)

    def _with_all(self, units: Sequence[UnitMatch], query: Query) -> Found:
        required = sorted(_required(units, query), key=lambda m: len(m.docs))
        docs = required[0].docs
        if self._allowed is not None:
            docs = docs[self._allowed[docs]]
        for other in required[1:]:
            docs = docs[member(self._view, other, docs)]
        scores = np.zeros(len(docs), np.float32)
        for unit in units:
            scores += scores_at(self._view, unit.match, docs)
        return Found(docs, scores, tuple(units))

    def find_fewer(self, query: Query) -> Found:
        return self._find_fewer(query, matches_of(self._view, query.words))

    def _find_fewer(self, query: Query, matches: Sequence[Matches], last: Matches | None = None) -> Found:
        """Return the documents with the most of the words, their scores times the square of the share of words that
        match. How many words may be missing is decided without alternatives, so that these leave out nothing. `last`
        is what the last word matches as a beginning."""
        view = self._view
        units = tuple(unit_matches(view, query, matches, last, apart=True))
        counts = self._counts(units, query)
        plain = counts
        if query.alternatives:
            plain = self._counts(plain_matches(query, [*matches[:-1], last or matches[-1]]), query)
        totals = np.zeros(view.size, np.float32)
        for unit in units:
            totals[unit.match.docs] += unit.match.scores
        docs = np.flatnonzero(counts >= _fewest(plain if plain.any() else counts, len(units)))
        share = (counts[docs] / max(len(units), 1)).astype(np.float32)
        scores, lifts = self._finished(query, docs, totals[docs] * share * share)
        if query.alternatives:
            for count in np.unique(counts[docs]):
                equal = counts[docs] == count
                scores[equal] = own_words_first(view, units, docs[equal], scores[equal])
        return Found(docs, scores, units, np.zeros(len(docs), np.bool_), lifts)

    def _counts(self, units: Sequence[UnitMatch], query: Query) -> npt.NDArray[np.uint8]:
        """Return the number of required words that each document has."""
        counts = np.zeros(self._view.size, np.uint8)
        for match in _required(units, query):
            counts[match.docs] += np.uint8(1)
        if self._allowed is not None:
            counts *= self._allowed
        return counts

    def _unfinished(self, query: Query, matches: Sequence[Matches]) -> Matches | None:
        """Return the matches of the last word as the beginning of longer ones; None where these are no more."""
        beginning, match = query.words[-1], matches[-1]
        longer = unfinished_word(self._view, beginning, is_typing=self._request.is_typing)
        if match is not word_matches(self._view, beginning):
            longer = united(self._view, [(match, 1.0), (longer, 1.0)])
        return longer if len(longer.docs) > len(match.docs) else None

    def _finished(self, query: Query, docs: Docs, scores: Scores) -> tuple[Scores, tuple[Lift, ...]]:
        """Return the scores with all that counts on top: words side by side in the name, words that are a code, and
        the lifts."""
        scores = scores.copy()
        for pair in neighbours(query.words):
            self._add_exact(scores, "pairs", pair, docs, PHRASE_WEIGHT)
        self._add_exact(scores, "codes", joined(query.words), docs, CODE_WEIGHT)
        lifts = lifts_of(self._view, self._request, query.words, docs, scores)
        return lifted(scores, lifts), lifts

    def _add_exact(self, scores: Scores, field: str, term: str, docs: Docs, weight: float) -> None:
        view = self._view
        scored = view.recent(("exact", field, term), lambda: field_scores(view, field, term), _size)
        if scored is not None and len(docs):
            holders, worths = scored
            places = np.minimum(docs.searchsorted(holders), len(docs) - 1)
            present = docs[places] == holders
            scores[places[present]] += np.float32(weight) * worths[present].astype(np.float32)

    def corrections(self, query: Query, right: frozenset[str], *, last_may_go_on: bool) -> Mapping[str, Spelling]:
        def found() -> Mapping[str, Spelling]:
            return spelling.corrections(query.words, self._vocabulary, right, last_may_go_on=last_may_go_on)

        return self._view.recent(("corrections", query.words, right, last_may_go_on), found, len)

    def slips(self, query: Query, right: frozenset[str]) -> Mapping[str, Spelling]:
        def found() -> Mapping[str, Spelling]:
            return spelling.slips(query.words, self._vocabulary, right)

        return self._view.recent(("slips", query.words, right), found, len)

    def written(self, word: str) -> str:
        def found() -> str:
            best = word_matches(self._view, word)
            order = np.argsort(-best.scores, kind="stable")[:NAMES_CONSULTED]
            return spelling.written_form(word, self._view.names(best.docs[order]))

        return self._view.recent(("written", word), found, len)


def _required(units: Sequence[UnitMatch], query: Query) -> list[Matches]:
    return [units[place].match for place in query.required([unit.words for unit in units])]


def _full_first(scores: Scores, full: Mask) -> Scores:
    """Return the scores, those of documents that lack some words brought below those of documents with all."""
    if not full.any() or full.all():
        return scores
    factor = demotion(float(scores[~full].max()), float(scores[full].min()))
    return np.where(full, scores, scores * np.float32(factor))


def _fewest(counts: npt.NDArray[np.uint8], most: int) -> int:
    return fewest_words([int(np.count_nonzero(counts >= least)) for least in range(most + 1)])


def unfinished_word(view: View, beginning: str, *, is_typing: bool) -> Matches:
    """Return the matches of a word and, with lower scores, of the words that begin with it."""

    def matches() -> Matches:
        words = completions(beginning, Vocabulary(view), is_typing=is_typing)
        longer = [(word_matches(view, word), PREFIX_WORTH) for word in words]
        return united(view, [(word_matches(view, beginning), 1.0), *longer])

    return view.recent(("unfinished", beginning, is_typing), matches, Matches.size_in_bytes)


def _size(scored: FieldScores | None) -> int:
    return 0 if scored is None else scored[0].nbytes + scored[1].nbytes
