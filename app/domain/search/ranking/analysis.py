"""Analysis of documents into words: what each field of an index holds."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Protocol, TypeVar

from app.domain.search.engine import IndexDocument

# The version of the analysis. Raise it with every change, here or in app/domain/search/text.py, of the words that a
# text gives: indexes of another version are rebuilt.
ANALYSIS = 2

Word = TypeVar("Word")


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


def analyse(document: IndexDocument, lexicon: Lexicon[Word]) -> dict[str, list[Word]]:
    """The words of each field (`weights.FIELDS`), as often as they occur. `pairs` are neighbours in names, search terms
    and codes written as one; `parts` are the runs within a word and the pieces between the hyphens of a code."""
    words = lexicon.words
    name = words(document.name)
    terms = [words(term) for term in document.terms]
    codes = [words(code) for code in document.codes]
    exact = [name, *terms, *codes]
    parts = [word for code in codes if len(code) > 1 for word in code]
    parts += [part for sequence in exact for word in sequence for part in lexicon.parts(word)]
    return {
        "name": name,
        "terms": [word for term in terms for word in term],
        "manufacturer": words(document.manufacturer),
        "kind": words(document.kind),
        "description": words(document.description),
        "attributes": words(document.attributes),
        "codes": [code for text in document.codes if (code := lexicon.code(text)) is not None],
        "pairs": [lexicon.compound(*pair) for sequence in exact for pair in pairwise(sequence)],
        "parts": parts,
    }
