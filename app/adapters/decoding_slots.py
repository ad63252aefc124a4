"""The number of pictures that a machine decodes at a time: one takes a hundred megabytes, and a processor for a
second."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

MOST_AT_ONCE = 2


@contextmanager
def decoding_slot(folder: Path) -> Iterator[None]:
    """Wait until fewer than MOST_AT_ONCE pictures are decoded by the processes that share the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as opened:
        slots = [opened.enter_context((folder / f".decoding-{number}").open("a")) for number in range(MOST_AT_ONCE)]
        if not any(_is_taken(slot.fileno()) for slot in slots):
            fcntl.flock(slots[os.getpid() % MOST_AT_ONCE], fcntl.LOCK_EX)
        yield


def _is_taken(slot: int) -> bool:
    """Take the slot if it is free, until its file is closed; return whether it was."""
    try:
        fcntl.flock(slot, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
