"""Tables for spreadsheets: CSV whose cells no spreadsheet takes for a formula."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from io import StringIO

BEGINNING = "\ufeff"  # By which spreadsheets know UTF-8.
RUN_BY_SPREADSHEETS = ("=", "+", "-", "@", "\t", "\r")  # What a text begins with that they take for a formula.


def lines(rows: Iterable[Sequence[str]]) -> str:
    made = StringIO()
    csv.writer(made).writerows([[harmless(text) for text in row] for row in rows])
    return made.getvalue()


def harmless(text: str) -> str:
    """An apostrophe before what would be run; a number is left as it is."""
    is_number = text[1:].replace(".", "", 1).isdecimal()
    return f"'{text}" if text.startswith(RUN_BY_SPREADSHEETS) and not is_number else text
