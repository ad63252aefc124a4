"""The loading of a process that stays."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def loading_for_good() -> Iterator[None]:
    """Keep the garbage collector from what is loaded within. It would look through it again and again: while loading,
    which takes a quarter longer then, and later for 100 ms each time, which fall on the requests that make many
    objects."""
    gc.disable()
    try:
        yield
        gc.collect()
        gc.freeze()
    finally:
        gc.enable()
