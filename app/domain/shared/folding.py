"""How differently written words are compared: without case, accents and trade marks."""

from __future__ import annotations

import unicodedata

_MARKS = dict.fromkeys(map(ord, "®™©℠'’"))


def fold(text: str) -> str:
    """Lower case without accents, ligatures, width variants or trade marks: `Café™` reads `cafe`."""
    if not text.isascii():
        decomposed = unicodedata.normalize("NFKD", text.translate(_MARKS).casefold())
        text = "".join(c for c in decomposed if not unicodedata.combining(c))
    return text.replace("'", "").lower()
