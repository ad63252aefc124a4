"""The lines of a CSV file, one at a time: a file of any length takes the memory of its longest line."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import IO, NamedTuple

from app.domain.bundles.report import BrokenBundle
from app.domain.bundles.tables.columns import MOST_COLUMNS
from app.domain.shared.table_cells import unguarded

MOST_LINES = 2_000_000  # Of a file, blank ones and those within cells included: ten for each of the most products.
MOST_FIRST_LINES = 20_000  # Read in a request for the column names and some samples, ...
MOST_FIRST_BYTES = 8 * 1024**2  # ... and so many bytes; the whole file is read by a worker.
LONGEST_LINE = 1024**2  # Bytes.
SEPARATORS = (",", ";", "\t")


class TableLine(NamedTuple):
    """A line of cells; `number` is where it begins in the file, the first being 1, `size` the length of its cells."""

    number: int
    cells: list[str]
    size: int


class FirstLinesEnd(BrokenBundle):
    """The lines that are read in a request ended before what they were read for."""


class Lines:
    """The lines of an open file, those that are blank left out. Iterating raises BrokenBundle, and where only the first
    lines are to be read, FirstLinesEnd after them."""

    def __init__(self, stream: IO[bytes], name: str, only_first: bool = False) -> None:
        self._name = name
        self._stream = stream
        self._only_first = only_first
        self._read = 0
        self._bytes = 0
        self._size = 0  # Bytes of the line of cells that is being read: it goes on over line ends in quotation marks.
        first = self._text(self._stream.readline(LONGEST_LINE + 1))
        self._separator = max(SEPARATORS, key=first.count)
        self._first = first

    def __iter__(self) -> Iterator[TableLine]:
        reader = csv.reader(self._texts(), delimiter=self._separator, strict=True)
        before = 0
        try:
            for raw in reader:
                number, before, self._size = before + 1, reader.line_num, 0
                if len(raw) > MOST_COLUMNS:
                    message = f"A table has at most {MOST_COLUMNS} columns; this line has {len(raw):,} cells."
                    raise BrokenBundle.at(self._name, message, number)
                cells = [unguarded(cell) for cell in raw]
                if any(cell.strip() for cell in cells):
                    yield TableLine(number, cells, sum(map(len, raw)))
        except csv.Error as error:
            raise BrokenBundle.at(self._name, f"The table ends too early: {error}.", reader.line_num) from error

    def _texts(self) -> Iterator[str]:
        yield self._first
        while raw := self._stream.readline(LONGEST_LINE + 1):
            yield self._text(raw)

    def _text(self, raw: bytes) -> str:
        self._read += 1
        self._size += len(raw)
        self._bytes += len(raw)
        if self._only_first and (self._read > MOST_FIRST_LINES or self._bytes > MOST_FIRST_BYTES):
            message = f"The column names and a row must be within the first {MOST_FIRST_LINES:,} lines"
            raise FirstLinesEnd.at(self._name, f"{message} and {MOST_FIRST_BYTES // 1024**2} MB.", self._read)
        if self._size > LONGEST_LINE:
            message = f"The line is longer than {LONGEST_LINE:,} bytes; is a quotation mark missing?"
            raise BrokenBundle.at(self._name, message, self._read)
        try:
            return raw.decode("utf-8-sig" if self._read == 1 else "utf-8").replace("\0", "�")
        except UnicodeDecodeError as error:
            message = "The file is not in UTF-8. In a spreadsheet, save it as “CSV UTF-8”."
            raise BrokenBundle.at(self._name, message, self._read) from error


def header_and_samples(path: Path, name: str, samples: int) -> tuple[list[str], list[list[str]]]:
    """Return the names of a table's columns and the cells of its first lines, filled up to the header's length. Raises
    BrokenBundle for what is no table. It takes no longer for a long file: only the first lines are read."""
    found: list[list[str]] = []
    with path.open("rb") as stream:
        lines = iter(Lines(stream, name, only_first=True))
        header = _header(next(lines, None), name)
        try:
            found.extend(line.cells for line in islice(lines, samples))
        except FirstLinesEnd:
            if not found:
                raise
    if not found:
        raise BrokenBundle.at(name, "The file has no rows below the column names.")
    return header, [[*cells, *[""] * len(header)][: len(header)] for cells in found]


def _header(line: TableLine | None, name: str) -> list[str]:
    if line is None or len(line.cells) < 2:
        raise BrokenBundle.at(name, "The first line must hold the column names, with commas, semicolons or tabs.")
    return line.cells
