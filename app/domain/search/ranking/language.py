"""The words of the language, so that a search for something that the shop lacks is not taken for a mistake.

They are those of the list of English words that the package symspellpy ships (MIT), with how often books have each.
None of the package's code is run. A process holds them as one string in the order of the alphabet, 0.65 MB, instead of
as 72,000 objects.
"""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from pathlib import Path

PACKAGE = "symspellpy"
FILE = "frequency_dictionary_en_82_765.txt"
# Words that books have less often are left out. It was chosen on one half of the lists in bench/spelling.
RAREST = 30_000
# Endings that the analysis cuts from plurals that have no such singular: of "scissors" and "clothes".
_PLURALS = ("s", "es")


def is_word(word: str, rarest: int = RAREST) -> bool:
    """Whether a word, folded and perhaps without the ending of a plural, is one of those that books have at least
    `rarest` times."""
    words = _words(rarest)
    if _has(words, word.encode()):
        return True
    return not word.endswith("s") and any(_has(words, f"{word}{ending}".encode()) for ending in _PLURALS)


@cache
def _words(rarest: int) -> bytes:
    """Return the words in the order of their bytes, a line break before and after each. The file has the commonest
    first. Raises FileNotFoundError where the package is not installed or has no such file."""
    package = find_spec(PACKAGE)
    if package is None or package.origin is None:
        raise FileNotFoundError(f"The package {PACKAGE}, which has the words of the language, is not installed.")
    words = []
    with open(Path(package.origin).parent / FILE, encoding="utf-8-sig") as lines:
        for line in lines:
            word, _, count = line.partition(" ")
            if int(count) < rarest:
                break
            words.append(word.encode())
    return b"\n" + b"\n".join(sorted(words)) + b"\n"


def _has(words: bytes, word: bytes) -> bool:
    """Search by halves. `low` and `high` are places of line breaks, between which the word would stand."""
    low, high = 0, len(words) - 1
    while low < high:
        start = words.rfind(b"\n", low, (low + high) // 2 + 1)
        end = words.index(b"\n", start + 1)
        here = words[start + 1 : end]
        if here == word:
            return True
        low, high = (end, high) if here < word else (low, start)
    return False
