"""The bytes of a file, read where they are needed.

A file mapped into memory would count, page after page, as memory of every process that reads it, and one that is cut
short would end them (SIGBUS). Reading costs about as little, the operating system caches it all the same, and an open
file can be read on after its removal.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple, Protocol


class Stamp(NamedTuple):
    """The facts of a file that differ once it was written to or replaced."""

    size: int
    changed_at: int
    number: int


def stamp_of(file: Path | str | int) -> Stamp:
    """Return the stamp of a path, or of an open file by its descriptor."""
    found = os.stat(file)
    return Stamp(found.st_size, found.st_mtime_ns, found.st_ino)


class Bytes(Protocol):
    """The common interface of `bytes` and parts of a file."""

    def __len__(self) -> int: ...

    def __getitem__(self, part: slice) -> bytes: ...


class _Descriptor:
    """An open file, closed with the last part that refers to it."""

    def __init__(self, path: Path) -> None:
        self.number = os.open(path, os.O_RDONLY | os.O_CLOEXEC)

    def __del__(self) -> None:
        if hasattr(self, "number"):
            os.close(self.number)


class FilePart:
    """A stretch of a file; slices must not have a step."""

    def __init__(self, descriptor: _Descriptor, offset: int, length: int) -> None:
        self._descriptor = descriptor
        self._number = descriptor.number
        self._offset = offset
        self._length = length

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, part: slice) -> bytes:
        start, stop = part.start or 0, part.stop
        if start < 0 or stop is None or not start <= stop <= self._length:
            start, stop, _ = part.indices(self._length)  # Most parts lie within, which is cheaper to see.
        return os.pread(self._number, stop - start, self._offset + start)

    def stamp(self) -> Stamp:
        """The stamp of the whole file."""
        return stamp_of(self._number)

    def part(self, offset: int, length: int) -> FilePart:
        return FilePart(self._descriptor, self._offset + offset, length)


def open_file(path: Path) -> FilePart:
    descriptor = _Descriptor(path)
    return FilePart(descriptor, 0, os.fstat(descriptor.number).st_size)
