"""Files that are on the disk for good, with the checksum of what was written."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import IO

from app.backups.manifest import FileEntry

AT_ONCE = 1024 * 1024  # Bytes.


def copy(source: IO[bytes], write: Callable[[bytes], object], most: int | None = None) -> FileEntry:
    """Pass on what the source holds, at most one block more than `most` bytes; what it was."""
    checksum, size = hashlib.sha256(), 0
    while block := source.read(AT_ONCE):
        checksum.update(block)
        size += len(block)
        write(block)
        if most is not None and size > most:
            break
    return FileEntry(size, checksum.hexdigest())


def sync(path: Path) -> None:
    """A file's content, or a folder's names."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
