"""Least recently used cache bounded in bytes, safe to share between threads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import TypeVar

from cachetools import LRUCache

T = TypeVar("T")
_OVERHEAD = 500  # Of an entry, beside what it holds.


class ByteCache:
    """An LRU cache, bounded in bytes, of what was decoded from an index, so that the searches of bots cannot fill the
    memory."""

    def __init__(self, limit: int) -> None:
        self._lock = threading.Lock()
        self._entries: LRUCache[Hashable, tuple[object, int]] = LRUCache(limit, getsizeof=lambda entry: entry[1])

    def get(self, key: Hashable, make: Callable[[], T], size: Callable[[T], int]) -> T:
        """Return the cached value of a key, made by `make` where there is none; `size` counts its bytes. Two threads
        may make the same."""
        try:
            with self._lock:
                return self._entries[key][0]  # type: ignore[return-value]
        except KeyError:
            pass
        made = make()
        entry = (made, size(made) + _OVERHEAD)
        if entry[1] <= self._entries.maxsize:
            with self._lock:
                self._entries[key] = entry
        return made

    @property
    def size(self) -> int:
        return int(self._entries.currsize)

    def __len__(self) -> int:
        return len(self._entries)
