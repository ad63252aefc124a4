"""Synonyms as a table: `type,root,words` with semicolons between the words, or as people write them. Pure."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import StringIO

from app.domain.relevance.synonyms.group import MOST_GROUPS, split_words
from app.domain.search.serving.synonyms import SynonymGroup, SynonymType
from app.domain.shared.problems import Invalid
from app.domain.shared.table_cells import unguarded
from app.domain.shared.text import one_line

COLUMNS = ("type", "root", "words")
TYPES = {name: kind for kind in SynonymType for name in (kind.value.casefold().replace("_", " "), kind.label)}
ARROWS = ("->", "→")
LONGEST_TABLE = 500_000  # Characters: 1,000 groups of 20 words with 25 letters.


@dataclass(frozen=True, slots=True)
class TableLine:
    """A line as it stands in the file, the first being 1; `problem` says why it is no group."""

    number: int
    text: str
    group: SynonymGroup | None = None
    problem: str = ""


def rows_of(groups: Sequence[SynonymGroup]) -> Iterator[tuple[str, str, str]]:
    yield "type", "root", "words"
    for group in groups:
        yield group.type.value, group.root or "", ";".join(group.words)


def read_table(text: str) -> list[TableLine]:
    """Read the lines of a table. Empty lines are passed over, and so is a first line with the names of the columns.
    Raises Invalid for what is no table or has too many lines."""
    if len(text) > LONGEST_TABLE or "\0" in text:
        raise Invalid.one("not_a_table", "This file is too large or no text.", "#/file")
    found = [line for line in _lines(text.removeprefix("\ufeff")) if line is not None]
    if not found:
        raise Invalid.one("empty_table", "The file holds no synonyms.", "#/file")
    if len(found) > MOST_GROUPS:
        message = f"The file holds {len(found):,} synonyms; a shop has at most {MOST_GROUPS:,}."
        raise Invalid.one("too_many_synonyms", message, "#/file")
    return found


def _lines(text: str) -> Iterator[TableLine | None]:
    reader = csv.reader(StringIO(text, newline=""), strict=True)
    before = 0
    try:
        for cells in reader:
            number, before = before + 1, reader.line_num
            yield _line(number, [unguarded(one_line(cell)) for cell in cells])
    except csv.Error as error:
        raise Invalid.one(
            "not_a_table", f"The file breaks off in line {reader.line_num}: {error}.", "#/file"
        ) from error


def _line(number: int, cells: list[str]) -> TableLine | None:
    if not any(cells) or (number == 1 and cells[0].casefold() == COLUMNS[0]):
        return None
    shown = ",".join(cells)[:200]
    if (written := _as_people_write(cells)) is not None:
        return TableLine(number, shown, written)
    if len(cells) != len(COLUMNS):
        needed = f"A line has three columns, {', '.join(COLUMNS)}; this has {len(cells)}."
        return TableLine(number, shown, problem=needed)
    kind = TYPES.get(cells[0].casefold().replace("-", " ").replace("_", " "))
    if kind is None:
        known = " or ".join(f"{kind} (“{kind.label}”)" for kind in SynonymType)
        problem = f"“{cells[0][:40]}” is no type of synonyms: write {known}."
        return TableLine(number, shown, problem=problem)
    return TableLine(number, shown, SynonymGroup(kind, cells[1] or None, tuple(split_words(cells[2]))))


def _as_people_write(cells: list[str]) -> SynonymGroup | None:
    """Read a group written as `hoover -> vacuum, vacuum cleaner` or `sofa = couch = settee`, as the page shows
    synonyms; None for a line that begins as a table's does."""
    typed = ",".join(cells)
    for arrow in ARROWS:
        if arrow in cells[0]:
            root, _, words = typed.partition(arrow)
            return SynonymGroup(SynonymType.ONE_WAY, one_line(root) or None, tuple(split_words(words)))
    if "=" in cells[0]:
        return SynonymGroup(SynonymType.EQUIVALENT, None, tuple(map(one_line, typed.split("="))))
    return None
