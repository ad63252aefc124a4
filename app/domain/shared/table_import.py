"""Import of a table as a spreadsheet saves it: its lines, and the outcome of each. Pure."""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from io import StringIO
from typing import Generic, TypeVar

from app.domain.shared.problems import Invalid
from app.domain.shared.table_cells import unguarded
from app.domain.shared.text import one_line

LONGEST_TABLE = 500_000  # Characters.
MOST_TABLE_LINES = 20_000  # Blank ones and those within cells included; no list of the shop has as many.
BEYOND = ""  # The key of the cells that a line has beyond the columns of its table.
T = TypeVar("T")


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
    reader = csv.reader(StringIO(text.removeprefix("\ufeff"), newline=""), strict=True)
    before = 0
    try:
        for raw in reader:
            number, before = before + 1, reader.line_num
            cells = [unguarded(cell) for cell in raw]
            if any(cell.strip() for cell in cells):
                yield number, cells
    except csv.Error as error:
        message = f"The file breaks off in line {reader.line_num}: {error}."
        raise Invalid.one("not_a_table", message, "#/file") from error


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
    return [(number, _named(header, cells)) for number, cells in lines[1:]]


def _named(header: Sequence[str], cells: Sequence[str]) -> dict[str, str]:
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
