"""A better spelling for words that the index does not know."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rapidfuzz.distance import OSA
from rapidfuzz.process import extract

from app.adapters.whoosh.matching import longer_words
from app.adapters.whoosh.schema import EXACT_FIELDS, TEXT_FIELDS
from app.adapters.whoosh.view import View

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
SHORTEST = 4
LONG_WORD = 7
_NAMING_WORTH = 10


def known(view: View, word: str) -> bool:
    term = word.encode()
    return any(view.document_frequency(field, term) for field in (*TEXT_FIELDS, *EXACT_FIELDS))


def corrected(view: View, words: Sequence[str], *, last_may_go_on: bool) -> tuple[str, ...] | None:
    """The words with each unknown one replaced by its likeliest spelling; None when nothing gets better."""
    better = [_better(view, word, last_may_go_on and word == words[-1]) for word in words]
    return tuple(better) if tuple(better) != tuple(words) else None


def _better(view: View, word: str, may_go_on: bool) -> str:
    if len(word) < SHORTEST or not word.isalpha() or known(view, word):
        return word
    if may_go_on and longer_words(view, word):
        return word
    frequencies = view.cached("vocabulary", lambda: vocabulary(view))
    near = one_edit_away(word) & frequencies.keys()
    if not near and len(word) >= LONG_WORD:
        choices = [known for known in frequencies if abs(len(known) - len(word)) <= 2]
        near = {found for found, _, _ in extract(word, choices, scorer=OSA.distance, score_cutoff=2, limit=20)}
    return max(near, key=lambda term: (term[0] == word[0], frequencies[term], term), default=word)


def vocabulary(view: View) -> Mapping[str, int]:
    """The words of the text fields and how common each is; words of names count for more."""
    frequencies: dict[str, int] = {}
    for segment in view.segments:
        for field in TEXT_FIELDS:
            worth = 1 if field in ("description", "attributes") else _NAMING_WORTH
            for term, frequency in segment.frequencies(field).items():
                if term.isalpha():
                    frequencies[term] = frequencies.get(term, 0) + worth * frequency
    return frequencies


def one_edit_away(word: str) -> set[str]:
    """Every string that one slip of the finger makes of a word: a letter less, more, other, or two swapped."""
    splits = [(word[:place], word[place:]) for place in range(len(word) + 1)]
    less = {head + tail[1:] for head, tail in splits if tail}
    swapped = {head + tail[1] + tail[0] + tail[2:] for head, tail in splits if len(tail) > 1}
    other = {head + letter + tail[1:] for head, tail in splits if tail for letter in _LETTERS}
    more = {head + letter + tail for head, tail in splits for letter in _LETTERS}
    return (less | swapped | other | more) - {word}
