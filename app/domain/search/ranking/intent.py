"""The kind of product that the words mean, in two terms: the level whose products answer best, and a level that the
words name.

Products of a level are lifted by that level's share in the first results: the sum of the squared scores of its
products there, beside the largest such sum. Where the words are a name of the level, whole, its products are lifted
further: "laptop" names Laptops, and the many laptop bags that have the word as well in their names do not outrank them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from app.domain.search.ranking.weights import Amount
from app.domain.search.text import LINKING_WORDS, words

KIND = "level"  # The name of the values that say of what kind a document is, from the root of the taxonomy down.
FIRST_RESULTS = 50
SHARE_LIFT = 0.5
NAME_LIFT = 4.0  # The first results of a level's name are nearly all of that level, see bench/README.md.

_BETWEEN_NAMES = re.compile(r"\band\b|[,&]", re.IGNORECASE)


def lift_by_share(evidence: Amount, largest: float) -> Amount:
    """Return the factor for the scores of a level's products. `evidence` is the sum of the squared scores of those
    among the first results, `largest` the largest such sum of any level."""
    return 1 + SHARE_LIFT * evidence / largest


# In place of the lift by share: a named level is lifted by the larger of the two.
LIFT_BY_NAME = 1 + NAME_LIFT

Phrase = tuple[str, ...]


def phrase_of(query: Sequence[str], optional: Collection[str] = LINKING_WORDS) -> Phrase:
    """Return the words of a query that may name a level: all but the optional ones."""
    return tuple(word for word in query if word not in optional)


def phrases(names: Iterable[str]) -> Iterator[Phrase]:
    """Yield the phrases that name a level with these names: a name such as "Drums and ribbons" is two."""
    for name in names:
        for part in _BETWEEN_NAMES.split(name):
            if phrase := phrase_of(words(part)):
                yield phrase
