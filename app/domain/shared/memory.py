"""The memory that all processes of a shop share and that is in no file on a disk: rate limits, and what must be counted
once for each shopper or is shared by too few of them to be stored. `SharedMemory` is the port to it.

`MachineMemory` is that of one machine. It lies in an anonymous file in memory that the supervisor hands to its
processes, so it ends with it. The table is a set-associative cache: a key's hash names its set, and where that is full,
the slot that ends first is replaced.

Keys are kept only as keyed hashes, because some hold addresses of people. The hashes of a day or a week have a random
key of their own, which lies in the same memory: the first request after that time overwrites it, and nobody can ask
for what was counted under it any more.
"""

from __future__ import annotations

import fcntl
import mmap
import os
import secrets
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from hashlib import blake2b
from typing import Protocol

from app.config import MEMORY_NAME
from app.domain.shared.rate_limit import Rate, Window, admit

KEY_SIZE = 32
SPAN = struct.Struct(f"<II{KEY_SIZE}s")  # The ordinal of a span's first day, its days, and its key.
SPANS = 16  # Days and weeks that are remembered at a time are six at most.
HEADER = SPANS * SPAN.size
SLOT = struct.Struct("<8sdIQ")  # The hash of a key; when it ends, in seconds; its count and its weight.
SLOTS_IN_SET = 8
SET_SIZE = SLOTS_IN_SET * SLOT.size
LONGEST = 9 * 86_400.0  # Seconds. What ends later was counted by a clock that was ahead, and is overwritten.
SETS_OF_RATES = 4_096
SETS_OF_SPANS = 32_768  # A quarter of a million keys, 7 MB.
EMPTY = bytes(8)
WEEK = 7  # Days.


@dataclass(frozen=True, slots=True)
class Span:
    """So many days from `first` on, in any time zone."""

    first: date
    days: int = 1

    def is_remembered(self, today: date) -> bool:
        """Whether numbers of the span are remembered on a day of UTC: while it lasts anywhere on earth."""
        return self.first - timedelta(days=1) <= today <= self.first + timedelta(days=self.days)


def week_of(day: date) -> date:
    """Return the Monday of a day's week."""
    return day - timedelta(days=day.weekday())


@dataclass(frozen=True, slots=True)
class RunningCount:
    """How often a key was counted in a span, and the sum of the weights it was counted with."""

    count: int
    weight: int = 0


class SharedMemory(Protocol):
    """Numbers that are shared by the processes of a shop, in no file on a disk."""

    def take(self, key: str, rate: Rate, now: float, counted: int = 1) -> int:
        """Count a request of a rate limit; return 0, or after how many seconds to try again. With 0 as `counted`, count
        nothing. A key names what is done and by whom; it is hashed with the key of the day, so a window that lasts
        beyond the day begins anew. Never raises."""
        ...

    def add(self, span: Span, key: str, now: datetime, weight: int = 0) -> RunningCount | None:
        """Count a key of a span once more and return its count so far; None for a span that is not remembered. Never
        raises."""
        ...

    def check(self) -> None:
        """Check that all who should share the numbers do. Raises OSError with the reason."""
        ...


class MachineMemory:
    """The numbers in the memory of a descriptor. Without one, or where that is no such memory or one that another
    release laid out otherwise, they are of this process alone. Rate limits have a table of their own, so that what is
    remembered for days displaces none of them."""

    def __init__(
        self, descriptor: int | None = None, sets_of_rates: int = SETS_OF_RATES, sets_of_spans: int = SETS_OF_SPANS
    ) -> None:
        self._rates = range(HEADER, HEADER + sets_of_rates * SET_SIZE, SET_SIZE)
        self._spans = range(self._rates.stop, self._rates.stop + sets_of_spans * SET_SIZE, SET_SIZE)
        self._size = self._spans.stop
        self._file = descriptor if descriptor is not None and _is_memory(descriptor) else None
        self._lock = threading.Lock()
        self._memory: mmap.mmap | None = None

    def take(self, key: str, rate: Rate, now: float, counted: int = 1) -> int:
        today = datetime.fromtimestamp(now, UTC).date()
        with self._locked() as memory:
            place, tag = _find(memory, self._rates, _key_of(memory, Span(today), today), key, now)
            found, ends, count, _ = SLOT.unpack_from(memory, place)
            known = Window(ends - rate.seconds, count) if found == tag else Window()
            window, wait = admit(known, rate, now, counted)
            SLOT.pack_into(memory, place, tag, window.start + rate.seconds, window.count, 0)
        return wait

    def add(self, span: Span, key: str, now: datetime, weight: int = 0) -> RunningCount | None:
        today = now.astimezone(UTC).date()
        if not span.is_remembered(today):
            return None
        with self._locked() as memory:
            place, tag = _find(memory, self._spans, _key_of(memory, span, today), key, now.timestamp())
            found, _, count, sum_ = SLOT.unpack_from(memory, place)
            counted = RunningCount(count + 1, sum_ + weight) if found == tag else RunningCount(1, weight)
            SLOT.pack_into(memory, place, tag, end_of(span), counted.count, counted.weight)
        return counted

    def check(self) -> None:
        """Nothing can be wrong with it."""

    @contextmanager
    def _locked(self) -> Iterator[mmap.mmap]:
        """Yield the memory, locked by a thread's lock within the process and by the kernel's, which ends with its
        holder, between processes."""
        with self._lock:
            if self._file is None:
                yield self._memory or self._map()
                return
            fcntl.lockf(self._file, fcntl.LOCK_EX)
            try:
                yield self._memory or self._map()
            finally:
                fcntl.lockf(self._file, fcntl.LOCK_UN)

    def _map(self) -> mmap.mmap:
        """Map the memory at the first request, since many processes never need it; the first of them makes it."""
        if self._file is not None and os.fstat(self._file).st_size in (0, self._size):
            os.ftruncate(self._file, self._size)
            self._memory = mmap.mmap(self._file, self._size)
        else:
            self._memory = mmap.mmap(-1, self._size)
        self._memory.madvise(mmap.MADV_DONTDUMP)  # Where a process that crashes leaves its memory on the disk.
        return self._memory


def _find(memory: mmap.mmap, sets: range, secret: bytes, key: str, now: float) -> tuple[int, bytes]:
    """Return the slot of a key and the hash by which it is known there; for a new key the slot of its set that ends
    first."""
    digest = blake2b(key.encode("utf-8", "surrogatepass"), key=secret, digest_size=16).digest()
    tag = digest[:8]
    first = sets[int.from_bytes(digest[8:], "little") % len(sets)]
    freest, earliest = first, float("inf")
    for place in range(first, first + SET_SIZE, SLOT.size):
        found, ends, _, _ = SLOT.unpack_from(memory, place)
        if found == tag:
            return place, tag
        if found == EMPTY or ends > now + LONGEST:
            ends = float("-inf")
        if ends < earliest:
            freest, earliest = place, ends
    return freest, tag


def _is_memory(descriptor: int) -> bool:
    """Whether a descriptor is the supervisor's memory: a program that a server started has the number without it."""
    try:
        return os.readlink(f"/proc/self/fd/{descriptor}").startswith(f"/memfd:{MEMORY_NAME}")
    except OSError:
        return False


def _key_of(memory: mmap.mmap, span: Span, today: date) -> bytes:
    """Return the key of a span. A new one is random and overwrites one of a span that is not remembered any more; all
    others of these are overwritten as well, so that they end with their time and not when their place is needed."""
    wanted, free = None, None
    for place in range(0, HEADER, SPAN.size):
        first, days, key = SPAN.unpack_from(memory, place)
        if (first, days) == (span.first.toordinal(), span.days):
            wanted = key
        elif not first or not Span(date.fromordinal(first), days).is_remembered(today):
            SPAN.pack_into(memory, place, 0, 0, bytes(KEY_SIZE))
            free = place
    if wanted is None:
        wanted = secrets.token_bytes(KEY_SIZE)
        SPAN.pack_into(memory, free or 0, span.first.toordinal(), span.days, wanted)
    return bytes(wanted)


def end_of(span: Span) -> float:
    """Return when a span is over everywhere on earth, in seconds."""
    over = span.first + timedelta(days=span.days + 1)
    return datetime(over.year, over.month, over.day, tzinfo=UTC).timestamp()
