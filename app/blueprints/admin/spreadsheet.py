"""Tables for spreadsheets: CSV whose cells no spreadsheet takes for a formula."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from io import StringIO

from app.domain.shared.csv_tables import guarded

BEGINNING = "\ufeff"  # The byte order mark, by which spreadsheets recognise UTF-8.


def lines(rows: Iterable[Sequence[str]]) -> str:
    made = StringIO()
    csv.writer(made, quoting=csv.QUOTE_ALL).writerows([[guarded(text) for text in row] for row in rows])
    return made.getvalue()
