"""Rate limits that all processes of a machine share: a table of fixed size in a file that each maps into its memory.

A request costs a few microseconds and no write to the database, and what is counted outlives a restart. The table is
a set-associative cache: a key's hash names its set, and where that is full, the window that ends first is replaced.
Keys are kept only as keyed hashes, because some hold addresses of people.
"""

from __future__ import annotations

import fcntl
import mmap
import os
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path

from app.domain.shared.rate_limit import Rate, Window, admit

SLOT = struct.Struct("<8sdII")  # The key's hash; the window's start, count and length.
SLOTS_IN_SET = 8
SET_SIZE = SLOTS_IN_SET * SLOT.size
SETS = 4_096
DAY_SETS = 4 * SETS  # Where windows are of days, and fewer of them end.
NETWORK_SETS = 32 * SETS  # Where they are of weeks: 24 MB, a million of them.
EMPTY = bytes(8)


class RateLimitTable:
    """The table of rate limits in the file at `path`; where that cannot be used, of this process alone."""

    def __init__(self, path: Path, secret: str, sets: int = SETS) -> None:
        self._path, self._sets = path, sets
        self._secret = blake2b(secret.encode()).digest()
        self._lock = threading.Lock()
        self._file: int | None = None
        self._table: mmap.mmap | None = None

    def take(self, key: str, rate: Rate, now: float) -> int:
        digest = blake2b(key.encode(), key=self._secret, digest_size=16).digest()
        tag, first = digest[:8], int.from_bytes(digest[8:], "little") % self._sets * SET_SIZE
        with self._locked() as table:
            place, window = _find(table, tag, first)
            window, wait = admit(window, rate, now)
            SLOT.pack_into(table, place, tag, window.start, window.count, rate.seconds)
        return wait

    @contextmanager
    def _locked(self) -> Iterator[mmap.mmap]:
        """Yield the table, locked by a thread's lock within the process and by the kernel's, which ends with its
        holder, between processes."""
        with self._lock:
            table = self._table or self._open()
            if self._file is None:
                yield table
                return
            fcntl.lockf(self._file, fcntl.LOCK_EX)
            try:
                yield table
            finally:
                fcntl.lockf(self._file, fcntl.LOCK_UN)

    def _open(self) -> mmap.mmap:
        """Open the table at the first request, since many processes never need it."""
        size = self._sets * SET_SIZE
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError:
            self._table = mmap.mmap(-1, size)
            return self._table
        try:
            os.posix_fallocate(file, 0, size)  # A page of a file with holes needs disk space when it is written.
            self._table, self._file = mmap.mmap(file, size), file
        except OSError:
            os.close(file)
            self._table = mmap.mmap(-1, size)
        return self._table


def _find(table: mmap.mmap, tag: bytes, first: int) -> tuple[int, Window]:
    """Return the place of a key in its set, and its window; for a new key the place whose window ends first, and an
    empty window."""
    freest, earliest = first, float("inf")
    for place in range(first, first + SET_SIZE, SLOT.size):
        found, start, count, seconds = SLOT.unpack_from(table, place)
        if found == tag:
            return place, Window(start, count)
        end = start + seconds if found != EMPTY else float("-inf")
        if end < earliest:
            freest, earliest = place, end
    return freest, Window()
