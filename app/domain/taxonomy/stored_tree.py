"""A tree in its two plain forms: as the database holds it, and as a table of records that the editor changes.

A tree of 2,000 levels is megabytes of JSON, and most requests that need one need the same. So decoded trees are cached
by their text, with what was computed from them: whatever is saved, undone or rolled back, a caller gets the tree that
was read. Cached trees are never changed, nor is a record of a table: a changed level is a new record under its id.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import wraps
from threading import Lock
from typing import Any, TypeVar

from cachetools import LRUCache, cached

MOST_CHARACTERS = 4 * 1024 * 1024  # Of all texts that are kept. Decoded they take about nine times as many bytes.

Levels = Sequence[Mapping[str, Any]]
Made = TypeVar("Made")
Record = dict[str, Any]
FlatLevels = dict[str, Record]
"""By level id, in tree order: levelId, name, otherNames, description, parentLevelId, displayOrder and attributes (a
list in the order of their displayOrder). Edits put records between others by a fraction as displayOrder."""


class StoredLevels(list[dict[str, Any]]):
    """A tree that never changes, as decoded or as proposed, with what was computed from it and its text, once there is
    one. Copies are plain lists."""

    __slots__ = ("made", "text")

    def __init__(self, levels: Sequence[dict[str, Any]] = (), text: str = "") -> None:
        super().__init__(levels)
        self.text = text
        self.made: dict[object, Any] = {}

    def __reduce__(self) -> tuple[type[list[Any]], tuple[list[dict[str, Any]]]]:
        return list, (self[:],)


_decoded: LRUCache[str, StoredLevels] = LRUCache(MOST_CHARACTERS, getsizeof=lambda levels: len(levels.text))
_lock = Lock()


@cached(_decoded, key=str, lock=_lock)
def read_stored(text: str) -> StoredLevels:
    """Return the decoded tree of a text, from an LRU cache that is bounded by the characters of the texts."""
    return StoredLevels(json.loads(text), text)


def write_stored(levels: Levels) -> str:
    """Return the text of a tree; that of a StoredLevels is made once, and read back as the same object."""
    if not isinstance(levels, StoredLevels):
        return json.dumps(levels)
    if not levels.text:
        levels.text = json.dumps(levels)
        with _lock, suppress(ValueError):  # Larger than the cache.
            _decoded[levels.text] = levels
    return levels.text


def made_once(make: Callable[[Levels], Made]) -> Callable[[Levels], Made]:
    """Cache the result of a function with the stored tree: for functions of a tree alone whose result is never
    changed."""

    @wraps(make)
    def of(root_levels: Levels) -> Made:
        if not isinstance(root_levels, StoredLevels):
            return make(root_levels)
        if make not in root_levels.made:
            root_levels.made[make] = make(root_levels)
        found: Made = root_levels.made[make]
        return found

    return of


def stored_records(root_levels: Levels) -> Iterator[Mapping[str, Any]]:
    """Every level of a tree in the stored form, in tree order."""
    for level in root_levels:
        yield level
        yield from stored_records(level.get("children") or ())


@made_once
def flatten(root_levels: Sequence[Mapping[str, Any]]) -> FlatLevels:
    """Flatten levels in the stored form. Parents and places are those of the nesting; an attribute that names its place
    is the stored record itself."""
    levels: FlatLevels = {}
    _flatten(root_levels, None, levels)
    return levels


def _flatten(siblings: Sequence[Mapping[str, Any]], parent_id: str | None, levels: FlatLevels) -> None:
    for place, stored in enumerate(siblings):
        level_id = stored["levelId"]
        levels[level_id] = {
            "levelId": level_id,
            "name": stored["name"],
            "otherNames": list(stored.get("otherNames") or ()),
            "description": stored.get("description") or "",
            "parentLevelId": parent_id,
            "displayOrder": place,
            "attributes": [
                attribute if attribute.get("displayOrder") == place else {**attribute, "displayOrder": place}
                for place, attribute in enumerate(stored.get("attributes") or ())
            ],
        }
        _flatten(stored.get("children") or (), level_id, levels)


def nest(levels: FlatLevels) -> list[Record]:
    """Return the levels in the stored form, with places as whole numbers: the reverse of `flatten`."""
    return _nest(children_of(levels), None, levels)


def _nest(children: Mapping[str | None, Sequence[str]], parent_id: str | None, levels: FlatLevels) -> list[Record]:
    return [
        _stored_fields(levels[level_id])
        | {
            "displayOrder": place,
            "attributes": [
                {**attribute, "displayOrder": number} for number, attribute in enumerate(levels[level_id]["attributes"])
            ],
            "children": _nest(children, level_id, levels),
        }
        for place, level_id in enumerate(children.get(parent_id, ()))
    ]


def _stored_fields(level: Record) -> Record:
    """The fields of a level that are stored: a list of other names only where there are any."""
    return level if level["otherNames"] else {name: value for name, value in level.items() if name != "otherNames"}


def changed_levels(levels: FlatLevels, base: FlatLevels) -> list[Record]:
    """Return the levels whose records are not the same objects as in `base`, in tree order."""
    return [level for level_id, level in levels.items() if base.get(level_id) is not level]


def children_of(levels: FlatLevels) -> dict[str | None, list[str]]:
    """Return the ids of the levels directly below each level, in their order, by its id (None for the top)."""
    children: dict[str | None, list[str]] = {}
    for level_id, level in levels.items():
        children.setdefault(level["parentLevelId"], []).append(level_id)
    return children


def siblings(levels: FlatLevels, parent_id: str | None) -> list[str]:
    """The ids of the levels directly below one, in their order."""
    return [level_id for level_id, level in levels.items() if level["parentLevelId"] == parent_id]


def branch(levels: FlatLevels, level_id: str) -> list[str]:
    """The ids of a level and of all below it, in tree order."""
    found = {level_id}
    for below, level in levels.items():
        if level["parentLevelId"] in found:
            found.add(below)
    return [below for below in levels if below in found]


def path(levels: FlatLevels, level_id: str | None) -> list[str]:
    """The ids from the root down to a level; empty for None."""
    found: list[str] = []
    while level_id is not None:
        found.append(level_id)
        level_id = levels[level_id]["parentLevelId"]
    return found[::-1]


def in_tree_order(levels: Mapping[str, Record]) -> FlatLevels:
    """The same levels, every one before those below it and siblings by displayOrder."""
    children = children_of(dict(sorted(levels.items(), key=lambda item: item[1]["displayOrder"])))
    ordered: FlatLevels = {}
    waiting = children.get(None, [])[::-1]
    while waiting:
        level_id = waiting.pop()
        ordered[level_id] = levels[level_id]
        waiting += reversed(children.get(level_id, ()))
    return ordered


def attribute_of(level: Mapping[str, Any], attribute_id: str) -> Record | None:
    return next((found for found in level["attributes"] if found["attributeId"] == attribute_id), None)


def by_place(attributes: Collection[Record]) -> list[Record]:
    return sorted(attributes, key=lambda attribute: attribute["displayOrder"])
