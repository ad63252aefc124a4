"""Folding of words, so that case, accents and trade marks do not distinguish them."""

from __future__ import annotations

import unicodedata

_MARKS = dict.fromkeys(map(ord, "®™©℠'’"))


def fold(text: str) -> str:
    """Return the text in lower case without accents, ligatures, width variants or trade marks: `cafe` for `Café™`."""
    if not text.isascii():
        decomposed = unicodedata.normalize("NFKD", text.translate(_MARKS).casefold())
        text = "".join(c for c in decomposed if not unicodedata.combining(c))
    return text.replace("'", "").lower()
