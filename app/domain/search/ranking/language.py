"""The words of the language, so that a search for something that the shop lacks is not taken for a mistake.

They are those of the list of English words that the package symspellpy ships (MIT), with how often books have each.
None of the package's code is run. The words of a letter are read when the first is looked for, which takes some
milliseconds; a process that has them all holds 26 strings, 0.65 MB, instead of 72,000 objects.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from string import ascii_lowercase

PACKAGE = "symspellpy"
FILE = "frequency_dictionary_en_82_765.txt"
# Words that books have less often are left out. It was chosen on one half of the lists in bench/spelling.
RAREST = 30_000
# Endings that the analysis cuts from plurals that have no such singular: of "scissors" and "clothes".
_PLURALS = ("s", "es")


def is_word(word: str, rarest: int = RAREST) -> bool:
    """Whether a word, folded and perhaps without the ending of a plural, is one of those that books have at least
    `rarest` times."""
    if not word or word[0] not in ascii_lowercase:
        return False
    words = _words(word[0], rarest)
    if _has(words, word.encode()):
        return True
    return not word.endswith("s") and any(_has(words, f"{word}{ending}".encode()) for ending in _PLURALS)


@cache
def _words(initial: str, rarest: int) -> bytes:
    """Return the words with a first letter in the order of their bytes, a line break before and after each. Raises
    FileNotFoundError where the package is not installed or has no such file."""
    package = find_spec(PACKAGE)
    if package is None or package.origin is None:
        raise FileNotFoundError(f"The package {PACKAGE}, which has the words of the language, is not installed.")
    listed = (Path(package.origin).parent / FILE).read_text("utf-8-sig")
    counted = re.findall(rf"^({initial}\S*) (\d+)", listed, re.MULTILINE)
    words = sorted(word.encode() for word, count in counted if int(count) >= rarest)
    return b"\n" + b"\n".join(words) + b"\n"


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
