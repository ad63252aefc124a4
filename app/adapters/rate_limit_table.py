"""Rate limits that all processes of a machine share: a table of fixed size in a file.

A request costs a few microseconds and no write to the database, and what is counted outlives a restart. The table is
a set-associative cache: a key's hash names its set, and where that is full, the window that ends first is replaced.
Keys are kept only as keyed hashes, because some hold addresses of people. The file is read and written, not mapped:
who touches a mapped file that was cut short, or whose disk fails, is killed (SIGBUS).
"""

from __future__ import annotations

import fcntl
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
    """The table of rate limits in the file at `path`; once that cannot be used, of this process alone."""

    def __init__(self, path: Path, secret: str, sets: int = SETS) -> None:
        self._path, self._sets = path, sets
        self._secret = blake2b(secret.encode()).digest()
        self._lock = threading.Lock()
        self._file: int | None = None
        self._own: dict[int, bytes] | None = None  # The sets of this process alone, by their places.

    def take(self, key: str, rate: Rate, now: float) -> int:
        digest = blake2b(key.encode(), key=self._secret, digest_size=16).digest()
        tag, first = digest[:8], int.from_bytes(digest[8:], "little") % self._sets * SET_SIZE
        with self._locked():
            slots = bytearray(self._read(first))
            place, window = _find(slots, tag)
            window, wait = admit(window, rate, now)
            SLOT.pack_into(slots, place, tag, window.start, window.count, rate.seconds)
            self._write(first, slots, place)
        return wait

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Lock the table by a thread's lock within the process and by the kernel's, which ends with its holder, between
        processes."""
        with self._lock:
            if self._file is None and self._own is None:
                self._open()
            if (file := self._file) is None or self._own is not None:
                yield
                return
            fcntl.lockf(file, fcntl.LOCK_EX)
            try:
                yield
            finally:
                fcntl.lockf(file, fcntl.LOCK_UN)

    def _open(self) -> None:
        """Open the table at the first request, since many processes never need it."""
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            os.posix_fallocate(self._file, 0, self._sets * SET_SIZE)  # A disk that fills up later has room for it.
        except OSError:
            self._own = {}

    def _read(self, first: int) -> bytes:
        """Return the set that begins at `first`. What a file lacks that was cut short is empty."""
        if self._file is not None and self._own is None:
            try:
                return os.pread(self._file, SET_SIZE, first).ljust(SET_SIZE, b"\0")
            except OSError:
                self._own = {}
        return (self._own or {}).get(first, bytes(SET_SIZE))

    def _write(self, first: int, slots: bytearray, place: int) -> None:
        if self._file is not None and self._own is None:
            try:
                os.pwrite(self._file, slots[place : place + SLOT.size], first + place)
            except OSError:
                self._own = {}
        if self._own is not None:
            self._own[first] = bytes(slots)


def _find(slots: bytearray, tag: bytes) -> tuple[int, Window]:
    """Return the place of a key in its set, and its window; for a new key the place whose window ends first, and an
    empty window."""
    freest, earliest = 0, float("inf")
    for place in range(0, SET_SIZE, SLOT.size):
        found, start, count, seconds = SLOT.unpack_from(slots, place)
        if found == tag:
            return place, Window(start, count)
        end = start + seconds if found != EMPTY else float("-inf")
        if end < earliest:
            freest, earliest = place, end
    return freest, Window()
