"""Many levels written as lines: what stands below what. Pure."""

from __future__ import annotations

import re
from typing import NamedTuple

TAB = 4  # Columns, where lines are indented by tabs and spaces at once.
BETWEEN = re.compile(r"\s*›\s*|\s+>\s+")


class LevelLine(NamedTuple):
    """A line that names a level. `number` counts from 1; `way` are the names from the topmost written level down to its
    own."""

    number: int
    way: tuple[str, ...]


def level_lines(text: str) -> list[LevelLine]:
    """Read the levels that lines name. A line that is indented further than one before it stands below that; “A > B” or
    “A › B” is a path of several levels. Blank lines are ignored."""
    found: list[LevelLine] = []
    above: list[tuple[int, tuple[str, ...]]] = []  # The lines under which the next may stand, with their columns.
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        column = _column(line)
        while above and above[-1][0] >= column:
            above.pop()
        way = (*(above[-1][1] if above else ()), *_names(line.strip()))
        above.append((column, way))
        found.append(LevelLine(number, way))
    return found


def _column(line: str) -> int:
    spread = line.expandtabs(TAB)
    return len(spread) - len(spread.lstrip())


def _names(line: str) -> list[str]:
    return [name for name in BETWEEN.split(line) if name] or [line]
