"""Texts in cells of a table that a spreadsheet opens: none of them becomes a formula (OWASP, CSV injection). Pure."""

from __future__ import annotations

import re
import unicodedata

# The signs by which spreadsheets take a text for a formula, behind those that they skip.
_RUN, _CONTROL = ("=", "+", "-", "@"), ("\t", "\r", "\n")
_PASSED_OVER = re.compile(r"\A['\s\u00ad\u200b-\u200f\u2060\ufeff]+")
_NUMBER = re.compile(r"[+-][0-9]+(\.[0-9]+)?")
# Where commas are decimal points, a spreadsheet begins a new cell at each semicolon, also within quotation marks.
_NEXT_CELL = ";"


def guarded(text: str) -> str:
    """Return the text with an apostrophe before each part that a spreadsheet would run as a formula, also behind a
    semicolon; a number stays as it is."""
    return _NEXT_CELL.join(f"'{part}" if _would_run(part) else part for part in text.split(_NEXT_CELL))


def unguarded(text: str) -> str:
    """Return the text without the apostrophes that `guarded` put in; one of the text's own stays."""
    parts = text.split(_NEXT_CELL)
    return _NEXT_CELL.join(part[1:] if part.startswith("'") and _would_run(part[1:]) else part for part in parts)


def _would_run(part: str) -> bool:
    plain = unicodedata.normalize("NFKC", part)
    begins = plain.lstrip("'").startswith(_CONTROL) or _PASSED_OVER.sub("", plain).startswith(_RUN)
    return begins and not _NUMBER.fullmatch(part)
