"""A draft's tree as the editor shows it, row by row, and what differs between two of them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property

from app.domain.taxonomy.tree import Level, TaxonomyTree

MANY_ROWS = 60  # A tree with more opens with its branches closed.


class UnsavedChange(StrEnum):
    """The kind of change of a level that is not saved yet."""

    NONE = ""
    NEW = "new"
    CHANGED = "changed"
    MOVED = "moved"


@dataclass(frozen=True, slots=True)
class OutlineRow:
    """A level as a row of the outline. `direct` and `rolled_up` count products, None where the taxonomy is not in use;
    `problems` are those of the level itself and its attributes."""

    level_id: str
    name: str
    direct: int | None
    rolled_up: int | None
    mark: UnsavedChange
    problems: int = field(compare=False)


@dataclass(frozen=True)
class Outline:
    """A draft's tree, whose rows are made on demand. `base` is what was last saved, `products` the number at each level
    by its id, None where the taxonomy is not in use; `problems` likewise."""

    tree: TaxonomyTree
    base: TaxonomyTree
    products: Mapping[str, int] | None
    problems: Mapping[str, int]

    @property
    def children(self) -> Mapping[str | None, Sequence[str]]:
        """The ids below each level in their order, None standing for the top."""
        return self.tree.children

    @cached_property
    def totals(self) -> Mapping[str, int]:
        """Products at each level and below it; empty where the taxonomy is not in use."""
        return {} if self.products is None else self.tree.rolled_up(self.products)

    @property
    def is_large(self) -> bool:
        return len(self.tree.levels) > MANY_ROWS

    def row(self, level_id: str) -> OutlineRow:
        level = self.tree.levels[level_id]
        direct = None if self.products is None else self.products.get(level_id, 0)
        mark = _mark(level, self.base.levels.get(level_id))
        return OutlineRow(level_id, level.name, direct, self.totals.get(level_id), mark, self.problems.get(level_id, 0))


@dataclass(frozen=True, slots=True)
class Insertion:
    """Levels side by side, each with all below it, behind `after_id` or as the first below `parent_id`."""

    parent_id: str | None
    after_id: str | None
    level_ids: list[str]


@dataclass(frozen=True, slots=True)
class OutlineChange:
    """The changes that turn one outline into another, in this order: branches to remove, branches to insert, branches
    to replace in their place, and rows to draw again. The sibling behind which branches are inserted was there before
    and stays."""

    removed: Sequence[str] = ()
    inserted: Sequence[Insertion] = ()
    replaced: Sequence[str] = ()
    changed: Sequence[str] = ()


def _mark(level: Level, saved: Level | None) -> UnsavedChange:
    if saved is None:
        return UnsavedChange.NEW
    if saved is level or saved == level:
        return UnsavedChange.NONE
    in_place = replace(saved, parent_id=level.parent_id, display_order=level.display_order)
    return UnsavedChange.MOVED if in_place == level else UnsavedChange.CHANGED


def differences(before: Outline, after: Outline) -> OutlineChange:
    """Return the changes from one outline to another, which are small where little differs, whatever the size of the
    tree. Problems are not compared."""
    moved: set[str] = set()
    flipped: set[str] = set()
    for parent_id in {**before.children, **after.children}:
        old, new = before.children.get(parent_id, ()), after.children.get(parent_id, ())
        if old != new:
            moved |= _find_displaced(old, new)
            if parent_id is not None and parent_id in before.tree.levels and bool(old) != bool(new):
                flipped.add(parent_id)
    inserted, replaced, fresh = _branches_to_draw(after, moved, flipped)
    candidates = _rows_to_redraw(before, after) - fresh
    changed = [found for found in after.tree.levels if found in candidates and before.row(found) != after.row(found)]
    return OutlineChange(_topmost(before.tree, moved), inserted, replaced, changed)


def _find_displaced(old: Sequence[str], new: Sequence[str]) -> set[str]:
    """Return the fewest ids that have to be taken out of `old`, or put into it, to make `new` of it."""
    places = {level_id: place for place, level_id in enumerate(old)}
    stay = _longest_rising([level_id for level_id in new if level_id in places], places)
    return (set(old) | set(new)) - stay


def _longest_rising(ids: Sequence[str], places: Mapping[str, int]) -> set[str]:
    """Return the longest subsequence of ids that stand in the same order as before (patience sorting)."""
    ends: list[str] = []
    before: dict[str, str | None] = {}
    for level_id in ids:
        place = bisect_left(ends, places[level_id], key=places.__getitem__)
        before[level_id] = ends[place - 1] if place else None
        ends[place : place + 1] = [level_id]
    found: set[str] = set()
    last = ends[-1] if ends else None
    while last is not None:
        found.add(last)
        last = before[last]
    return found


def _branches_to_draw(
    after: Outline, moved: set[str], flipped: set[str]
) -> tuple[Sequence[Insertion], Sequence[str], set[str]]:
    """Return the branches to insert, those to replace in their place, and the ids of all levels of both."""
    inserted: list[Insertion] = []
    replaced: list[str] = []
    fresh: set[str] = set()
    for parent_id, level_ids in after.children.items():  # Every level before those below it.
        if parent_id in fresh or (moved.isdisjoint(level_ids) and flipped.isdisjoint(level_ids)):
            continue
        last, is_run = None, False
        for level_id in level_ids:
            if level_id in moved:
                if not is_run:
                    inserted.append(Insertion(parent_id, last, []))
                inserted[-1].level_ids.append(level_id)
            elif level_id in flipped:
                replaced.append(level_id)
            if level_id in moved or level_id in flipped:
                fresh.update(after.tree.below(level_id))
            last, is_run = level_id, level_id in moved
    return inserted, replaced, fresh


def _rows_to_redraw(before: Outline, after: Outline) -> set[str]:
    """Return the ids of the levels in both outlines whose records or numbers of products may differ."""
    found = {level.id for level in after.tree.changed_since(before.tree)}
    if after.base is not before.base:
        found |= {level.id for level in after.base.changed_since(before.base)}
    found |= {level_id for level_id, _ in after.totals.items() ^ before.totals.items()}
    return found & before.tree.levels.keys() & after.tree.levels.keys()


def _topmost(tree: TaxonomyTree, chosen: set[str]) -> list[str]:
    return [found for found in tree.levels if found in chosen and chosen.isdisjoint(tree.path_ids(found)[:-1])]
