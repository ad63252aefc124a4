"""A stream of Redis in which batches of events wait, for whichever machine counts them.

An entry is a batch, as the file of a machine cut it, with its id. Entries have numbers and no times: an event does not
say when in the day it was. What the stream holds is bounded, as a file is: a full one takes no more, and the events
wait at the machines that noted them. Each step is a script, which Redis runs as one.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import structlog

from app.adapters.redis.connection import RestingRedis
from app.domain.search_statistics.counting.spool import (
    LARGEST_OF_LATER,
    LONGEST_BAD,
    LONGEST_FOR_LATER,
    MOST_TRIES,
)

MOST_ENTRIES = 20_000
MOST_REMEMBERED = 10_000  # Ids of batches that were appended; one that comes again is not appended twice.
MOST_BAD = 100  # Batches that cannot be counted and are kept for inspection.
LEASE = 60_000  # Milliseconds. A worker that hangs for longer loses its turn, and counts nothing twice nevertheless.
AT_A_TIME = 8  # Entries that are read from Redis.

# In all scripts KEYS are the parts of a stream in the order of PARTS.
PARTS = ("entries", "state", "appended", "tries", "later", "bad", "lease")

# ARGV: the batch, its lines, most entries, most bytes, most remembered. Returns whether Redis has the batch.
APPEND = """
if redis.call('ZSCORE', KEYS[3], ARGV[1]) then return 1 end
local bytes = tonumber(redis.call('HGET', KEYS[2], 'bytes') or '0')
if redis.call('XLEN', KEYS[1]) >= tonumber(ARGV[3]) then return 0 end
if bytes > 0 and bytes + #ARGV[2] > tonumber(ARGV[4]) then return 0 end
local number = redis.call('HINCRBY', KEYS[2], 'number', 1)
redis.call('HINCRBY', KEYS[2], 'bytes', #ARGV[2])
redis.call('XADD', KEYS[1], '0-' .. number, 'batch', ARGV[1], 'lines', ARGV[2])
redis.call('ZADD', KEYS[3], number, ARGV[1])
redis.call('ZREMRANGEBYRANK', KEYS[3], 0, -1 - tonumber(ARGV[5]))
return 1
"""
REMOVE_ENTRY = """
local function remove(entry, size, batch)
  if redis.call('XDEL', KEYS[1], entry) == 0 then return false end
  redis.call('HDEL', KEYS[4], batch)
  if redis.call('XLEN', KEYS[1]) == 0 then
    redis.call('HSET', KEYS[2], 'bytes', 0)
  else
    redis.call('HINCRBY', KEYS[2], 'bytes', -size)
  end
  return true
end
"""
# ARGV: the entry, its size, its batch, the lines that are kept for a later release, the day, the most bytes of those.
# Returns 1, or 0 where there was no room for the lines.
REMOVE = f"""{REMOVE_ENTRY}
if not remove(ARGV[1], ARGV[2], ARGV[3]) or ARGV[4] == '' then return 1 end
local size = #ARGV[4]
for _, lines in ipairs(redis.call('HVALS', KEYS[5])) do size = size + #lines end
if size > tonumber(ARGV[6]) then return 0 end
redis.call('HSET', KEYS[5], ARGV[5] .. ' ' .. ARGV[3], ARGV[4])
return 1
"""
# ARGV: the entry, its size, its batch, its lines, the day, most tries, most that are set aside. Returns whether the
# batch was set aside.
FAIL = f"""{REMOVE_ENTRY}
if #redis.call('XRANGE', KEYS[1], ARGV[1], ARGV[1]) == 0 then return 0 end
if redis.call('HINCRBY', KEYS[4], ARGV[3], 1) < tonumber(ARGV[6]) then return 0 end
remove(ARGV[1], ARGV[2], ARGV[3])
redis.call('HSET', KEYS[6], ARGV[5] .. ' ' .. ARGV[3], ARGV[4])
local kept = redis.call('HKEYS', KEYS[6])
table.sort(kept)
for number = 1, #kept - tonumber(ARGV[7]) do redis.call('HDEL', KEYS[6], kept[number]) end
return 1
"""
# ARGV: the holder, the milliseconds, the days before which bad batches and lines for later are dropped. Returns what
# waits for a later release; nothing while another has the lease.
BEGIN = """
if not redis.call('SET', KEYS[7], ARGV[1], 'NX', 'PX', ARGV[2]) then return false end
for number = 5, 6 do
  for _, name in ipairs(redis.call('HKEYS', KEYS[number])) do
    if name < ARGV[number - 2] then redis.call('HDEL', KEYS[number], name) end
  end
end
return redis.call('HKEYS', KEYS[5])
"""
# ARGV: the holder, the milliseconds. Returns whether it still has the lease.
RENEW = """
if redis.call('GET', KEYS[7]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[7], ARGV[2])
"""
RELEASE = "if redis.call('GET', KEYS[7]) == ARGV[1] then redis.call('DEL', KEYS[7]) end"
# ARGV: what waited for a later release, the new batch.
CLAIM = """
local lines = redis.call('HGET', KEYS[5], ARGV[1])
if not lines then return end
redis.call('HDEL', KEYS[5], ARGV[1])
local number = redis.call('HINCRBY', KEYS[2], 'number', 1)
redis.call('HINCRBY', KEYS[2], 'bytes', #lines)
redis.call('XADD', KEYS[1], '0-' .. number, 'batch', ARGV[2], 'lines', lines)
"""

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Entry:
    """A batch in a stream. `lines` are those of the machine that noted it."""

    id: str
    batch_id: str
    lines: bytes


class EventStream:
    """The stream of one kind of events. Whatever asks Redis raises OSError where it does not answer."""

    def __init__(
        self,
        redis: RestingRedis,
        name: str,
        largest: int,
        most_entries: int = MOST_ENTRIES,
        most_bad: int = MOST_BAD,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._redis, self._name, self._now = redis, name, now
        self._largest, self._most_entries, self._most_bad = largest, most_entries, most_bad
        self._keys = [f"{name}:{part}" for part in PARTS]
        texts = (APPEND, REMOVE, FAIL, BEGIN, RENEW, RELEASE, CLAIM)
        scripts = map(redis.script, texts)
        self._append, self._remove, self._fail, self._begin, self._renew, self._release, self._claim = scripts
        self._waiting_for_later: set[bytes] = set()

    def append(self, batch_id: str, lines: bytes) -> bool:
        """Append a batch, once however often it comes; return False where the stream is full."""
        return bool(self._append(self._keys, [batch_id, lines, self._most_entries, self._largest, MOST_REMEMBERED]))

    def has_entries(self) -> bool:
        return bool(self._redis.run(lambda redis: redis.xlen(self._keys[0])))

    @contextmanager
    def entries(self, understands: Callable[[bytes], bool]) -> Iterator[Iterator[Entry]]:
        """Return a context that yields the entries, oldest first; none while another process has them, or where Redis
        does not answer. Lines that waited for a later release are among them once one of them `understands` is true
        for. Whoever has them has a lease, so that machines take turns."""
        holder, waiting = uuid.uuid4().hex, None
        with suppress(OSError):
            waiting = self._begin(self._keys, [holder, LEASE, self._day(-LONGEST_FOR_LATER), self._day(-LONGEST_BAD)])
        if waiting is None:
            yield iter(())
            return
        try:
            yield self._leased_entries(holder, waiting, understands)
        finally:
            with suppress(OSError):
                self._release(self._keys, [holder])

    def _leased_entries(
        self, holder: str, waiting: list[bytes], understands: Callable[[bytes], bool]
    ) -> Iterator[Entry]:
        """Yield the entries until there are none, the lease is lost or Redis is away."""
        last = "-"
        with suppress(OSError):
            self._claim_lines_of_later(waiting, understands)
            while found := self._read_after(last):
                for entry in found:
                    if not self._renew(self._keys, [holder, LEASE]):
                        return
                    yield entry
                last = f"({found[-1].id}"

    def _read_after(self, last: str) -> list[Entry]:
        rows: Any = self._redis.run(lambda redis: redis.xrange(self._keys[0], last, "+", AT_A_TIME))
        return [Entry(id.decode(), fields[b"batch"].decode(), fields[b"lines"]) for id, fields in rows]

    def _claim_lines_of_later(self, waiting: list[bytes], understands: Callable[[bytes], bool]) -> None:
        """Make batches of the lines that were left to a later release where this one understands some of them."""
        for name in sorted(set(waiting) - self._waiting_for_later):
            lines = self._redis.run(lambda redis, name=name: redis.hget(self._keys[4], name)) or b""  # type: ignore[misc]
            if any(map(understands, lines.splitlines(keepends=True))):
                self._claim(self._keys, [name, uuid.uuid4().hex])
            else:
                self._waiting_for_later.add(name)

    def remove(self, entry: Entry, for_later: bytes) -> None:
        """Remove an entry that is counted, and keep some of its lines for a later release, as far as there is room."""
        arguments = [entry.id, len(entry.lines), entry.batch_id, for_later, self._day(), LARGEST_OF_LATER]
        if not self._remove(self._keys, arguments):
            log.error("events_of_a_later_release_dropped", stream=self._name)

    def fail(self, entry: Entry) -> None:
        """Note that an entry could not be counted; after MOST_TRIES it is set aside."""
        arguments = [entry.id, len(entry.lines), entry.batch_id, entry.lines, self._day(), MOST_TRIES, self._most_bad]
        if self._fail(self._keys, arguments):
            log.error("events_cannot_be_counted", stream=self._name, batch=entry.batch_id)

    def _day(self, seconds: int = 0) -> str:
        return str((datetime.fromtimestamp(self._now(), UTC) + timedelta(seconds=seconds)).date())
