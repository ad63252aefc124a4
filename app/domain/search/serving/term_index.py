"""Which of very many terms a search matches, found by its words: a search costs as much as it has words, however many
terms there are. Pure.

An exact term is the whole search, in the normal form of a rule. A term by which a search begins, or that it contains,
is a run of words as they are indexed, so that plurals match.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, TypeVar

from app.domain.search.text import MAX_CHARACTERS, words

T = TypeVar("T")
Run = tuple[str, ...]


class Match(StrEnum):
    """How a search meets a term, the most specific first. ANY takes every search, which its levels and
    categories narrow."""

    EXACT = "exact"
    STARTS_WITH = "startsWith"
    CONTAINS = "contains"
    ANY = "any"

    @property
    def rank(self) -> int:
        return RANKS[self]


RANKS = {match: rank for rank, match in enumerate(Match)}


def run_of(text: str) -> Run:
    """Return the words of a term or a search, in their order, as they are indexed."""
    return tuple(words(text[:MAX_CHARACTERS]))


def rest_of(search: Sequence[str], term: Run, match: Match) -> Run | None:
    """Return the words of a search without those of a term that it begins with or contains; None where it does not."""
    places = (0,) if match is Match.STARTS_WITH else range(len(search) - len(term) + 1)
    for place in places:
        end = place + len(term)
        if term and tuple(search[place:end]) == term:
            return (*search[:place], *search[end:])
    return None


@dataclass(frozen=True, slots=True)
class TermMatch(Generic[T]):
    """What a search matches, with the words that it has besides the term: none for an exact one."""

    matched: T
    rest: Run


class TermIndex(Generic[T]):
    """`entries` are (how a search must meet the term, the term, what it then matches). Terms of ANY are left out."""

    def __init__(self, entries: Iterable[tuple[Match, str, T]], normal: Callable[[str], str]) -> None:
        self._normal = normal
        self._exact: dict[str, list[T]] = defaultdict(list)
        self._by_first: dict[str, list[tuple[Run, T]]] = defaultdict(list)
        self._by_rarest: dict[str, list[tuple[Run, T]]] = defaultdict(list)
        contained: list[tuple[Run, T]] = []
        for match, term, matched in entries:
            run = () if match in (Match.EXACT, Match.ANY) else run_of(term)
            if match is Match.EXACT:
                self._exact[normal(term)].append(matched)
            elif run and match is Match.STARTS_WITH:
                self._by_first[run[0]].append((run, matched))
            elif run:
                contained.append((run, matched))
        holders = Counter(word for run, _ in contained for word in set(run))
        for run, matched in contained:
            self._by_rarest[min(run, key=lambda word: (holders[word], word))].append((run, matched))

    def find(self, search: str) -> Iterator[TermMatch[T]]:
        """Yield what a search matches, the same as often as it has terms that match."""
        for matched in self._exact.get(self._normal(search), ()):
            yield TermMatch(matched, ())
        if not self._by_first and not self._by_rarest:
            return
        run = run_of(search)
        for term, matched in self._by_first.get(run[0], ()) if run else ():
            if (rest := rest_of(run, term, Match.STARTS_WITH)) is not None:
                yield TermMatch(matched, rest)
        for word in dict.fromkeys(run):
            for term, matched in self._by_rarest.get(word, ()):
                if (rest := rest_of(run, term, Match.CONTAINS)) is not None:
                    yield TermMatch(matched, rest)
