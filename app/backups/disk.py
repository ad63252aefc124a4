"""Copying what a backup holds, with its checksum."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import IO

from app.backups.manifest import FileEntry

AT_ONCE = 1024 * 1024  # Bytes.


def copy(source: IO[bytes], write: Callable[[bytes], object], most: int | None = None) -> FileEntry:
    """Pass on what the source holds, at most one block more than `most` bytes. Return its size and checksum."""
    checksum, size = hashlib.sha256(), 0
    while block := source.read(AT_ONCE):
        checksum.update(block)
        size += len(block)
        write(block)
        if most is not None and size > most:
            break
    return FileEntry(size, checksum.hexdigest())
