"""Searches that a visit repeated in other words, and the bounds of their counts. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from app.domain.search.text import LINKING_WORDS, words
from app.domain.search_statistics.counting.gathering import FEWEST_VISITS

MOST_PAIRS = 2_000  # Different pairs kept per site and week; bots invent them without end.
MOST_WORDS = 5  # Of a search; longer ones are no expression that could become a synonym.
_DIGITS = re.compile(r"\d+")

Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class RephrasedVisits:
    """Visits that rephrased a search: `new` ones, and those `of_week` so far, as far as the shop remembers."""

    new: int
    of_week: int


@dataclass(frozen=True, slots=True)
class Rephrased:
    """Visits that searched `word` and then `next_word` in a period, and in how many of its `weeks`. `followed` searches
    of the word were made while clicks were recorded; `popularity` is the next word's share of all searches."""

    word: str
    next_word: str
    visits: int
    weeks: int
    followed: int
    popularity: float


def is_in_other_words(before: str, after: str) -> bool:
    """Whether two searches, read as search reads them, may be two names of one thing. They are not where one has all
    the words of the other, which makes it narrower or wider ("laptop", "laptop bag"), and where they differ by numbers
    alone, which name different things ("iphone 12", "iphone 13")."""
    first, second = (frozenset(words(searched)) - LINKING_WORDS for searched in (before, after))
    if first <= second or second <= first or max(len(first), len(second)) > MOST_WORDS:
        return False
    return _without_numbers(first - second) != _without_numbers(second - first)


def within_bounds(
    visits: Mapping[Pair, RephrasedVisits], stored: Mapping[Pair, int], clicks: Mapping[str, int]
) -> dict[Pair, int]:
    """Return the visits to add to those `stored` of the week, so that there are at most MOST_PAIRS different pairs,
    none has more visits than its second search has `clicks`, and none fewer than FEWEST_VISITS."""
    added, room = {}, MOST_PAIRS - len(stored)
    for pair, counted in sorted(visits.items(), key=lambda item: item[0]):
        wanted = max(counted.new, counted.of_week - stored.get(pair, 0))
        fitting = min(wanted, clicks.get(pair[1], 0) - stored.get(pair, 0))
        is_shared = stored.get(pair, 0) + fitting >= FEWEST_VISITS
        if fitting > 0 and is_shared and (pair in stored or room > 0):
            room -= pair not in stored
            added[pair] = fitting
    return added


def _without_numbers(some: frozenset[str]) -> list[str]:
    return sorted(_DIGITS.sub("", word) for word in some)
