"""A least recently used cache bounded in bytes, safe to share between threads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from cachetools import LRUCache

T = TypeVar("T")


class ByteCache(Generic[T]):
    """An LRU cache whose values take at most `limit` bytes together, as `size_of` counts them, so that no variety of
    keys, such as the searches and addresses that bots make up, fills the memory. A value beyond the limit is returned
    but not cached. A key names everything that its value depends on, versions included, so that nothing has to be
    invalidated."""

    def __init__(self, limit: int, size_of: Callable[[T], int]) -> None:
        self._limit, self._size_of = limit, size_of
        self._lock = threading.Lock()
        self._entries: LRUCache[Hashable, T] = LRUCache(limit, getsizeof=size_of)

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return the value of a key, made by `make` where it is not cached. Two threads may make the same one."""
        try:
            with self._lock:
                return self._entries[key]
        except KeyError:
            pass
        made = make()
        if self._size_of(made) <= self._limit:
            with self._lock:
                self._entries[key] = made
        return made

    @property
    def size(self) -> int:
        """The bytes of the cached values."""
        return int(self._entries.currsize)

    def __len__(self) -> int:
        return len(self._entries)
