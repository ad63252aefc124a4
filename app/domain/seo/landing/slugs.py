"""The last step of a landing page's address, made from the value that the page is about."""

from __future__ import annotations

import re
import unicodedata

LIGATURES = str.maketrans(
    {"æ": "ae", "œ": "oe", "ß": "ss", "ø": "o", "đ": "d", "ð": "d", "ł": "l", "þ": "th", "ħ": "h", "ı": "i", "ŋ": "ng"}
)
_OTHERS = re.compile(r"[^a-z0-9]+", re.ASCII)


def landing_slug(value: str) -> str:
    """Return the value in lower case without accents, other characters as single hyphens between; empty where nothing
    is left. Idempotent."""
    lower = unicodedata.normalize("NFKD", value).lower().translate(LIGATURES)
    plain = "".join(sign for sign in unicodedata.normalize("NFKD", lower) if not unicodedata.combining(sign))
    return _OTHERS.sub("-", plain).strip("-")
