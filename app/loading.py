"""The loading of a long-running process."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def loading_for_good() -> Iterator[None]:
    """Exclude the objects that are made within from garbage collection. It would go through them again and again: while
    loading, which takes a quarter longer then, and later for 100 ms each time, within the requests that make many
    objects."""
    gc.disable()
    try:
        yield
        gc.collect()
        gc.freeze()
    finally:
        gc.enable()
