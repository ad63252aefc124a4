"""Edits of levels, and many levels written as lines. Pure.

Each edit returns the tree after it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import NamedTuple, Protocol

from app.domain.shared.problems import Invalid
from app.domain.shared.text import UNPRINTABLE, UNPRINTABLE_IN_BLOCK, one_line
from app.domain.taxonomy.tree import Level, TaxonomyTree
from app.domain.taxonomy.validation.rules import (
    LONGEST_ALLOWED_VALUE,
    LONGEST_NAME,
    LONGEST_OTHER_NAME,
    LONGEST_TEXT,
    MOST_LEVELS,
    MOST_OTHER_NAMES,
)
from app.domain.taxonomy.validation.sent_tree import DEEPEST

LONGEST_IN_LABEL = 60
KEPT = 4  # A draft keeps texts of so many times the allowed length, and reports them, so that they can be shortened.
LONGEST_LINE, LONGEST_BLOCK = KEPT * LONGEST_NAME, KEPT * LONGEST_TEXT
TAB = 4  # Columns, where lines are indented by tabs and spaces at once.
BETWEEN = re.compile(r"\s*›\s*|\s+>\s+")


class Outcome(NamedTuple):
    tree: TaxonomyTree
    label: str
    level_id: str | None


class Edit(Protocol):
    """An edit of a draft."""

    def apply(self, tree: TaxonomyTree) -> Outcome:
        """Return the tree after the edit, its label and the level to show next. Raises Invalid for what cannot be
        done."""
        ...


@dataclass(frozen=True, slots=True)
class AddLevel:
    """Add a level behind the level `after_id`, if that stands directly below the same parent; otherwise as the last."""

    parent_id: str | None
    name: str
    after_id: str | None = None

    def apply(self, tree: TaxonomyTree) -> Outcome:
        above = [] if self.parent_id is None else tree.path(level_of(tree, self.parent_id).id)
        _check_depth(len(above) + 1)
        if len(tree.levels) >= MOST_LEVELS:
            raise Invalid.one("too_many_levels", f"A taxonomy has at most {MOST_LEVELS:,} levels.")
        beside = tree.siblings(self.parent_id)
        position = beside.index(self.after_id) + 1 if self.after_id in beside else len(beside)
        tree, order = _room(tree, beside, position)
        level = Level(_free_id(tree), line(self.name, pointer="#/name"), self.parent_id, display_order=order)
        return Outcome(tree.with_level(level).in_order(), f"Added the level {quote(level.name)}", level.id)


@dataclass(frozen=True, slots=True)
class ChangeLevel:
    """Change the texts of a level. `other_names` of None stay as they are."""

    level_id: str
    name: str
    description: str
    other_names: Sequence[str] | None = None

    def apply(self, tree: TaxonomyTree) -> Outcome:
        level = level_of(tree, self.level_id)
        changed = replace(
            level,
            name=line(self.name, pointer="#/name"),
            description=block(self.description, "#/description"),
            other_names=level.other_names if self.other_names is None else _other_names(self.other_names),
        )
        if level.name != changed.name:
            label = f"Renamed {quote(level.name)} to {quote(changed.name)}"
        else:
            aspect = "other names" if level.other_names != changed.other_names else "description"
            label = f"Changed the {aspect} of {quote(changed.name)}"
        return Outcome(tree.with_level(changed), label, self.level_id)


def _other_names(typed: Sequence[str]) -> tuple[str, ...]:
    """Return the names as they are kept, blank ones left out. Raises Invalid for far too many of them."""
    longest, place = KEPT * LONGEST_OTHER_NAME, "#/otherNames"
    names = tuple(dict.fromkeys(filter(None, (line(one_line(name), longest, place) for name in typed))))
    if len(names) > KEPT * MOST_OTHER_NAMES:
        message = f"A level has at most {MOST_OTHER_NAMES} other names; these are {len(names):,}."
        raise Invalid.one("too_many", message, place)
    return names


@dataclass(frozen=True, slots=True)
class MoveLevel:
    """Move a level with all below it. `position` counts from 0 among the levels below the parent, without the level
    itself; what is beyond the ends means the end."""

    level_id: str
    parent_id: str | None
    position: int

    def apply(self, tree: TaxonomyTree) -> Outcome:
        level = level_of(tree, self.level_id)
        target = "to the top" if self.parent_id is None else f"below {quote(level_of(tree, self.parent_id).name)}"
        _check_move(tree, level, self.parent_id)
        siblings = tree.siblings(self.parent_id)
        beside = [found for found in siblings if found != level.id]
        position = max(0, min(self.position, len(beside)))
        stays = self.parent_id == level.parent_id
        if stays and siblings.index(level.id) == position:
            return Outcome(tree, f"Left {quote(level.name)} in its place", level.id)
        tree, order = _room(tree, beside, position)
        moved = replace(level, parent_id=self.parent_id, display_order=order)
        label = f"Moved {quote(level.name)} {'among its neighbours' if stays else target}"
        return Outcome(tree.with_level(moved).in_order(), label, level.id)


class Direction(StrEnum):
    UP = "up"
    DOWN = "down"
    INDENT = "indent"
    OUTDENT = "outdent"


@dataclass(frozen=True, slots=True)
class ShiftLevel:
    """Move a level one place up or down among its siblings, to the end of the levels below the sibling before it, or
    out, behind its parent."""

    level_id: str
    direction: Direction

    def apply(self, tree: TaxonomyTree) -> Outcome:
        level = level_of(tree, self.level_id)
        beside = tree.siblings(level.parent_id)
        place = beside.index(level.id)
        if self.direction is Direction.OUTDENT:
            if level.parent_id is None:
                raise _stuck(level, "stands at the top already")
            above = tree.levels[level.parent_id].parent_id
            return MoveLevel(level.id, above, tree.siblings(above).index(level.parent_id) + 1).apply(tree)
        if place == 0 and self.direction is not Direction.DOWN:
            raise _stuck(level, "is the first below its parent" if level.parent_id else "is the first level")
        if self.direction is Direction.INDENT:
            return MoveLevel(level.id, beside[place - 1], len(tree.levels)).apply(tree)
        if place == len(beside) - 1 and self.direction is Direction.DOWN:
            raise _stuck(level, "is the last below its parent" if level.parent_id else "is the last level")
        by = 1 if self.direction is Direction.DOWN else -1
        return MoveLevel(level.id, level.parent_id, place + by).apply(tree)


@dataclass(frozen=True, slots=True)
class DeleteLevel:
    """Delete a level with all below it."""

    level_id: str

    def apply(self, tree: TaxonomyTree) -> Outcome:
        """Delete the level. The level to look at afterwards is the sibling that takes its place, or the one before, or
        the parent."""
        level = level_of(tree, self.level_id)
        gone = set(tree.below(level.id))
        beside = tree.siblings(level.parent_id)
        place = beside.index(level.id)
        near = [*beside[place + 1 : place + 2], *beside[max(0, place - 1) : place], level.parent_id]
        below = f" and {len(gone) - 1:,} below it" if len(gone) > 1 else ""
        kept = TaxonomyTree.of(found for found in tree.levels.values() if found.id not in gone)
        return Outcome(kept, f"Deleted the level {quote(level.name)}{below}", near[0])


def level_of(tree: TaxonomyTree, level_id: str) -> Level:
    """Return the level with an id. Raises Invalid for a level that is not there."""
    level = tree.levels.get(level_id)
    if level is None:
        raise Invalid.one("unknown_level", f"There is no level “{level_id[:80]}” any more.")
    return level


def quote(name: str) -> str:
    """A name as a label quotes it."""
    return f"“{name[:LONGEST_IN_LABEL]}”"


def _free_id(tree: TaxonomyTree) -> str:
    number = 1 + sum(1 for level_id in tree.levels if level_id.startswith("new-"))
    while f"new-{number}" in tree.levels:
        number += 1
    return f"new-{number}"


def _check_move(tree: TaxonomyTree, level: Level, parent_id: str | None) -> None:
    above = tree.path_ids(parent_id)
    if level.id in above:
        raise Invalid.one("moved_below_itself", f"{quote(level.name)} cannot stand below itself.")
    deepest = max(len(tree.path(below)) for below in tree.below(level.id))
    _check_depth(len(above) + 1 + deepest - len(tree.path(level.id)))


def _check_depth(depth: int) -> None:
    if depth > DEEPEST:
        raise Invalid.one("too_deep", f"Levels nest at most {DEEPEST} deep.")


def _room(tree: TaxonomyTree, beside: Sequence[str], position: int) -> tuple[TaxonomyTree, float]:
    """Return the tree and the place of a new sibling at this position. Where no number is left between two siblings,
    all of them get new ones."""
    order = between([tree.levels[found].display_order for found in beside], position)
    if order is not None:
        return tree, order
    renumbered = {found: replace(tree.levels[found], display_order=2 * place) for place, found in enumerate(beside)}
    return TaxonomyTree({**tree.levels, **renumbered}), 2 * position - 1


def between(orders: Sequence[float], position: int) -> float | None:
    """A number that sorts at this position; None when two neighbours leave none between them."""
    if not orders:
        return 0
    if position <= 0:
        return orders[0] - 1
    if position >= len(orders):
        return orders[-1] + 1
    middle = (orders[position - 1] + orders[position]) / 2
    return middle if orders[position - 1] < middle < orders[position] else None


def _stuck(level: Level, why: str) -> Invalid:
    return Invalid.one("cannot_move", f"{quote(level.name)} {why}.")


def line(text: str, longest: int = LONGEST_LINE, pointer: str = "#") -> str:
    """Return the text, trimmed. Raises Invalid for what cannot be stored in a draft; other problems are left to
    validation."""
    return _storable(text.strip(), UNPRINTABLE, longest, pointer)


def value_line(text: str) -> str:
    return line(text, KEPT * LONGEST_ALLOWED_VALUE)


def block(text: str, pointer: str = "#") -> str:
    return _storable(text.replace("\r\n", "\n"), UNPRINTABLE_IN_BLOCK, LONGEST_BLOCK, pointer).strip()


def _storable(text: str, unprintable: re.Pattern[str], longest: int, pointer: str) -> str:
    if len(text) > longest:
        message = f"“{text[:40]}…” is {len(text):,} characters long; a draft keeps at most {longest:,}."
        raise Invalid.one("too_long", message, pointer)
    if unprintable.search(text):
        raise Invalid.one("unprintable", "The text contains characters that cannot be shown.", pointer)
    return text


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
        spread = line.expandtabs(TAB)
        column = len(spread) - len(spread.lstrip())
        while above and above[-1][0] >= column:
            above.pop()
        names = [name for name in BETWEEN.split(line.strip()) if name] or [line.strip()]
        way = (*(above[-1][1] if above else ()), *names)
        above.append((column, way))
        found.append(LevelLine(number, way))
    return found


@dataclass(frozen=True, slots=True)
class AddLevels:
    """Add the levels that lines name; the topmost are placed as by AddLevel. Where the lines nest, a level that is
    there already by the same name, whatever its case, is used instead of a new one; otherwise each name is a new
    level."""

    parent_id: str | None
    lines: Sequence[LevelLine]
    after_id: str | None = None

    def apply(self, tree: TaxonomyTree) -> Outcome:
        """Add the levels. The level to look at afterwards is the first new one. Raises Invalid also for a line that
        would stand too deep."""
        above = 0 if self.parent_id is None else len(tree.path(level_of(tree, self.parent_id).id))
        for wanted in self.lines:
            if above + len(wanted.way) > DEEPEST:
                message = f"Line {wanted.number:,}, {quote(wanted.way[-1])}, would be {above + len(wanted.way)} deep."
                raise Invalid.one("too_deep", f"{message} Levels nest at most {DEEPEST} deep.", "#/name")
        written = _LinesAdded(tree, self)
        for wanted in self.lines:
            written.go(wanted.way)
        return Outcome(written.tree, written.label(), next(iter(written.added), None))


class _LinesAdded:
    """The tree while the levels that the lines name are added one by one."""

    def __init__(self, tree: TaxonomyTree, edit: AddLevels) -> None:
        self.tree, self.added, self.known = tree, list[str](), dict[str, None]()
        self._parent_id, self._after_id = edit.parent_id, edit.after_id
        self._nests = any(len(wanted.way) > 1 for wanted in edit.lines)
        self._ids: dict[tuple[str | None, str], str] = {}
        for level in tree.levels.values():
            self._ids.setdefault((level.parent_id, _fold_name(level.name)), level.id)

    def go(self, way: Sequence[str]) -> None:
        at = self._parent_id
        for name in way:
            found = self._ids.get((at, _fold_name(name))) if self._nests else None
            if found is not None and found not in self.added:
                self.known[found] = None
            at = found or self._add(at, name)

    def _add(self, parent_id: str | None, name: str) -> str:
        after_id = self._after_id if parent_id == self._parent_id else None
        level_id = _free_id(self.tree)
        self.tree = AddLevel(parent_id, name, after_id).apply(self.tree).tree
        if after_id:
            self._after_id = level_id
        self.added.append(level_id)
        self._ids.setdefault((parent_id, _fold_name(name)), level_id)
        return level_id

    def label(self) -> str:
        added = set(self.added)
        one = len(added) == 1
        below = sum(self.tree.levels[level_id].parent_id in added for level_id in added)
        nested = f", {below:,} of them below the others" if below else ""
        what = quote(self.tree.levels[self.added[0]].name) if one else ""
        made = f"Added the level {what}" if one else f"Added {len(added):,} levels{nested}"
        there = f"; {len(self.known):,} {'was' if len(self.known) == 1 else 'were'} there already" if self.known else ""
        return made + there


def _fold_name(name: str) -> str:
    return " ".join(name.split()).casefold()
