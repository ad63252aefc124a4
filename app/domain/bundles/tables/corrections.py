"""The lines of a table that were left out, as a table to correct and send again. Pure but for reading the file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from app.domain.bundles.tables.columns import PROBLEM
from app.domain.bundles.tables.lines import Lines, TableLine
from app.domain.bundles.tables.products import TableFormat, keyed_lines


def corrections(path: Path, name: str, table: TableFormat, refused: Sequence[Mapping[str, Any]]) -> Iterator[list[str]]:
    """Yield the names of the columns, then every line of the products that a report's `refused` names, as they were
    sent. A further column says on the first line of each what is wrong with it."""
    reasons = _reasons(refused)
    with path.open("rb") as stream:
        lines = iter(Lines(stream, name))
        header = next(lines).cells
        keep = [place for place, column in enumerate(header) if column.strip() != PROBLEM]
        yield [*(header[place] for place in keep), PROBLEM]
        for begun, line in keyed_lines(table, lines):
            if begun in reasons:
                yield [*_cells(line, keep), reasons[begun] if begun == line.number else ""]


def _reasons(refused: Sequence[Mapping[str, Any]]) -> dict[int, str]:
    found: dict[int, dict[str, None]] = {}
    for one in refused:
        if one["line"] is not None:
            found.setdefault(one["line"], {})[one["reason"]] = None
    return {line: " ".join(reasons) for line, reasons in found.items()}


def _cells(line: TableLine, keep: Sequence[int]) -> Iterator[str]:
    return (line.cells[place] if place < len(line.cells) else "" for place in keep)
