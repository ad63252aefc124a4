"""Search over texts that come with the release, such as the tasks and the documents of the admin's Help: by words and
their other forms, in memory. Nothing of it is stored or counted."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import Generic, TypeVar

from app.domain.search.text import LINKING_WORDS, words
from app.domain.search.word_forms import root

Entry = TypeVar("Entry")
# What people type around the words that matter.
_AROUND = """
    about are be can could do does get go help how i into is it like make me my need not our please some that there
    these this want way we what when where which who why will would you your
"""
_IGNORED = LINKING_WORDS.union(_AROUND.split())
_SHORTEST_MISSPELT = 5  # Letters of a word; shorter ones are alike by chance.
_SHARE_OF_BEST = 0.1  # Of the best score; what has less is left out.
_CLOSE = 0.8  # How much alike a misspelt word is, of 1.


class HelpIndex(Generic[Entry]):
    """Texts to search in. `fields` are the texts of an entry with what a word in each counts."""

    def __init__(self, entries: Iterable[tuple[Entry, Iterable[tuple[str, float]]]]) -> None:
        self._entries = [(entry, _weights(fields)) for entry, fields in entries]
        self._frequency = Counter(word for _, weights in self._entries for word in weights)

    def find(self, typed: str) -> list[Entry]:
        """Return the entries that have the typed words, best first, without those that are far behind the best. A word
        that no text has, not even misspelt, is left out; without any other nothing is found."""
        wanted = [forms for forms in self._wanted(typed) if forms]
        scored = [(self._score(weights, wanted), place) for place, (_, weights) in enumerate(self._entries)]
        least = _SHARE_OF_BEST * max((score for score, _ in scored), default=0.0)
        best = sorted((-score, place) for score, place in scored if score > 0 and score >= least)
        return [self._entries[place][0] for _, place in best]

    def _wanted(self, typed: str) -> Iterator[set[str]]:
        """Yield for each typed word that matters the words of the texts that it may stand for."""
        kept = [word for word in words(typed) if word not in _IGNORED]
        for place, word in enumerate(kept):
            form, is_last = _form(word), place == len(kept) - 1
            if form in self._frequency:
                yield {form}
            elif is_last and (begun := {known for known in self._frequency if known.startswith(word)}):
                yield begun  # It may still be typed.
            elif len(form) >= _SHORTEST_MISSPELT:
                yield set(get_close_matches(form, self._frequency, 1, _CLOSE))

    def _score(self, weights: Mapping[str, float], wanted: list[set[str]]) -> float:
        """Return what the wanted words count in an entry, rare ones more, by the square of the share that it has."""
        matched, score = 0, 0.0
        for forms in wanted:
            counts = [
                weights[word] * math.log(1 + len(self._entries) / self._frequency[word])
                for word in forms
                if word in weights
            ]
            matched += bool(counts)
            score += max(counts, default=0.0)
        return score * (matched / len(wanted)) ** 2 if wanted else 0.0


def _weights(fields: Iterable[tuple[str, float]]) -> dict[str, float]:
    """Return what each word of an entry counts: as in the field in which it counts most."""
    weights: dict[str, float] = {}
    for text, weight in fields:
        for word in map(_form, words(text)):
            weights[word] = max(weight, weights.get(word, 0.0))
    return weights


def _form(word: str) -> str:
    return root(word) or word
