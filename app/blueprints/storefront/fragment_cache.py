"""Least recently used cache of page fragments, safe to share between threads."""

from __future__ import annotations

import threading
import zlib
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

from cachetools import LRUCache
from markupsafe import Markup

T = TypeVar("T")
FASTEST = 1  # The level of compression; the next ones save little of HTML and cost more.


@dataclass(frozen=True, slots=True)
class PackedMarkup:
    """A fragment compressed, to an eighth or so: many more are kept in the same memory, and to unpack one takes a
    hundredth of the time that drawing it does."""

    packed: bytes

    @classmethod
    def of(cls, html: str) -> PackedMarkup:
        return cls(zlib.compress(html.encode(), FASTEST))

    @property
    def html(self) -> Markup:
        return Markup(zlib.decompress(self.packed).decode())

    @property
    def size(self) -> int:
        """The size in bytes."""
        return len(self.packed)


class FragmentCache(Generic[T]):
    """A key must name everything that decides how the fragment looks, versions included: then nothing needs to be
    invalidated when something changes, its old key is just not looked up again. `most` counts fragments, or what
    `size_of` makes of them."""

    def __init__(self, most: int, size_of: Callable[[T], int] = lambda _fragment: 1) -> None:
        self._lock = threading.Lock()
        self._most, self._size_of = most, size_of
        self._fragments: LRUCache[Hashable, T] = LRUCache(most, getsizeof=size_of)

    def __len__(self) -> int:
        return len(self._fragments)

    def get(self, key: Hashable, draw: Callable[[], T]) -> T:
        """The fragment, drawn once for each key. Two threads may draw the same one."""
        with self._lock:
            cached = self._fragments.get(key)
        if cached is None:
            cached = draw()
            if self._size_of(cached) <= self._most:
                with self._lock:
                    self._fragments[key] = cached
        return cached
