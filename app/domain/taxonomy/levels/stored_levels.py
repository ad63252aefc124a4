"""Trees as the database holds them, decoded once for as long as they are in use.

A tree of 2,000 levels is megabytes of JSON, and most requests that need it need the same. So one that was decoded is
kept by its very text, with what was made of it: whatever is saved, undone or rolled back, nobody can get another tree
than the one that was read. Nobody changes what is here.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from threading import Lock
from typing import Any, TypeVar

MOST_CHARACTERS = 4 * 1024 * 1024  # Of all texts that are kept. Decoded they take about nine times as many bytes.

Levels = Sequence[Mapping[str, Any]]
Made = TypeVar("Made")


class StoredLevels(list[dict[str, Any]]):
    """A decoded tree. Copies of it are plain lists."""

    __slots__ = ("made",)

    def __init__(self, levels: Sequence[dict[str, Any]] = ()) -> None:
        super().__init__(levels)
        self.made: dict[object, Any] = {}

    def __reduce__(self) -> tuple[type[list[Any]], tuple[list[dict[str, Any]]]]:
        return list, (self[:],)


class _RecentlyRead:
    """Keeps the trees that were asked for last, within MOST_CHARACTERS."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._known: OrderedDict[str, StoredLevels] = OrderedDict()
        self._characters = 0

    def read(self, text: str) -> StoredLevels:
        with self._lock:
            if known := self._known.get(text):
                self._known.move_to_end(text)
                return known
        levels = StoredLevels(json.loads(text))
        with self._lock:
            self._keep(text, levels)
        return levels

    def _keep(self, text: str, levels: StoredLevels) -> None:
        if text in self._known:
            return
        self._known[text] = levels
        self._characters += len(text)
        while self._characters > MOST_CHARACTERS:
            oldest, _ = self._known.popitem(last=False)
            self._characters -= len(oldest)


read_stored = _RecentlyRead().read


def made_once(make: Callable[[Levels], Made]) -> Callable[[Levels], Made]:
    """For functions of a tree alone whose result nobody changes: a stored tree keeps what they gave."""

    @wraps(make)
    def of(root_levels: Levels) -> Made:
        if not isinstance(root_levels, StoredLevels):
            return make(root_levels)
        if make not in root_levels.made:
            root_levels.made[make] = make(root_levels)
        found: Made = root_levels.made[make]
        return found

    return of
