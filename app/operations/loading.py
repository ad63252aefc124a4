"""The loading of a long-running process."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

NEW_OBJECTS = 5_000  # A page makes some thousand and leaves few; Python would collect after 700.


@contextmanager
def loading_for_good() -> Iterator[None]:
    """Exclude the objects that are made within from garbage collection. It would go through them again and again: while
    loading, which takes a quarter longer then, and later for 100 ms each time, within the requests that make many
    objects. From then on new objects are collected after every NEW_OBJECTS: an answer about a large taxonomy would go
    through what it is still making again and again (`python -m bench.taxonomy` shows it)."""
    gc.disable()
    try:
        yield
        gc.collect()
        gc.freeze()
        gc.set_threshold(NEW_OBJECTS, *gc.get_threshold()[1:])
    finally:
        gc.enable()
