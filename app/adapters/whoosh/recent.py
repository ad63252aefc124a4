"""What was asked for lately, within a budget of memory: words of bots must not fill it."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import TypeVar

T = TypeVar("T")
_OVERHEAD = 500


class Recent:
    """Thread-safe. Keeps results by key until `budget` bytes are full, then lets the longest unused go."""

    def __init__(self, budget: int) -> None:
        self._budget = budget
        self._used = 0
        self._lock = threading.Lock()
        self._kept: OrderedDict[Hashable, tuple[object, int]] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], T], size: Callable[[T], int]) -> T:
        with self._lock:
            found = self._kept.get(key)
            if found is not None:
                self._kept.move_to_end(key)
                return found[0]  # type: ignore[return-value]
        made = make()
        self._keep(key, made, size(made) + _OVERHEAD)
        return made

    def _keep(self, key: Hashable, made: object, size: int) -> None:
        with self._lock:
            if key in self._kept or size > self._budget:
                return
            self._kept[key] = (made, size)
            self._used += size
            while self._used > self._budget:
                _, (_, freed) = self._kept.popitem(last=False)
                self._used -= freed
