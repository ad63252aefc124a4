"""The list of erasures as a file of this machine."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from tempfile import TemporaryFile


class ErasureFile:
    """A file of lines, which are on the disk before an erasure counts as done."""

    is_shared = False

    def __init__(self, file: Path) -> None:
        self._file = file.absolute()

    @property
    def place(self) -> str:
        return str(self._file.parent)

    def append(self, line: str) -> None:
        self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(self._file, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
        with os.fdopen(descriptor, "r+b", buffering=0) as kept:
            fcntl.flock(kept, fcntl.LOCK_EX)
            size = os.fstat(descriptor).st_size
            # A full disk may have cut off the last line.
            missing_end = b"\n" if size and os.pread(descriptor, 1, size - 1) != b"\n" else b""
            kept.write(missing_end + line.encode() + b"\n")
            os.fsync(descriptor)

    def lines(self) -> list[str]:
        try:
            return self._file.read_text(errors="replace").splitlines()
        except FileNotFoundError:
            return []

    def check(self) -> None:
        self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with TemporaryFile(dir=self._file.parent) as file:
            file.write(b"\n")
            file.flush()
