"""The documents that match words: all words first, then as many as there are; and the vocabulary by which words are
corrected and completed.

A unit of a query is a word, or a run of words with its alternatives, `(gearbox OR shifter)`.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, replace
from functools import reduce
from itertools import pairwise

import numpy as np
import numpy.typing as npt
from rapidfuzz.distance import OSA
from rapidfuzz.process import extract

from app.adapters.whoosh.scoring import (
    FieldScores,
    Lift,
    Matches,
    Scores,
    field_scores,
    lifts_of,
    member_mask,
    scores_at,
    unite,
    with_forms,
    word_matches,
)
from app.adapters.whoosh.segment import LARGE, Segment
from app.adapters.whoosh.view import Docs, Mask, View
from app.domain.search.engine import SearchRequest
from app.domain.search.ranking import spelling
from app.domain.search.ranking.analysis import COMMONNESS
from app.domain.search.ranking.query import ENOUGH, FEW, Query, Unit, completions, fewest_words, required_words
from app.domain.search.ranking.scoring import (
    ALTERNATIVE_WORTH,
    CODE_WEIGHT,
    COMPOUND_WORTH,
    FIELDS,
    PHRASE_WEIGHT,
    PREFIX_WORTH,
    TEXT_FIELDS,
    demotion,
)
from app.domain.search.ranking.spelling import NAMES_CONSULTED, Corrections
from app.domain.search.text import joined, neighbours

_IN_TEXT = np.uint16(sum(1 << bit for bit, field in enumerate(FIELDS) if field in TEXT_FIELDS))


class ViewIndex:
    """One view within the scope of a request, as `ranking.spelling` works with it. `allowed` marks the documents in
    the scope; None for all."""

    def __init__(self, view: View, request: SearchRequest, allowed: Mask | None) -> None:
        self._view, self._request, self._allowed = view, request, allowed
        self._vocabulary = Vocabulary(view)

    def find(self, query: Query, *, prefix_last: bool) -> Found:
        """Return the documents that match a query. The matches without alternatives decide by their number whether the
        last word may be the beginning of longer ones: with alternatives the words match everything that they match
        without."""
        view, matches = self._view, match_words(self._view, query.words, query.exact)
        found = self._match_all(match_words_alone(query, matches), query)
        may_go_on = prefix_last and (self._request.is_typing or len(found) < ENOUGH)
        last = self._match_last_as_beginning(query, matches) if may_go_on else None
        if last is not None or query.alternatives:
            found = self._match_all(match_units(view, query, matches, last), query)
        if not len(found):
            return found
        if len(found) < FEW and query.may_relax and not is_code(view, query.words):
            some = self._find_fewer(query, matches, last)
            full = np.isin(some.docs, found.docs)
            return replace(some, full=full, scores=_rank_full_first(some.scores, full))
        scores, lifts = self._add_bonuses(query, found.docs, found.scores)
        return replace(found, scores=rank_own_words_first(view, found.units, found.docs, scores), lifts=lifts)

    def _match_all(self, units: Sequence[UnitMatch], query: Query) -> Found:
        """Return the documents in the scope that all required words match, with the sum of all scores."""
        required = sorted(_required_matches(units, query), key=lambda m: len(m.docs))
        docs = required[0].docs
        if self._allowed is not None:
            docs = docs[self._allowed[docs]]
        for other in required[1:]:
            docs = docs[member_mask(self._view, other, docs)]
        scores = np.zeros(len(docs), np.float32)
        for unit in units:
            scores += scores_at(self._view, unit.match, docs)
        return Found(docs, scores, tuple(units))

    def find_fewer(self, query: Query) -> Found:
        """Return the documents that match the most of the words of a query."""
        return self._find_fewer(query, match_words(self._view, query.words, query.exact))

    def _find_fewer(self, query: Query, matches: Sequence[Matches], last: Matches | None = None) -> Found:
        """Return the documents with the most of the words, their scores times the square of the share of words that
        match. How many words may be missing is decided without alternatives, so that these leave out nothing. `last`
        is what the last word matches as a beginning."""
        view = self._view
        units = tuple(match_units(view, query, matches, last, apart=True))
        counts = self._count_required(units, query)
        plain = counts
        if query.alternatives:
            plain = self._count_required(match_words_alone(query, [*matches[:-1], last or matches[-1]]), query)
        totals = np.zeros(view.size, np.float32)
        for unit in units:
            totals[unit.match.docs] += unit.match.scores
        decisive = plain if plain.any() else counts
        fewest = fewest_words([int(np.count_nonzero(decisive >= least)) for least in range(len(units) + 1)])
        docs = np.flatnonzero(counts >= fewest)
        share = (counts[docs] / max(len(units), 1)).astype(np.float32)
        scores, lifts = self._add_bonuses(query, docs, totals[docs] * share * share)
        if query.alternatives:
            for count in np.unique(counts[docs]):
                equal = counts[docs] == count
                scores[equal] = rank_own_words_first(view, units, docs[equal], scores[equal])
        return Found(docs, scores, units, np.zeros(len(docs), np.bool_), lifts)

    def _count_required(self, units: Sequence[UnitMatch], query: Query) -> npt.NDArray[np.uint8]:
        """Return the number of required words that each document has."""
        counts = np.zeros(self._view.size, np.uint8)
        for match in _required_matches(units, query):
            counts[match.docs] += np.uint8(1)
        if self._allowed is not None:
            counts *= self._allowed
        return counts

    def _match_last_as_beginning(self, query: Query, matches: Sequence[Matches]) -> Matches | None:
        """Return the matches of the last word and, with lower scores, of the words that begin with it; None where these
        are no more."""
        view, is_typing = self._view, self._request.is_typing
        beginning, match = query.words[-1], matches[-1]

        def with_longer_words() -> Matches:
            words = completions(beginning, self._vocabulary, is_typing=is_typing)
            longer = [(word_matches(view, word), PREFIX_WORTH) for word in words]
            return unite(view, [(word_matches(view, beginning), 1.0), *longer])

        longer = view.recent(("unfinished", beginning, is_typing), with_longer_words, Matches.size_in_bytes)
        if match is not word_matches(view, beginning):
            longer = unite(view, [(match, 1.0), (longer, 1.0)])
        return longer if len(longer.docs) > len(match.docs) else None

    def _add_bonuses(self, query: Query, docs: Docs, scores: Scores) -> tuple[Scores, tuple[Lift, ...]]:
        """Return the scores with all that counts on top: words side by side in the name, words that are a code, and
        the lifts."""
        scores = scores.copy()
        for pair in neighbours(query.words):
            self._add_exact(scores, "pairs", pair, docs, PHRASE_WEIGHT)
        self._add_exact(scores, "codes", joined(query.words), docs, CODE_WEIGHT)
        lifts = lifts_of(self._view, self._request, query.words, docs, scores)
        return reduce(lambda lifted, lift: lifted * lift.factors, lifts, scores), lifts

    def _add_exact(self, scores: Scores, field: str, term: str, docs: Docs, weight: float) -> None:
        view = self._view
        scored = view.recent(("exact", field, term), lambda: field_scores(view, field, term), _field_scores_size)
        if scored is not None and len(docs):
            holders, worths = scored
            places = np.minimum(docs.searchsorted(holders), len(docs) - 1)
            present = docs[places] == holders
            scores[places[present]] += np.float32(weight) * worths[present].astype(np.float32)

    def corrections(self, query: Query, right: frozenset[str], *, last_may_go_on: bool) -> Corrections:
        def found() -> Corrections:
            return spelling.corrections(query.words, self._vocabulary, right, last_may_go_on=last_may_go_on)

        return self._view.recent(("corrections", query.words, right, last_may_go_on), found, len)

    def slips(self, query: Query, right: frozenset[str]) -> Corrections:
        def found() -> Corrections:
            return spelling.slips(query.words, self._vocabulary, right)

        return self._view.recent(("slips", query.words, right), found, len)

    def written(self, word: str) -> str:
        def found() -> str:
            best = word_matches(self._view, word)
            order = np.argsort(-best.scores, kind="stable")[:NAMES_CONSULTED]
            return spelling.written_form(word, self._view.names(best.docs[order]))

        return self._view.recent(("written", word), found, len)


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


def _required_matches(units: Sequence[UnitMatch], query: Query) -> list[Matches]:
    return [units[place].match for place in query.required([unit.words for unit in units])]


def _rank_full_first(scores: Scores, full: Mask) -> Scores:
    """Return the scores, those of documents that lack some words brought below those of documents with all."""
    if not full.any() or full.all():
        return scores
    factor = demotion(float(scores[~full].max()), float(scores[full].min()))
    return np.where(full, scores, scores * np.float32(factor))


def _field_scores_size(scored: FieldScores | None) -> int:
    return 0 if scored is None else scored[0].nbytes + scored[1].nbytes


@dataclass(frozen=True, slots=True)
class UnitMatch:
    """The matches of one unit of a query. `match` is what the words or their alternatives match; `own` is what the
    words match themselves, None where they have no alternatives. `optional` need not match among the words, nor within
    an alternative."""

    words: tuple[str, ...]
    match: Matches
    own: Matches | None = None
    alternatives: tuple[tuple[str, ...], ...] = ()
    optional: frozenset[str] = frozenset()


def is_code(view: View, words: Sequence[str]) -> bool:
    """Return whether all words together are the code of a document."""
    return view.postings("codes", joined(words).encode()) is not None


def match_words(view: View, words: Sequence[str], exact: frozenset[str] = frozenset()) -> list[Matches]:
    """Return the matches of each word, with those of its other forms unless it is among `exact`. A document that has
    two neighbouring words written as one has both."""
    matches = [word_matches(view, word) if word in exact else with_forms(view, word) for word in words]
    for place, (first, second) in enumerate(pairwise(words)):
        one = word_matches(view, first + second)
        if len(one.docs) and (one.fields & _IN_TEXT).any():
            for word, here in ((first, place), (second, place + 1)):
                matches[here] = _with_compound(view, word, matches[here], first + second, one, word in exact)
    return matches


def _with_compound(view: View, word: str, match: Matches, compound: str, one: Matches, is_exact: bool) -> Matches:
    written = (one.fields & _IN_TEXT) > 0
    part = Matches(one.docs[written], one.scores[written], one.fields[written])
    key = ("compound", word, len(match.docs), compound, is_exact)
    return view.recent(key, lambda: unite(view, [(match, 1.0), (part, COMPOUND_WORTH)]), Matches.size_in_bytes)


def match_words_alone(query: Query, matches: Sequence[Matches]) -> list[UnitMatch]:
    """Return the match of each word by itself, without alternatives."""
    return [UnitMatch((word,), match) for word, match in zip(query.words, matches, strict=True)]


def match_units(
    view: View, query: Query, matches: Sequence[Matches], last: Matches | None = None, *, apart: bool = False
) -> list[UnitMatch]:
    """Return the matches of each unit in the order of the words. `matches` are those of the words; `last` is what the
    last one matches as the beginning of longer words. `apart` is that of `Query.units`."""
    begun = [*matches[:-1], last] if last is not None else list(matches)
    if not query.alternatives:
        return match_words_alone(query, begun)
    return [_match_unit(view, query, unit, matches, begun) for unit in query.units(apart=apart)]


def _match_unit(
    view: View, query: Query, unit: Unit, matches: Sequence[Matches], begun: Sequence[Matches]
) -> UnitMatch:
    if unit.alternatives is None:
        return UnitMatch(unit.words, begun[unit.place])
    run = slice(unit.place, unit.place + len(unit.words))
    own, longer = (match_together(view, unit.words, found[run], query.optional) for found in (matches, begun))
    worth = ALTERNATIVE_WORTH * len(unit.words)
    others = [(alternative_matches(view, o, query.optional), worth / len(o)) for o in unit.alternatives]
    return UnitMatch(unit.words, unite(view, [(longer, 1.0), *others]), own, unit.alternatives, query.optional)


def alternative_matches(view: View, words: tuple[str, ...], optional: frozenset[str]) -> Matches:
    """Return the matches of a search for these words."""

    def matches() -> Matches:
        return match_together(view, words, match_words(view, words), optional)

    return view.recent(("alternative", words, optional.intersection(words)), matches, Matches.size_in_bytes)


def match_together(view: View, words: Sequence[str], matches: Sequence[Matches], optional: frozenset[str]) -> Matches:
    """Return the documents that all of the required words match, with the sum of the scores of all words."""
    if len(matches) == 1:
        return matches[0]
    names = required_words(words, optional)
    required = [match for word, match in zip(words, matches, strict=True) if word in names]
    docs = reduce(lambda docs, match: docs[member_mask(view, match, docs)], required[1:], required[0].docs)
    scores = np.zeros(len(docs), np.float32)
    fields = np.zeros(len(docs), np.uint16)
    for match in matches:
        scores += scores_at(view, match, docs)
        here = member_mask(view, match, docs)
        fields[here] |= match.fields[np.searchsorted(match.docs, docs[here])]
    return Matches(docs, scores, fields)


def rank_own_words_first(view: View, units: Sequence[UnitMatch], docs: Docs, scores: Scores) -> Scores:
    """Return the scores by which documents that have the words rank above those with only an alternative to them, and
    those with an alternative to one word above those with alternatives to two."""
    missing = missing_units(view, units, docs)
    scores = scores.copy()
    for level in range(1, int(missing.max(initial=0)) + 1):
        lower = missing >= level
        if lower.any() and not lower.all():
            scores[lower] *= demotion(float(scores[lower].max()), float(scores[~lower].min()))
    return scores


def missing_units(view: View, units: Sequence[UnitMatch], docs: Docs) -> Docs:
    """Return for how many units each document has an alternative alone."""
    missing = np.zeros(len(docs), np.intp)
    for unit in units:
        if unit.own is not None:
            missing += ~member_mask(view, unit.own, docs)
    return missing


class Vocabulary:
    """The words of a view and how common each is: those of large segments, which stay for long, and those of what came
    since."""

    def __init__(self, view: View) -> None:
        self._view = view

    @property
    def _parts(self) -> tuple[Words, Words]:
        def read() -> tuple[Words, Words]:
            segments = self._view.segments
            large = [segment for segment in segments if segment.count >= LARGE]
            lasting = self._view.lasting("words", tuple(segment.id for segment in large), lambda: Words(large))
            return lasting, Words(segment for segment in segments if segment.count < LARGE)

        return self._view.cached("words", read)

    def frequency(self, word: str) -> int:
        lasting, later = self._parts  # Not a sum over both: this is called thousands of times in a search.
        return lasting.frequencies.get(word, 0) + later.frequencies.get(word, 0)

    def known(self, words: Set[str]) -> set[str]:
        return {word for part in self._parts for word in words & part.frequencies.keys()}

    def beginning_with(self, beginning: str) -> set[str]:
        return {word for part in self._parts for word in part.beginning_with(beginning)}

    def codes_beginning_with(self, beginning: str, limit: int) -> list[str]:
        found = [segment.terms_from("codes", beginning.encode(), limit) for segment in self._view.segments]
        return sorted({term.decode() for terms in found for term in terms})[:limit]

    def near(self, word: str, edits: int, limit: int) -> list[str]:
        found = {pair for part in self._parts for pair in part.near(word, edits, limit)}
        return [other for other, _ in sorted(found, key=lambda pair: (pair[1], len(pair[0]), pair[0]))[:limit]]

    def documents_with(self, words: Sequence[str]) -> int:
        docs = with_forms(self._view, words[0]).docs
        for word in words[1:]:
            docs = docs[member_mask(self._view, with_forms(self._view, word), docs)]
        return len(docs)


class Words:
    """The words of some segments."""

    def __init__(self, segments: Iterable[Segment]) -> None:
        self.frequencies: dict[str, int] = {}
        for segment in segments:
            for field, worth in COMMONNESS.items():
                for term, frequency in segment.frequencies(field).items():
                    self.frequencies[term] = self.frequencies.get(term, 0) + worth * frequency
        self._sorted = sorted(self.frequencies)
        self._by_length: dict[int, list[str]] = {}
        for word in self._sorted:
            if word.isalpha():
                self._by_length.setdefault(len(word), []).append(word)

    def beginning_with(self, beginning: str) -> Sequence[str]:
        end = bisect_left(self._sorted, beginning + "\U0010ffff")
        return self._sorted[bisect_left(self._sorted, beginning) : end]

    def near(self, word: str, edits: int, limit: int) -> Iterable[tuple[str, int]]:
        """Return (word, edits), the nearest first."""
        lengths = range(len(word) - edits, len(word) + edits + 1)
        near = [other for length in lengths for other in self._by_length.get(length, ())]
        found = extract(word, near, scorer=OSA.distance, score_cutoff=edits, limit=limit)
        return [(other, int(distance)) for other, distance, _ in found]
