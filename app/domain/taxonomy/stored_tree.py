"""The stored form of a tree, which is JSON, decoded once for all who read it.

A tree of 2,000 levels is megabytes of JSON, and most requests that need one need the same. So decoded trees are cached
by their text, with what was computed from them: whatever is saved, undone or rolled back, a caller gets the tree that
was read. Cached trees are never changed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import wraps
from threading import Lock
from typing import Any, TypeVar

from cachetools import LRUCache, cached

MOST_CHARACTERS = 4 * 1024 * 1024  # Of all texts that are kept. Decoded they take about nine times as many bytes.

Record = dict[str, Any]  # A level or an attribute in JSON, by the field names of the specification.
Levels = Sequence[Record]
Tree = TypeVar("Tree")
Made = TypeVar("Made")


class StoredLevels(list[Record]):
    """A tree that never changes, as decoded or as proposed, with what was computed from it and its text, once there is
    one. Copies are plain lists."""

    __slots__ = ("made", "text")

    def __init__(self, levels: Sequence[Record] = (), text: str = "") -> None:
        super().__init__(levels)
        self.text = text
        self.made: dict[object, Any] = {}

    def __reduce__(self) -> tuple[type[list[Any]], tuple[list[Record]]]:
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


def made_once(make: Callable[[Tree], Made]) -> Callable[[Tree], Made]:
    """Cache the result of a function with the tree that it is given, where that is a StoredLevels or a TaxonomyTree:
    for functions of a tree alone whose result is never changed."""

    @wraps(make)
    def of(tree: Tree) -> Made:
        made: dict[object, Any] | None = getattr(tree, "made", None)
        if made is None:
            return make(tree)
        if make not in made:
            made[make] = make(tree)
        found: Made = made[make]
        return found

    return of


def stored_records(root_levels: Levels) -> Iterator[Record]:
    """Every level of a tree in the stored form, in tree order."""
    for level in root_levels:
        yield level
        yield from stored_records(level.get("children") or ())


@made_once
def count_levels(root_levels: Levels) -> int:
    return sum(1 for _ in stored_records(root_levels))
