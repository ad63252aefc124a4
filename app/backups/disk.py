"""Copying of a file of a backup, with its checksum."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import IO

from app.backups.manifest import FileEntry

AT_ONCE = 1024 * 1024  # Bytes.


def copy(source: IO[bytes], write: Callable[[bytes], object], most: int | None = None) -> FileEntry:
    """Pass a file to `write` block by block, and return its size and checksum. Stops after the block that exceeds
    `most` bytes."""
    checksum, size = hashlib.sha256(), 0
    while block := source.read(AT_ONCE):
        checksum.update(block)
        size += len(block)
        write(block)
        if most is not None and size > most:
            break
    return FileEntry(size, checksum.hexdigest())
