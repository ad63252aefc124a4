"""Parts of pages that a process keeps while nothing that they show has changed."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable

from markupsafe import Markup


class KeptParts:
    """The parts used last, by what they show. Safe to share between threads.

    A key must name everything that decides how the part looks, versions included: then nothing needs to be
    thrown away when something changes, it is just not asked for again.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._parts: OrderedDict[Hashable, Markup] = OrderedDict()

    def __len__(self) -> int:
        return len(self._parts)

    def part(self, key: Hashable, draw: Callable[[], str]) -> Markup:
        with self._lock:
            kept = self._parts.get(key)
            if kept is not None:
                self._parts.move_to_end(key)
                return kept
        drawn = Markup(draw())
        with self._lock:
            self._parts[key] = drawn
            if len(self._parts) > self._most:
                self._parts.popitem(last=False)
        return drawn
