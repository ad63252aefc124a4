"""Tables for spreadsheets: CSV whose cells no spreadsheet takes for a formula."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from io import StringIO

from flask import Response, stream_with_context

from app.domain.shared.csv_tables import guarded
from app.domain.shared.paging import batched

WRITTEN_AT_ONCE = 500  # Rows.
BEGINNING = "\ufeff"  # The byte order mark, by which spreadsheets recognise UTF-8.


def download(rows: Iterable[Sequence[str]], name: str) -> Response:
    """Return a table as a file of this name, which is written while it is sent: a whole one may take a hundred
    megabytes."""
    answer = Response(stream_with_context(_write_in_pieces(rows)), mimetype="text/csv")
    answer.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return answer


def _write_in_pieces(rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield BEGINNING
    for some in batched(rows, WRITTEN_AT_ONCE):
        yield lines(some)


def lines(rows: Iterable[Sequence[str]]) -> str:
    made = StringIO()
    csv.writer(made, quoting=csv.QUOTE_ALL).writerows([[guarded(text) for text in row] for row in rows])
    return made.getvalue()
