"""Analysis of documents into the words of each field of an index, and the vocabulary that results from it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from itertools import pairwise
from typing import Protocol, TypeVar

from app.domain.search.engine import IndexDocument
from app.domain.search.ranking.scoring import TEXT_FIELDS
from app.domain.search.text import code, parts, words

# The version of the analysis. Raise it with every change, here, in app/domain/search/text.py or in word_forms.py beside
# it, of the words that a text gives and of their roots: indexes of another version are rebuilt.
ANALYSIS = 4

Word = TypeVar("Word")
# By field, how much each document that has a word there counts: a name says more about what the shop sells than a
# description.
_DESCRIBING = ("description", "attributes")
COMMONNESS = {field: 1 if field in _DESCRIBING else 10 for field in TEXT_FIELDS}


class Lexicon(Protocol[Word]):
    """The form in which an engine writes words: as they are, or as numbers of its own where that is faster."""

    def words(self, text: str) -> list[Word]:
        """The words of a text, stemmed."""
        ...

    def compound(self, first: Word, second: Word) -> Word:
        """Two words written as one."""
        ...

    def parts(self, word: Word) -> Sequence[Word]:
        """The runs of digits and of letters in a word that has both; none in another."""
        ...

    def code(self, text: str) -> Word | None:
        """A code as one word; None for one without letters and digits."""
        ...


class PlainLexicon:
    """Words as they are."""

    def words(self, text: str) -> list[str]:
        return words(text)

    def compound(self, first: str, second: str) -> str:
        return first + second

    def parts(self, word: str) -> tuple[str, ...]:
        return parts(word)

    def code(self, text: str) -> str | None:
        return code(text) or None


def analyse(document: IndexDocument, lexicon: Lexicon[Word]) -> dict[str, list[Word]]:
    """The words of each field (`scoring.FIELDS`), as often as they occur. `pairs` are neighbours in names, search terms
    and codes written as one; `parts` are the runs within a word and the pieces between the hyphens of a code."""
    read = lexicon.words
    name = read(document.name)
    terms = [read(term) for term in document.terms]
    codes = [read(text) for text in document.codes]
    exact = [name, *terms, *codes]
    pieces = [word for written in codes if len(written) > 1 for word in written]
    pieces += [part for sequence in exact for word in sequence for part in lexicon.parts(word)]
    return {
        "name": name,
        "terms": [word for term in terms for word in term],
        "manufacturer": read(document.manufacturer),
        "kind": read(document.kind),
        "description": read(document.description),
        "attributes": read(document.attributes),
        "codes": [whole for text in document.codes if (whole := lexicon.code(text)) is not None],
        "pairs": [lexicon.compound(*pair) for sequence in exact for pair in pairwise(sequence)],
        "parts": pieces,
    }


class Vocabulary(Protocol):
    """The words of the text fields. Words of documents that are gone may be among them for a while."""

    def frequency(self, word: str) -> int:
        """Return how common a word is: the documents that have it in a field times COMMONNESS, over all fields."""
        ...

    def known(self, words: Set[str]) -> set[str]:
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
        """Return how many live documents have all of the words or other forms of them, in any field."""
        ...
