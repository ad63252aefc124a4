"""The files in which the metrics of processes are counted, written and not mapped: who touches a mapped file that was
cut short, or whose disk fails, is killed (SIGBUS)."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import Any, SupportsIndex

from prometheus_client import values
from prometheus_client.mmap_dict import MmapedDict


class _WrittenBytes(bytearray):
    """The content of a file in memory. What is set is written to the file as well, and all of it to one that was cut
    short; a disk that takes nothing costs what others see of it."""

    def __init__(self, path: str, content: bytes) -> None:
        super().__init__(content)
        self._file = os.open(path, os.O_RDWR | os.O_CLOEXEC)

    def __setitem__(self, part: SupportsIndex | slice, value: Any) -> None:
        super().__setitem__(part, value)
        assert isinstance(part, slice)
        with suppress(OSError):
            if os.fstat(self._file).st_size < len(self):
                os.pwrite(self._file, self, 0)
            else:
                os.pwrite(self._file, value, part.start)

    def close(self) -> None:
        os.close(self._file)


class _FileDict(MmapedDict):
    """The library's dictionary of numbers, without the mapping."""

    def __init__(self, filename: str, read_mode: bool = False) -> None:
        super().__init__(filename, read_mode)  # type: ignore[no-untyped-call]
        mapped = self._m
        self._m = _WrittenBytes(filename, mapped[:])  # type: ignore[assignment]
        self._capacity = sys.maxsize  # It grows with what is set.
        mapped.close()


def write_metrics_unmapped() -> None:
    """Make the library count in files by writing. Call it before anything is counted."""
    values.MmapedDict = _FileDict  # type: ignore[misc]
