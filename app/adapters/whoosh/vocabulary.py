"""The words that an index knows and how common each is, by which words are corrected and completed."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence

from rapidfuzz.distance import OSA
from rapidfuzz.process import extract

from app.adapters.whoosh.scoring import member, word_matches
from app.adapters.whoosh.segment import LARGE, Segment
from app.adapters.whoosh.view import View
from app.domain.search.ranking.analysis import COMMONNESS


class Words:
    """The words of some segments."""

    def __init__(self, segments: Iterable[Segment]) -> None:
        self.frequencies: dict[str, int] = {}
        for segment in segments:
            for field, worth in COMMONNESS.items():
                self._add(segment.frequencies(field), worth)
        self._sorted = sorted(self.frequencies)
        self._by_length: dict[int, list[str]] = {}
        for word in self._sorted:
            if word.isalpha():
                self._by_length.setdefault(len(word), []).append(word)

    def _add(self, frequencies: Mapping[str, int], worth: int) -> None:
        for term, frequency in frequencies.items():
            self.frequencies[term] = self.frequencies.get(term, 0) + worth * frequency

    def beginning_with(self, beginning: str) -> Sequence[str]:
        end = bisect_left(self._sorted, beginning + "\U0010ffff")
        return self._sorted[bisect_left(self._sorted, beginning) : end]

    def near(self, word: str, edits: int, limit: int) -> Iterable[tuple[str, int]]:
        """Return (word, edits), the nearest first."""
        lengths = range(len(word) - edits, len(word) + edits + 1)
        near = [other for length in lengths for other in self._by_length.get(length, ())]
        found = extract(word, near, scorer=OSA.distance, score_cutoff=edits, limit=limit)
        return [(other, int(distance)) for other, distance, _ in found]


class Vocabulary:
    """The words of a view: those of large segments, which stay for long, and those of what came since."""

    def __init__(self, view: View) -> None:
        self._view = view

    @property
    def _parts(self) -> tuple[Words, Words]:
        return self._view.cached("words", lambda: _parts(self._view))

    def frequency(self, word: str) -> int:
        lasting, later = self._parts  # Not a sum over both: this is called thousands of times in a search.
        return lasting.frequencies.get(word, 0) + later.frequencies.get(word, 0)

    def known(self, words: set[str]) -> set[str]:
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
        docs = word_matches(self._view, words[0]).docs
        for word in words[1:]:
            docs = docs[member(self._view, word_matches(self._view, word), docs)]
        return len(docs)


def _parts(view: View) -> tuple[Words, Words]:
    large = [segment for segment in view.segments if segment.count >= LARGE]
    lasting = view.lasting("words", tuple(segment.id for segment in large), lambda: Words(large))
    return lasting, Words(segment for segment in view.segments if segment.count < LARGE)
