"""A better spelling for words that find nothing: one slip of the finger, two words written as one,
two slips in a long word, or another ending of a word that is known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from heapq import nsmallest

import numpy as np
from rapidfuzz.distance import OSA
from rapidfuzz.process import extract

from app.adapters.whoosh.matching import longer_words
from app.adapters.whoosh.scoring import member, word_matches
from app.adapters.whoosh.view import View
from app.adapters.whoosh.vocabulary import vocabulary_of
from app.domain.search.text import LINKING_WORDS, stem, tokens

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
SHORTEST = 3
LONG_WORD = 7
SHARED_BEGINNING = 5
SHARED_SHARE = 0.6
CONSIDERED = 6
NAMES_CONSULTED = 20
# How much commoner a neighbour must be before a word that the index knows counts as a slip.
_RARER = 20

Spelling = tuple[str, ...]


def corrections(
    view: View, words: Sequence[str], right: frozenset[str] = frozenset(), *, last_may_go_on: bool
) -> dict[str, Spelling]:
    """What to read for each word that the index does not know. The beginning of a longer word is no mistake
    where it may be one, nor are the words that are said to be `right`."""
    key = ("corrections", tuple(words), right, last_may_go_on)
    return view.recent(key, lambda: _corrections(view, words, right, last_may_go_on), len)


def _corrections(view: View, words: Sequence[str], right: frozenset[str], last_may_go_on: bool) -> dict[str, Spelling]:
    better = {}
    for word in words:
        if (
            word in right
            or len(word_matches(view, word).docs)
            or (last_may_go_on and word == words[-1] and longer_words(view, word))
        ):
            continue
        spelling = _better(view, word, [other for other in words if other != word])
        if spelling:
            better[word] = spelling
    return better


def slips(view: View, words: Sequence[str], right: frozenset[str] = frozenset()) -> dict[str, Spelling]:
    """For words that are all known but never together: one that is rare beside a far commoner neighbour."""
    return view.recent(("slips", tuple(words), right), lambda: _slips(view, words, right), len)


def _slips(view: View, words: Sequence[str], right: frozenset[str]) -> dict[str, Spelling]:
    vocabulary = vocabulary_of(view)
    for word in [word for word in words if word not in right]:
        others = [other for other in words if other != word]
        for spelling in _by_likelihood(view, word, vocabulary.known(one_edit_away(word)), others):
            rarer = vocabulary.frequency(spelling) > _RARER * vocabulary.frequency(word)
            if rarer and _together(view, [spelling, *others]):
                return {word: (spelling,)}
    return {}


def as_written(view: View, word: str) -> str:
    """How names write an indexed word, which may be a stem: `adidas` for `adida`."""
    return view.recent(("as written", word), lambda: _as_written(view, word), len)


def _as_written(view: View, word: str) -> str:
    best = word_matches(view, word)
    names = view.names(best.docs[np.argsort(-best.scores, kind="stable")[:NAMES_CONSULTED]])
    written = Counter(token for name in names for token in tokens(name) if stem(token) == word)
    return max(written, key=lambda token: (written[token], token), default=word)


def replaced(words: Sequence[str], better: Mapping[str, Spelling]) -> Spelling:
    return tuple(dict.fromkeys(part for word in words for part in better.get(word, (word,))))


def _better(view: View, word: str, others: Sequence[str]) -> Spelling | None:
    if len(word) < SHORTEST or not word.isalpha():
        return None
    for candidates in _candidates(view, word):
        best = next(iter(_by_likelihood(view, word, candidates, others)), None)
        if best is not None:
            return tuple(best.split())
    return None


def _candidates(view: View, word: str) -> Iterator[set[str]]:
    vocabulary = vocabulary_of(view)
    yield vocabulary.known(one_edit_away(word))
    yield _split(view, word)
    if len(word) >= LONG_WORD:
        near = vocabulary.of_length(len(word) - 2, len(word) + 2)
        yield {found for found, _, _ in extract(word, near, scorer=OSA.distance, score_cutoff=2, limit=20)}
    shared = max(SHARED_BEGINNING, round(SHARED_SHARE * len(word)))
    yield vocabulary.beginning_with(word[:shared]) if len(word) > shared else set()


def _split(view: View, word: str) -> set[str]:
    """The word as two known words that some product has both of."""
    cuts = [(word[:cut], word[cut:]) for cut in range(3, len(word) - 2)]
    pairs = [pair for pair in cuts if all(map(vocabulary_of(view).frequency, pair))]
    return {" ".join(pair) for pair in pairs if _together(view, pair)}


def _by_likelihood(view: View, word: str, candidates: set[str], others: Sequence[str]) -> list[str]:
    """Likeliest first: what goes with the other words, then what is common; people rarely miss the first letter."""
    vocabulary = vocabulary_of(view)

    def common(candidate: str) -> int:
        frequency = min(vocabulary.frequency(part) for part in candidate.split())
        return frequency * (3 if candidate[0] == word[0] else 1)

    likely = nsmallest(CONSIDERED, candidates - LINKING_WORDS, key=lambda c: (-common(c), c))
    if len(likely) < 2 or not others:
        return likely
    together = {c: _together(view, [*c.split(), *others]) * (3 if c[0] == word[0] else 1) for c in likely}
    return sorted(likely, key=lambda c: -together[c])


def _together(view: View, words: Sequence[str]) -> int:
    """How many documents have all the words."""
    docs = word_matches(view, words[0]).docs
    for word in words[1:]:
        docs = docs[member(view, word_matches(view, word), docs)]
    return len(docs)


def one_edit_away(word: str) -> set[str]:
    """Every string that one slip of the finger makes of a word: a letter less, more, other, or two swapped."""
    splits = [(word[:place], word[place:]) for place in range(len(word) + 1)]
    less = {head + tail[1:] for head, tail in splits if tail}
    swapped = {head + tail[1] + tail[0] + tail[2:] for head, tail in splits if len(tail) > 1}
    other = {head + letter + tail[1:] for head, tail in splits if tail for letter in _LETTERS}
    more = {head + letter + tail for head, tail in splits for letter in _LETTERS}
    return (less | swapped | other | more) - {word}
