"""Least recently used cache of pages and their fragments, safe to share between threads."""

from __future__ import annotations

import threading
import zlib
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

from cachetools import LRUCache
from markupsafe import Markup

from app.domain.seo.indexing_decision import IndexingDecision

T = TypeVar("T")
FASTEST = 1  # Level of compression; higher ones save little of HTML and cost more.


@dataclass(frozen=True, slots=True)
class PackedMarkup:
    """A compressed fragment, about an eighth of its HTML: many more fit into the same memory, and unpacking one takes a
    hundredth of the time of drawing it."""

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


@dataclass(frozen=True, slots=True)
class DrawnPage:
    """A whole page as gzip, as most clients take it, and how search engines may treat it."""

    packed: bytes
    decision: IndexingDecision

    @property
    def size(self) -> int:
        """The size in bytes."""
        return len(self.packed)


class FragmentCache(Generic[T]):
    """A cache of fragments. A key must name everything that decides how the fragment looks, versions included, so that
    nothing has to be invalidated: after a change the old key is not looked up again. `most` limits the number of
    fragments, or the sum of `size_of` them."""

    def __init__(self, most: int, size_of: Callable[[T], int] = lambda _fragment: 1) -> None:
        self._lock = threading.Lock()
        self._most, self._size_of = most, size_of
        self._fragments: LRUCache[Hashable, T] = LRUCache(most, getsizeof=size_of)

    def __len__(self) -> int:
        return len(self._fragments)

    def get(self, key: Hashable, draw: Callable[[], T]) -> T:
        """Return the fragment of a key, drawn where it is not cached. Two threads may draw the same one."""
        with self._lock:
            cached = self._fragments.get(key)
        if cached is None:
            cached = draw()
            if self._size_of(cached) <= self._most:
                with self._lock:
                    self._fragments[key] = cached
        return cached
