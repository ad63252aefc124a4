"""Texts as word pieces, as the uncased BERT models were trained on them."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from functools import lru_cache

LONGEST_WORD = 100
MOST = 128
CACHED_WORDS = 50_000
CACHED_CHARACTERS = 5_000
ASCII_PUNCTUATION = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
UNSEEN = frozenset(("Cc", "Cf", "Co", "Cs", "Mn"))
CJK = (
    (0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F), (0x2B740, 0x2B81F),
    (0x2B920, 0x2CEAF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F),
)  # fmt: skip


class WordPieces:
    """Cuts texts into the word pieces of a vocabulary, whose entries are in the order of their ids. A word that has
    none is [UNK]. Raises KeyError where the vocabulary lacks the marks of BERT."""

    def __init__(self, vocabulary: Sequence[str]) -> None:
        self._ids: Mapping[str, int] = {piece: id for id, piece in enumerate(vocabulary)}
        self._begin, self._end, self._unknown = (self._ids[mark] for mark in ("[CLS]", "[SEP]", "[UNK]"))
        self._characters = _Characters()
        self._of_word = lru_cache(CACHED_WORDS)(self._cut)

    def ids(self, text: str, most: int = MOST) -> list[int]:
        """Return the ids of a text's pieces between those of [CLS] and [SEP], at most `most` with these."""
        pieces: list[int] = []
        for word in unicodedata.normalize("NFD", text).translate(self._characters).split(" "):
            if word:
                pieces += self._of_word(word)
        return [self._begin, *pieces[: most - 2], self._end]

    def _cut(self, word: str) -> tuple[int, ...]:
        """Return the ids of a word's pieces, each the longest that the rest of the word begins with; that of [UNK]
        alone where there is none."""
        if len(word) > LONGEST_WORD:
            return (self._unknown,)
        pieces = []
        start = 0
        while start < len(word):
            mark = "##" if start else ""
            for end in range(len(word), start, -1):
                if (id := self._ids.get(mark + word[start:end])) is not None:
                    break
            else:
                return (self._unknown,)
            pieces.append(id)
            start = end
        return tuple(pieces)


class _Characters(dict[int, str | None]):
    """The table by which `str.translate` normalises a decomposed text: to lower case, with blanks around punctuation
    and Chinese characters, without accents and what cannot be seen. It caches only the first CACHED_CHARACTERS that it
    meets, since people can type any of a million."""

    def __missing__(self, code: int) -> str | None:
        kept = _kept(chr(code))
        if len(self) < CACHED_CHARACTERS:
            self[code] = kept
        return kept


def _kept(character: str) -> str | None:
    category = unicodedata.category(character)
    if character in "\t\n\r" or category[0] == "Z":
        return " "
    if category in UNSEEN or character == "\ufffd":
        return None
    if category[0] == "P" or character in ASCII_PUNCTUATION or any(low <= ord(character) <= high for low, high in CJK):
        return f" {character} "
    return character.lower()
