"""A draft's tree as the editor shows it, row by row, and what differs between two of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from app.domain.taxonomy.levels.flat import FlatLevels, Record, children_of

MANY_ROWS = 60  # A tree with more opens with its branches closed.


class Mark(StrEnum):
    """What about a level is not saved yet."""

    NONE = ""
    NEW = "new"
    CHANGED = "changed"
    MOVED = "moved"


@dataclass(frozen=True, slots=True)
class Row:
    """`direct` and `rolled_up` count products, None where the taxonomy is not in use; `problems` are those of the
    level itself and its attributes."""

    level_id: str
    name: str
    direct: int | None
    rolled_up: int | None
    problems: int
    mark: Mark


@dataclass(frozen=True, slots=True)
class Outline:
    """`children` holds the ids below each level in their order, None standing for the top."""

    rows: Mapping[str, Row]
    children: Mapping[str | None, Sequence[str]]

    @property
    def is_large(self) -> bool:
        return len(self.rows) > MANY_ROWS


@dataclass(frozen=True, slots=True)
class Insertion:
    """Levels side by side, each with all below it, behind `after_id` or as the first below `parent_id`."""

    parent_id: str | None
    after_id: str | None
    level_ids: list[str]


@dataclass(frozen=True, slots=True)
class OutlineChange:
    """What turns one outline into another, in this order: branches that go, branches that come, branches that are
    shown anew in their place, rows whose own look differs. What branches come behind was there before and stays."""

    removed: Sequence[str] = ()
    inserted: Sequence[Insertion] = ()
    replaced: Sequence[str] = ()
    changed: Sequence[str] = ()


def outline(
    levels: FlatLevels, base: FlatLevels, products: Mapping[str, int] | None, problems: Mapping[str, int]
) -> Outline:
    """`base` is what was last saved, `products` the number at each level by its id, `problems` likewise."""
    children = children_of(levels)
    totals = _totals(levels, products) if products is not None else {}
    rows = {
        level_id: Row(
            level_id,
            level["name"],
            None if products is None else products.get(level_id, 0),
            totals.get(level_id),
            problems.get(level_id, 0),
            _mark(level, base.get(level_id)),
        )
        for level_id, level in levels.items()
    }
    return Outline(rows, children)


def _totals(levels: FlatLevels, products: Mapping[str, int]) -> dict[str, int]:
    totals = {level_id: products.get(level_id, 0) for level_id in levels}
    for level_id in reversed(levels):
        if (parent_id := levels[level_id]["parentLevelId"]) is not None:
            totals[parent_id] += totals[level_id]
    return totals


def _mark(level: Record, saved: Record | None) -> Mark:
    if saved is None:
        return Mark.NEW
    if saved is level:
        return Mark.NONE
    if any(saved[name] != level[name] for name in ("name", "description", "attributes")):
        return Mark.CHANGED
    moved = saved["parentLevelId"] != level["parentLevelId"] or saved["displayOrder"] != level["displayOrder"]
    return Mark.MOVED if moved else Mark.NONE


def differences(before: Outline, after: Outline) -> OutlineChange:
    """Small where little differs, whatever the size of the tree."""
    moved: set[str] = set()
    flipped: set[str] = set()
    for parent_id in {**before.children, **after.children}:
        old, new = before.children.get(parent_id, ()), after.children.get(parent_id, ())
        if old != new:
            moved |= _displaced(old, new)
            if parent_id is not None and parent_id in before.rows and bool(old) != bool(new):
                flipped.add(parent_id)
    return _told(before, after, moved, flipped)


def _displaced(old: Sequence[str], new: Sequence[str]) -> set[str]:
    """The fewest ids that have to be taken out of `old`, or put into `new`, to make one of the other."""
    places = {level_id: place for place, level_id in enumerate(old)}
    stay = _longest_rising([level_id for level_id in new if level_id in places], places)
    return (set(old) | set(new)) - stay


def _longest_rising(ids: Sequence[str], places: Mapping[str, int]) -> set[str]:
    """The longest run of ids that stand in the same order as before (patience sorting)."""
    ends: list[str] = []
    before: dict[str, str | None] = {}
    for level_id in ids:
        low, high = 0, len(ends)
        while low < high:
            middle = (low + high) // 2
            low, high = (middle + 1, high) if places[ends[middle]] < places[level_id] else (low, middle)
        before[level_id] = ends[low - 1] if low else None
        ends[low:] = [level_id, *ends[low + 1 :]]
    found: set[str] = set()
    last = ends[-1] if ends else None
    while last is not None:
        found.add(last)
        last = before[last]
    return found


def _told(before: Outline, after: Outline, moved: set[str], flipped: set[str]) -> OutlineChange:
    removed = list(_topmost(before, moved & set(before.rows)))
    fresh: set[str] = set()
    replaced: list[str] = []
    inserted: list[Insertion] = []
    _walk(after, None, moved, flipped, (replaced, inserted, fresh))
    changed = [
        level_id for level_id, row in after.rows.items() if level_id not in fresh and row != before.rows.get(level_id)
    ]
    return OutlineChange(removed, inserted, replaced, changed)


def _topmost(shown: Outline, chosen: set[str], parent_id: str | None = None) -> Iterator[str]:
    for level_id in shown.children.get(parent_id, ()):
        if level_id in chosen:
            yield level_id
        else:
            yield from _topmost(shown, chosen, level_id)


def _walk(
    after: Outline,
    parent_id: str | None,
    moved: set[str],
    flipped: set[str],
    told: tuple[list[str], list[Insertion], set[str]],
) -> None:
    """Collect what is shown anew. What stands below a branch that is shown anew comes with it."""
    replaced, inserted, fresh = told
    last, run = None, False
    for level_id in after.children.get(parent_id, ()):
        if level_id in moved:
            if not run:
                inserted.append(Insertion(parent_id, last, []))
            inserted[-1].level_ids.append(level_id)
            fresh.update(below(after, level_id))
        elif level_id in flipped:
            replaced.append(level_id)
            fresh.update(below(after, level_id))
        else:
            _walk(after, level_id, moved, flipped, told)
        last, run = (last, True) if level_id in moved else (level_id, False)


def below(shown: Outline, level_id: str) -> Iterator[str]:
    """A level and all below it."""
    yield level_id
    for child in shown.children.get(level_id, ()):
        yield from below(shown, child)
