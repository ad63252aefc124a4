"""Words that shoppers write apart and the catalogue writes as one: "sun glasses" and "sunglasses"."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from app.adapters.whoosh.schema import TEXT_FIELDS
from app.adapters.whoosh.scoring import Matches, united, word_matches
from app.adapters.whoosh.view import View

_IN_TEXT = np.uint16((1 << len(TEXT_FIELDS)) - 1)

# A word written as one stands for two, so each of the two gets half of what it scores.
_HALF = 0.5


def matches_of(view: View, words: Sequence[str]) -> list[Matches]:
    """What each word matches. A document that has two neighbouring words written as one has both."""
    matches = [word_matches(view, word) for word in words]
    for place, (first, second) in enumerate(pairwise(words)):
        one = word_matches(view, first + second)
        if (one.fields & _IN_TEXT).any():
            for word, here in ((first, place), (second, place + 1)):
                matches[here] = _with(view, word, matches[here], first + second, one)
    return matches


def _with(view: View, word: str, match: Matches, joined: str, one: Matches) -> Matches:
    written = (one.fields & _IN_TEXT) > 0
    part = Matches(one.docs[written], one.scores[written], one.fields[written])
    key = ("with", word, len(match.docs), joined)
    return view.recent(key, lambda: united(view, [(match, 1.0), (part, _HALF)]), Matches.size_in_bytes)
