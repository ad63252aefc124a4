"""The forms of a word: hike, hiking and hiked share a root, so that each finds the others. Pure.

Words are those of `text.words`, whose plurals are cut already. The root is the stem by Porter2, but for words that it
takes for forms of one another although they name different things. A root is compared with roots alone: it need not be
a word.
"""

from __future__ import annotations

import threading
from functools import lru_cache

from Stemmer import Stemmer

from app.domain.search.text import LINKING_WORDS

SHORTEST = 4  # Letters of a word that has other forms.
# Words that do something are things of their own, as Porter2 has it for most: a controller is no form of control.
_DOERS = ("er", "or")
# Words that Porter2 takes for forms of others: those of the Icecat catalogue whose two things are sold apart, and those
# that are known from the literature on it (universe and university). One of each two suffices.
_ALONE = """
    animal author busy cloth coat converse digit engine experiment important importance integral international local
    locale organ organic origin paste polar popular positive powerful product project several silicon suite terminal
    unite united universe university
    activity bearing dressing gaming housing lining living seasoning shipping stocking
    marvell premiere
"""
_WITHOUT_FORMS = LINKING_WORDS.union(_ALONE.split())
_CACHED = 1 << 14
_own = threading.local()  # A stemmer works for one thread at a time.


@lru_cache(maxsize=_CACHED)
def root(word: str) -> str | None:
    """Return what all forms of a word share; None for a word without other forms: a code, a short or a linking word, or
    one that only looks like a form of another."""
    if len(word) < SHORTEST or not word.isalpha() or word in _WITHOUT_FORMS:
        return None
    stem: str = _stemmer().stemWord(word)
    return None if stem != word and word.endswith(_DOERS) else stem


def _stemmer() -> Stemmer:
    if not hasattr(_own, "stemmer"):
        _own.stemmer = Stemmer("english", 0)  # No cache of its own.
    stemmer: Stemmer = _own.stemmer
    return stemmer
