"""The words that an index knows, as spelling and unfinished words need them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from app.domain.search.ranking.weights import TEXT_FIELDS

# By field, how much each document that has a word there counts: a name says more about what the shop sells than a
# description.
_DESCRIBING = ("description", "attributes")
COMMONNESS = {field: 1 if field in _DESCRIBING else 10 for field in TEXT_FIELDS}


class Vocabulary(Protocol):
    """The words of the text fields. Words of documents that are gone may be among them for a while."""

    def frequency(self, word: str) -> int:
        """Return how common a word is: the documents that have it in a field times COMMONNESS, over all fields."""
        ...

    def known(self, words: set[str]) -> set[str]:
        """Those of the words that the vocabulary has."""
        ...

    def beginning_with(self, beginning: str) -> set[str]: ...

    def codes_beginning_with(self, beginning: str, limit: int) -> Sequence[str]:
        """The first codes (not words of text) in alphabetical order."""
        ...

    def near(self, word: str, edits: int, limit: int) -> Iterable[str]:
        """Words of letters within so many edits (a letter less, more, other, or two neighbours swapped): the nearest,
        of those the shorter, of those the first in the alphabet."""
        ...

    def documents_with(self, words: Sequence[str]) -> int:
        """Return how many live documents have all of the words, in any field."""
        ...
