"""The list of erasures as a file: lines that are on the disk before an erasure counts as done."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path


class FileErasures:
    def __init__(self, file: Path) -> None:
        self._file = file

    def append(self, line: str) -> None:
        """Append a line durably. Raises OSError."""
        self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(self._file, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
        with os.fdopen(descriptor, "r+b", buffering=0) as kept:
            fcntl.flock(kept, fcntl.LOCK_EX)
            kept.write(self._end_of_a_torn_line(kept.fileno()) + line.encode() + b"\n")
            os.fsync(kept.fileno())

    def lines(self) -> list[str]:
        """Return the lines of the file, none where it does not exist yet. Raises OSError where it cannot be read."""
        try:
            return self._file.read_text(errors="replace").splitlines()
        except FileNotFoundError:
            return []

    @staticmethod
    def _end_of_a_torn_line(descriptor: int) -> bytes:
        """Return the line end that is missing where a full disk cut off the last line, else nothing."""
        size = os.fstat(descriptor).st_size
        return b"\n" if size and os.pread(descriptor, 1, size - 1) != b"\n" else b""
