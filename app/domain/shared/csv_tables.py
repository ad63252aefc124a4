"""Tables as spreadsheets save them (CSV): the one reader of them, the outcome of each line of an import, and cells that
become no formula (OWASP, CSV injection). Pure."""

from __future__ import annotations

import csv
import hashlib
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from io import StringIO
from typing import Generic, NamedTuple, TypeVar

from app.domain.shared.problems import Invalid
from app.domain.shared.text import one_line

LONGEST_TABLE = 500_000  # Characters.
MOST_TABLE_LINES = 20_000  # Blank ones and those within cells included; no list of the shop has as many.
BEYOND = ""  # The key of the cells that a line has beyond the columns of its table.
T = TypeVar("T")
# The signs by which spreadsheets take a text for a formula, behind those that they skip.
_RUN, _CONTROL = ("=", "+", "-", "@"), ("\t", "\r", "\n")
_PASSED_OVER = re.compile(r"\A['\s\u00ad\u200b-\u200f\u2060\ufeff]+")
_NUMBER = re.compile(r"[+-][0-9]+(\.[0-9]+)?")
# Where commas are decimal points, a spreadsheet begins a new cell at each semicolon, also within quotation marks.
_NEXT_CELL = ";"


class TableLine(NamedTuple):
    """A line of cells; `number` is where it begins in the file, the first being 1, `size` the length of its cells."""

    number: int
    cells: list[str]
    size: int

    @property
    def is_blank(self) -> bool:
        return not any(cell.strip() for cell in self.cells)


class BrokenTable(Exception):
    """The error of a text that is no CSV; `line` is where reading ended."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line = line


class RowOutcome(StrEnum):
    ADDED = "added"
    CHANGED = "changed"
    SAME = "same"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class ImportLine(Generic[T]):
    """The outcome of a line. `made` is the record that it makes, `replaces` the stored one that it changes, `reason`
    why it is refused."""

    number: int
    text: str
    outcome: RowOutcome
    made: T | None = None
    replaces: T | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ImportReport(Generic[T]):
    lines: Sequence[ImportLine[T]]

    def count(self, outcome: str) -> int:
        return sum(line.outcome == outcome for line in self.lines)

    @property
    def changes(self) -> int:
        return self.count(RowOutcome.ADDED) + self.count(RowOutcome.CHANGED)

    @property
    def digest(self) -> str:
        """A checksum that is the same as long as the same lines have the same outcomes for the same records."""
        said = [(line.number, line.outcome.value, line.made, line.replaces, line.reason) for line in self.lines]
        return hashlib.sha256(repr(said).encode()).hexdigest()


def read_lines(text: Iterable[str], separator: str = ",") -> Iterator[TableLine]:
    """Yield the lines of a table, blank ones included, from its text in pieces that end where a line of text does; the
    apostrophe that guards a formula is taken away. Raises BrokenTable."""
    reader = csv.reader(text, delimiter=separator, strict=True)
    before = 0
    try:
        for raw in reader:
            number, before = before + 1, reader.line_num
            yield TableLine(number, [unguarded(cell) for cell in raw], sum(map(len, raw)))
    except csv.Error as error:
        raise BrokenTable(reader.line_num, str(error)) from error


def read_cells(text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the lines that hold anything, each with the number at which it begins; the apostrophe that guards a formula
    is taken away. Raises Invalid for what is no table, and before anything is read for one that is too long."""
    if len(text) > LONGEST_TABLE:
        message = f"This file has {len(text):,} characters; at most {LONGEST_TABLE:,} go in at once."
        raise Invalid.one("not_a_table", message, "#/file")
    if "\0" in text:
        raise Invalid.one("not_a_table", "This file is no text.", "#/file")
    if (lines := text.count("\n") + text.count("\r") - text.count("\r\n")) > MOST_TABLE_LINES:
        message = f"This file has {lines:,} lines, blank ones included; at most {MOST_TABLE_LINES:,} go in at once."
        raise Invalid.one("too_many_lines", message, "#/file")
    try:
        for line in read_lines(StringIO(text.removeprefix("\ufeff"), newline="")):
            if not line.is_blank:
                yield line.number, line.cells
    except BrokenTable as error:
        raise Invalid.one("not_a_table", f"The file breaks off in line {error.line}: {error}.", "#/file") from error


def read_named(
    text: str, columns: Mapping[str, str], required: Sequence[str], noun: str, most: int
) -> list[tuple[int, dict[str, str]]]:
    """Read a table whose first line names its columns, in any order and case: the cells of each line, by column.
    `columns` are the known columns, by their names in lower case. Raises Invalid for no table, unknown or missing
    columns, and more than `most` lines. Cells beyond the columns of the table are for `check_cells`."""
    lines = list(read_cells(text))
    if not lines:
        raise Invalid.one("empty_table", f"The file holds no {noun}.", "#/file")
    header = [columns.get(one_line(cell).casefold(), "") for cell in lines[0][1]]
    wrong = [cell for cell, name in zip(lines[0][1], header, strict=True) if not name]
    missing = [name for name in required if name not in header]
    if wrong or missing or len(set(header)) < len(header):
        message = f"The first line must name the columns: {', '.join(dict.fromkeys(columns.values()))}."
        named = f" Unknown: {', '.join(wrong)[:80]}." if wrong else ""
        raise Invalid.one("unknown_columns", message + named, "#/file")
    if len(lines) - 1 > most:
        message = f"The file holds {len(lines) - 1:,} {noun}; at most {most:,} go in at once."
        raise Invalid.one("too_many", message, "#/file")
    return [(number, _name_cells(header, cells)) for number, cells in lines[1:]]


def _name_cells(header: Sequence[str], cells: Sequence[str]) -> dict[str, str]:
    named = dict(zip(header, cells, strict=False))
    if any(cell.strip() for cell in cells[len(header) :]):
        named[BEYOND] = one_line(", ".join(cells[len(header) :]))
    return named


def check_cells(cells: Mapping[str, str]) -> None:
    """Raise Invalid for a line of a named table with more cells than the first line names."""
    if BEYOND in cells:
        message = (
            f"The first line names no column for “{cells[BEYOND][:40]}”. Put cells with commas in quotation marks."
        )
        raise Invalid.one("too_many_cells", message)


def refused(number: int, text: str, invalid: Invalid) -> ImportLine[T]:
    """Return a line that is refused for what is wrong with it."""
    reason = " ".join(problem.message for problem in invalid.problems[:3])
    return ImportLine(number, text[:200], RowOutcome.REFUSED, reason=reason)


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
