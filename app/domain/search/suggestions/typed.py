"""The words of a search that is still being typed, and the texts that fit them. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from app.domain.search.text import MAX_CHARACTERS, request_words, stem, tokens
from app.domain.shared.folding import fold

SHORTEST = 2  # Letters and digits; fewer fit nearly everything.
_WORDS = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Typed:
    """What was typed so far, and its words, folded. `is_typing` says that the last one may be the beginning of a longer
    word."""

    text: str = ""
    words: tuple[str, ...] = ()
    is_typing: bool = False

    @classmethod
    def read(cls, values: Iterable[str]) -> Typed:
        """Return what was typed, given the values of its parameter in the address, of which the first that is not blank
        counts. The last word is finished where a space follows it or it is a plural."""
        given = next((value for value in values if value.strip()), "")[:MAX_CHARACTERS]
        words = tuple(tokens(given))
        is_typing = bool(words) and not given[-1].isspace() and stem(words[-1]) == words[-1]
        return cls(request_words([given]), words, is_typing)

    @property
    def folded(self) -> str:
        return " ".join(self.words)

    @property
    def is_enough(self) -> bool:
        """Whether it is long enough for suggestions."""
        return sum(map(len, self.words)) >= SHORTEST


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a suggestion's text. `is_typed` is what the shopper has typed of it."""

    text: str
    is_typed: bool = False


def pieces(text: str, typed: Typed) -> list[Piece]:
    """Return a text cut into pieces, so that the beginnings of its words that were typed are pieces of their own."""
    found: list[Piece] = []
    end = 0
    for word in _WORDS.finditer(text):
        length = max((len(begun) for begun in typed.words if _begins(word[0], begun)), default=0)
        if length:
            typed_until = min(word.start() + length, word.end())  # Letters such as ß are folded to two.
            found += [Piece(text[end : word.start()]), Piece(text[word.start() : typed_until], is_typed=True)]
            end = typed_until
    return [piece for piece in (*found, Piece(text[end:])) if piece.text]


def _begins(word: str, begun: str) -> bool:
    """Whether a word as it is written begins with letters as they are folded, letter for letter."""
    return fold(word[: len(begun)]) == begun
