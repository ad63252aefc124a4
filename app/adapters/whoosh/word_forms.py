"""The words of a segment by their roots, as one text of lines, so that a search finds the other forms of its words.

A word that is its own root stands in no line. What is left is a tenth of the vocabulary and is searched as it is.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from app.domain.search.word_forms import root


def write_forms(words: Iterable[bytes]) -> bytes:
    """Return a line for each root: the root and its forms, which are UTF-8 and come in their order."""
    forms: dict[str, list[str]] = defaultdict(list)
    for word in sorted({word.decode() for word in words}):
        shared = root(word)
        if shared is not None and shared != word:
            forms[shared].append(word)
    lines = (f"{shared}\t{chr(9).join(forms[shared])}\n" for shared in sorted(forms))
    return ("\n" + "".join(lines)).encode()


def find_forms(table: bytes, shared: str) -> list[str]:
    """Return the forms of a root that differ from it."""
    start = table.find(f"\n{shared}\t".encode())
    return [] if start < 0 else table[start + 1 : table.index(b"\n", start + 1)].decode().split("\t")[1:]
