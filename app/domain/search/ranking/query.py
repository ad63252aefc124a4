"""A search query: its words, the alternatives to runs of them, and how many of them must match."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from itertools import pairwise

from app.domain.search.engine import Alternatives, SearchRequest
from app.domain.search.ranking.analysis import Vocabulary
from app.domain.search.ranking.scoring import reads_as_code
from app.domain.search.text import LINKING_WORDS, query_words, quoted_words

ENOUGH = 12  # With fewer results the last word may be unfinished, and one more of the words may be missing.
FEW = 4  # Fewer results with all the words than these are followed by results that lack some.
COMPLETIONS = 40
COMPLETIONS_TYPED = 8  # The next letter rules most of them out; 40 suggest the same products and take longer.
SHORTEST_BEGINNING = 2
SHORTEST_CODE_BEGINNING = 4


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit that counts as one word: a word, or a run of words with its `alternatives` (None for none). `place` is
    that of its first word."""

    place: int
    words: tuple[str, ...]
    alternatives: tuple[tuple[str, ...], ...] | None = None


@dataclass(frozen=True, slots=True)
class Query:
    """The words, the alternatives to runs of them, which words need not match, and which have no other forms, since
    they were typed in quotes."""

    words: tuple[str, ...]
    alternatives: tuple[Alternatives, ...] = ()
    optional: frozenset[str] = LINKING_WORDS
    exact: frozenset[str] = frozenset()

    @classmethod
    def of(cls, request: SearchRequest) -> Query:
        words, exact = query_words(request.words), quoted_words(request.words)
        if not request.alternatives and not request.optional:
            return cls(words, exact=exact)
        within = tuple(run for run in request.alternatives if run.place + run.length <= len(words))
        return cls(words, within, LINKING_WORDS | request.optional, exact)

    def respelled(self, words: tuple[str, ...]) -> Query:
        """Return the query with other words. Their alternatives are not known here."""
        return Query(words, optional=self.optional, exact=self.exact)

    @property
    def may_relax(self) -> bool:
        """Whether results may lack some of the words. Words that read as a code name one thing: fewer would name
        another. So do words that are a code, which the engine knows."""
        return len(self.words) > 1 and not reads_as_code(self.words)

    def units(self, *, apart: bool = False) -> Iterator[Unit]:
        """Yield the units in the order of the words. `apart`, each required word of a run counts as one, and the
        alternatives to the run are alternatives to each."""
        runs = {run.place: run for run in self.alternatives}
        place = 0
        while place < len(self.words):
            run = runs.get(place)
            words = self.words[place : place + (run.length if run else 1)]
            if run is None or not apart:
                yield Unit(place, words, run.others if run else None)
            else:
                required = required_words(words, self.optional)
                for at, word in enumerate(words, place):
                    yield Unit(at, (word,), run.others if word in required else None)
            place += len(words)

    def required(self, units: Sequence[tuple[str, ...]]) -> list[int]:
        """Places in `units` (the words of each) of those that must match: all but the optional ones, or all where
        there are no others."""
        places = [place for place, words in enumerate(units) if not self.optional.issuperset(words)]
        return places or list(range(len(units)))


def required_words(words: Sequence[str], optional: frozenset[str]) -> tuple[str, ...]:
    """Return the words that must match within a run or an alternative, as in any search: all but the optional ones, or
    all where there are no others."""
    return tuple(word for word in words if word not in optional) or tuple(words)


def with_neighbours_joined(words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """The words with two neighbours written as one, for each pair of neighbours."""
    for place, (first, second) in enumerate(pairwise(words)):
        yield (*words[:place], first + second, *words[place + 2 :])


def fewest_words(documents_with: Sequence[int]) -> int:
    """Return how many of the words must match where fewer than all do: as many words less as it takes to have enough
    documents. `documents_with[n]` is how many documents have at least n of the words."""
    most = len(documents_with) - 1
    return next((count for count in range(most, 0, -1) if documents_with[count] >= ENOUGH), 1)


def completions(beginning: str, vocabulary: Vocabulary, *, is_typing: bool = False) -> list[str]:
    """Longer words that an unfinished one may become: the commonest that begin so, then codes that do. `is_typing` says
    that it is still being typed, so that few are enough."""
    most = COMPLETIONS_TYPED if is_typing else COMPLETIONS
    if len(beginning) < SHORTEST_BEGINNING:
        return []
    longer = vocabulary.beginning_with(beginning) - {beginning}
    common = nsmallest(most, longer, key=lambda word: (-vocabulary.frequency(word), word))
    if len(beginning) < SHORTEST_CODE_BEGINNING or len(common) == most:
        return common
    codes = vocabulary.codes_beginning_with(beginning, most)
    return [*common, *(code for code in codes if code != beginning)][:most]
