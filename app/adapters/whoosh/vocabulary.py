"""The words that an index knows and how common each is: what spelling and unfinished words are held against."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence

from app.adapters.whoosh.schema import TEXT_FIELDS
from app.adapters.whoosh.segment import LARGE, Segment
from app.adapters.whoosh.view import View

# A word of a name says more about what the shop sells than one of a description.
_NAMING_WORTH = 10
_TELLING_FIELDS = ("description", "attributes")


class Words:
    """The words of some segments."""

    def __init__(self, segments: Iterable[Segment]) -> None:
        self.frequencies: dict[str, int] = {}
        for segment in segments:
            for field in TEXT_FIELDS:
                self._add(segment.frequencies(field), 1 if field in _TELLING_FIELDS else _NAMING_WORTH)
        self._sorted = sorted(self.frequencies)
        self.by_length: dict[int, list[str]] = {}
        for word in self._sorted:
            if word.isalpha():
                self.by_length.setdefault(len(word), []).append(word)

    def _add(self, frequencies: Mapping[str, int], worth: int) -> None:
        for term, frequency in frequencies.items():
            self.frequencies[term] = self.frequencies.get(term, 0) + worth * frequency

    def beginning_with(self, beginning: str) -> Sequence[str]:
        end = bisect_left(self._sorted, beginning + "\U0010ffff")
        return self._sorted[bisect_left(self._sorted, beginning) : end]


class Vocabulary:
    """The words of large segments, which stay for long, and those of what came since."""

    def __init__(self, *parts: Words) -> None:
        self._parts = parts

    def frequency(self, word: str) -> int:
        return sum(part.frequencies.get(word, 0) for part in self._parts)

    def known(self, words: set[str]) -> set[str]:
        return {word for part in self._parts for word in words & part.frequencies.keys()}

    def beginning_with(self, beginning: str) -> set[str]:
        return {word for part in self._parts for word in part.beginning_with(beginning)}

    def of_length(self, shortest: int, longest: int) -> list[str]:
        lengths = range(shortest, longest + 1)
        return [word for part in self._parts for length in lengths for word in part.by_length.get(length, ())]


def vocabulary_of(view: View) -> Vocabulary:
    return view.cached("vocabulary", lambda: _vocabulary_of(view))


def _vocabulary_of(view: View) -> Vocabulary:
    large = [segment for segment in view.segments if segment.count >= LARGE]
    lasting = view.lasting("vocabulary", tuple(segment.id for segment in large), lambda: Words(large))
    return Vocabulary(lasting, Words(segment for segment in view.segments if segment.count < LARGE))
