"""Least recently used cache of page fragments, safe to share between threads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from cachetools import LRUCache

T = TypeVar("T")


class FragmentCache(Generic[T]):
    """A key must name everything that decides how the fragment looks, versions included: then nothing needs to be
    invalidated when something changes, its old key is just not looked up again."""

    def __init__(self, most: int) -> None:
        self._lock = threading.Lock()
        self._fragments: LRUCache[Hashable, T] = LRUCache(most)

    def __len__(self) -> int:
        return len(self._fragments)

    def get(self, key: Hashable, draw: Callable[[], T]) -> T:
        """The fragment, drawn once for each key. Two threads may draw the same one."""
        with self._lock:
            cached = self._fragments.get(key)
        if cached is None:
            cached = draw()
            with self._lock:
                self._fragments[key] = cached
        return cached
