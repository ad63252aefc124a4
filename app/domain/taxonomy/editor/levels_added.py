"""Several levels added at once, as people write them: line by line, nested or not. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.domain.shared.problems import Invalid
from app.domain.taxonomy.editor.level_edits import AddLevel, Outcome, free_id, level_of, shown
from app.domain.taxonomy.editor.level_lines import LevelLine
from app.domain.taxonomy.levels.flat import FlatLevels, path
from app.domain.taxonomy.validation.sent import DEEPEST


@dataclass(frozen=True, slots=True)
class AddLevels:
    """Add the levels that lines name; the topmost are placed as by AddLevel. Where the lines nest, a level that is
    there already by the same name, whatever its case, is used instead of a new one; otherwise each name is a new
    level."""

    parent_id: str | None
    lines: Sequence[LevelLine]
    after_id: str | None = None

    def apply(self, levels: FlatLevels) -> Outcome:
        """Add the levels. The level to look at afterwards is the first new one. Raises Invalid also for a line that
        would stand too deep."""
        above = 0 if self.parent_id is None else len(path(levels, level_of(levels, self.parent_id)["levelId"]))
        for wanted in self.lines:
            if above + len(wanted.way) > DEEPEST:
                message = f"Line {wanted.number:,}, {shown(wanted.way[-1])}, would be {above + len(wanted.way)} deep."
                raise Invalid.one("too_deep", f"{message} Levels nest at most {DEEPEST} deep.", "#/name")
        written = _Written(levels, self)
        for wanted in self.lines:
            written.go(wanted.way)
        return Outcome(written.levels, written.label(), next(iter(written.added), None))


class _Written:
    """The levels while those that the lines name are added one by one."""

    def __init__(self, levels: FlatLevels, edit: AddLevels) -> None:
        self.levels, self.added, self.known = levels, list[str](), dict[str, None]()
        self._parent_id, self._after_id = edit.parent_id, edit.after_id
        self._nests = any(len(wanted.way) > 1 for wanted in edit.lines)
        self._ids: dict[tuple[str | None, str], str] = {}
        for level_id, level in levels.items():
            self._ids.setdefault((level["parentLevelId"], _folded(level["name"])), level_id)

    def go(self, way: Sequence[str]) -> None:
        at = self._parent_id
        for name in way:
            found = self._ids.get((at, _folded(name))) if self._nests else None
            if found is not None and found not in self.added:
                self.known[found] = None
            at = found or self._add(at, name)

    def _add(self, parent_id: str | None, name: str) -> str:
        after_id = self._after_id if parent_id == self._parent_id else None
        level_id = free_id(self.levels)
        self.levels = AddLevel(parent_id, name, after_id).apply(self.levels).levels
        if after_id:
            self._after_id = level_id
        self.added.append(level_id)
        self._ids.setdefault((parent_id, _folded(name)), level_id)
        return level_id

    def label(self) -> str:
        added = set(self.added)
        one = len(added) == 1
        below = sum(self.levels[level_id]["parentLevelId"] in added for level_id in added)
        nested = f", {below:,} of them below the others" if below else ""
        what = shown(self.levels[self.added[0]]["name"]) if one else ""
        made = f"Added the level {what}" if one else f"Added {len(added):,} levels{nested}"
        there = f"; {len(self.known):,} {'was' if len(self.known) == 1 else 'were'} there already" if self.known else ""
        return made + there


def _folded(name: str) -> str:
    return " ".join(name.split()).casefold()
