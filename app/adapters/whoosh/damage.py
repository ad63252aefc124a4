"""The translation of errors from broken index files into those of the port, and the mark on a generation that is known
to be damaged."""

from __future__ import annotations

import os
import pickle
import struct
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import structlog

from app.domain.search.engine import SearchUnavailable

# Broken, vanishing or unreadable files make their readers, Whoosh's and numpy's among them, raise nearly anything.
UNREADABLE = (
    OSError, ValueError, LookupError, EOFError, AttributeError, ImportError, TypeError, ArithmeticError,
    AssertionError, MemoryError, struct.error, zlib.error, pickle.UnpicklingError,
)  # fmt: skip
CANNOT_BE_READ = "Search does not answer: its index cannot be read. Rebuild to fix it."
_MARK = "damaged"

log = structlog.get_logger()


@contextmanager
def readable() -> Iterator[None]:
    """Turn any error of reading an index into SearchUnavailable; the log has its trace, since a defect of the code
    looks the same."""
    try:
        yield
    except UNREADABLE as error:
        log.warning("index_unreadable", exc_info=True)
        raise SearchUnavailable(CANNOT_BE_READ) from error


def mark_damaged(directory: Path, files: Sequence[str]) -> None:
    """Mark a generation as damaged for every process that has it open, which may have read none of the damage, or read
    it from memory. On a disk that cannot be written each finds out by itself."""
    with suppress(OSError):
        (directory / _MARK).write_text(", ".join(files))


def is_marked(directory: Path) -> bool:
    # Called at every search: to make a Path, or to catch an error, would take longer than the check.
    return os.access(f"{directory}/{_MARK}", os.F_OK)


def refuse_marked(directory: Path) -> None:
    """Refuse a generation that is known to be damaged. Raises SearchUnavailable."""
    with suppress(FileNotFoundError):
        raise damaged((directory / _MARK).read_text())


def damaged(files: str) -> SearchUnavailable:
    return SearchUnavailable(f"Search does not answer: its index is damaged ({files}). Rebuild to fix it.")
