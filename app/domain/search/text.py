"""Analysis of text into words, the same for the texts of the index and for what people type.

Typed text is data: it is capped, folded and cut into words here and never reaches a query parser.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise

from app.domain.search.plurals import SINGULARS
from app.domain.shared.folding import fold

MAX_CHARACTERS = 200
MAX_WORDS = 16
MAX_WORD_LENGTH = 64

# Words that people type between the words that matter. They add to a score but need not match.
LINKING_WORDS = frozenset(("a", "an", "and", "at", "by", "for", "from", "in", "of", "on", "or", "the", "to", "with"))

_WORD = re.compile(r"[^\W_]+")
_PART = re.compile(r"\d+|\D+")
_SIBILANT_PLURALS = ("ches", "shes", "sses", "xes", "tzes", "zzes")
_NOT_PLURAL = ("ss", "us", "is")


def tokens(text: str) -> list[str]:
    """The words of a text in their order, folded; single letters and digits count as words."""
    return _WORD.findall(fold(text))


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """Return the singular of a folded plural, and any other word as it is, so that different words stay different. Both
    are cut at MAX_WORD_LENGTH."""
    word = word[:MAX_WORD_LENGTH]
    singular = SINGULARS.get(word) or _without_ending(word)
    return SINGULARS.get(singular, singular)  # "men's" is folded to "mens", whose singular is the plural "men".


def _without_ending(word: str) -> str:
    if len(word) < 4 or word[-1] != "s" or word.endswith(_NOT_PLURAL) or not word.isalpha():
        return word
    if word.endswith("ies"):
        return word[:-3] + "y" if len(word) > 4 else word[:-1]
    if word.endswith(_SIBILANT_PLURALS):
        return word[:-2]
    return word[:-1]


def words(text: str) -> list[str]:
    """The words of a text as they are indexed."""
    return [stem(token) for token in tokens(text)]


def request_words(values: Iterable[str]) -> str:
    """Return the query of a page of results, given every value of its parameter in the address: the first that is not
    blank, with single spaces, cut at MAX_CHARACTERS."""
    first = next((value for value in values if value.strip()), "")
    return " ".join(first.split())[:MAX_CHARACTERS].rstrip()


def query_words(text: str) -> tuple[str, ...]:
    """Return the words of a shopper's query: at most 16 different words out of the first 200 characters."""
    return tuple(dict.fromkeys(words(text[:MAX_CHARACTERS])))[:MAX_WORDS]


def parts(word: str) -> tuple[str, ...]:
    """The runs of digits and of letters in a word that has both: `rj45` gives `rj` and `45`."""
    found = tuple(_PART.findall(word))
    return found if len(found) > 1 else ()


def joined(pieces: Iterable[str]) -> str:
    """Return words written as one, the form in which spellings of a code or compound match: `rj 45` and `RJ-45` are
    `rj45`."""
    return "".join(pieces)


def code(text: str) -> str:
    """A code as one word, whatever hyphens, spaces and case it was written with."""
    return joined(tokens(text))[:MAX_WORD_LENGTH]


def neighbours(sequence: Sequence[str]) -> list[str]:
    """Return each pair of adjacent words, written as one."""
    return [first + second for first, second in pairwise(sequence)]
