"""The order by words and the order by meaning as one, by reciprocal ranks.

Scores of words and cosines have no common scale, ranks do (Cormack, Clarke and Büttcher, 2009). The words lead: what
lies near in meaning moves up among what they find, but what has all the words stays before what lacks some, and the
words as typed before alternatives to them. The functions of ranks take a number or an array of numbers alike. Ranks
begin with 0; documents that score the same share the rank of the first.
"""

from __future__ import annotations

from collections.abc import Sequence

from app.domain.search.engine import IndexDocument
from app.domain.search.ranking.weights import Amount

NEAREST = 300  # Documents whose meaning counts.
RANKED = 2_000  # Documents whose rank by words is exact; what lies behind is moved to the first 150 at most.
OFFSET = 61
BEST_BY_WORDS = 100.0  # Points, which are easier to read than reciprocals of ranks.
BEST_BY_MEANING = 0.3 * BEST_BY_WORDS
LONGEST_TEXT = 300

MOST_SIMILAR = 12
SIMILAR_COSINE = 0.62


def points_by_words(rank: Amount) -> Amount:
    return BEST_BY_WORDS * OFFSET / (OFFSET + rank)


def points_by_meaning(rank: Amount) -> Amount:
    """Return the points of a document among the nearest; others get none."""
    return BEST_BY_MEANING * OFFSET / (OFFSET + rank)


def rank_by_meaning(points: float) -> int:
    """Return the rank that gave so many points."""
    return round(BEST_BY_MEANING * OFFSET / points - OFFSET)


def meaning_text(document: IndexDocument) -> str:
    """Return the text of a document that is compared with searches by its meaning."""
    return " ".join(filter(None, (document.name, document.manufacturer, document.kind)))[:LONGEST_TEXT]


def reads_as_code(words: Sequence[str]) -> bool:
    """Whether every word has a digit, as codes, sizes and models do: they mean nothing but themselves."""
    return all(any(map(str.isdigit, word)) for word in words)
