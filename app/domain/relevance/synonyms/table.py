"""Synonyms as a table: `type,root,words` with semicolons between the words, or as people write them. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from app.domain.relevance.synonyms.group import MOST_GROUPS, split_words
from app.domain.search.serving.synonyms import SynonymGroup, SynonymType
from app.domain.shared.problems import Invalid
from app.domain.shared.table_import import read_cells
from app.domain.shared.text import one_line

COLUMNS = ("type", "root", "words")
TYPES = {name: kind for kind in SynonymType for name in (kind.value.casefold().replace("_", " "), kind.label)}
ARROWS = ("->", "→")


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
    found = [
        line for number, cells in read_cells(text) if (line := _line(number, list(map(one_line, cells)))) is not None
    ]
    if not found:
        raise Invalid.one("empty_table", "The file holds no synonyms.", "#/file")
    if len(found) > MOST_GROUPS:
        message = f"The file holds {len(found):,} synonyms; a shop has at most {MOST_GROUPS:,}."
        raise Invalid.one("too_many_synonyms", message, "#/file")
    return found


def _line(number: int, cells: list[str]) -> TableLine | None:
    if number == 1 and cells[0].casefold() == COLUMNS[0]:
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
    synonyms; None for any other line."""
    typed = ",".join(cells)
    for arrow in ARROWS:
        if arrow in cells[0]:
            root, _, words = typed.partition(arrow)
            return SynonymGroup(SynonymType.ONE_WAY, one_line(root) or None, tuple(split_words(words)))
    if "=" in cells[0]:
        return SynonymGroup(SynonymType.EQUIVALENT, None, tuple(map(one_line, typed.split("="))))
    return None
