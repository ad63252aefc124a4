"""Names that are found by the beginnings of their words, in memory. Pure."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from typing import Generic, TypeVar

from app.domain.search.suggestions.typed import Typed
from app.domain.search.text import LINKING_WORDS, stem, tokens

T = TypeVar("T")
_LAST = "\U0010ffff"


class Names(Generic[T]):
    """Things by their names, in an order of importance."""

    def __init__(self, named: Iterable[tuple[str, T]]) -> None:
        self._entries = [(" ".join(tokens(name)), thing) for name, thing in named]
        rows = [(word, place) for place, (name, _) in enumerate(self._entries) for word in name.split()]
        self._rows = sorted(rows)
        self._stems: dict[str, set[int]] = {}
        for word, place in rows:
            self._stems.setdefault(stem(word), set()).add(place)

    def __iter__(self) -> Iterator[T]:
        return (thing for _, thing in self._entries)

    def find(self, typed: Typed) -> list[T]:
        """Return what has all the words typed in its name, or words that begin with them: first the names that begin
        like what was typed, then the others, each in their order. Linking words need not match."""
        wanted = [word for word in typed.words if word not in LINKING_WORDS] or list(typed.words)
        if not wanted:
            return []
        places = set.intersection(*map(self._places, wanted))
        ordered = sorted(places, key=lambda place: (not self._entries[place][0].startswith(typed.folded), place))
        return [self._entries[place][1] for place in ordered]

    def _places(self, word: str) -> set[int]:
        start, end = bisect_left(self._rows, (word,)), bisect_left(self._rows, (word + _LAST,))
        return {place for _, place in self._rows[start:end]} | self._stems.get(stem(word), set())
