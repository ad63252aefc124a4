"""Rate limits, and what is counted once for each shopper, for all machines of a shop: the numbers lie in a Redis that
has no disk, each until its time is over.

Redis gets hashes alone, which are made here with the key of a day or a week and with one of the shop's secret. The
first is random and lies in Redis, where the processes find it, until the day is over everywhere on earth; then nobody
can ask for what was counted under it any more, not even who has Redis' memory and the shop's secret. Redis is
therefore refused where it writes to a disk, on which the keys would outlive their time (docs/adr/0066).

Where Redis does not answer, each machine counts in its own memory: nobody is locked out, and nobody has free tries.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from hashlib import blake2b
from math import ceil
from typing import Any

from redis import Redis
from redis.exceptions import ResponseError

from app.adapters.redis.connection import RestingRedis
from app.domain.shared.memory import KEY_SIZE, RunningCount, SharedMemory, Span, end_of
from app.domain.shared.rate_limit import Rate

TIMEOUT = 0.1  # Seconds: a page may wait this long for a Redis that hangs, once in a pause.
UNKNOWN_KEY = -1
TRIES = 3

# The window of a rate limit, as `admit` has it (app/domain/shared/rate_limit.py). KEYS: the span's key, the window.
TAKE = """
if redis.call('HGET', KEYS[1], 'id') ~= ARGV[1] then return -1 end
local known = redis.call('HMGET', KEYS[2], 'start', 'count')
local start, count = known[1] or '0', tonumber(known[2] or '0')
local now, most, seconds = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
if now >= tonumber(start) + seconds then
  start, count = ARGV[2], 0
elseif now < tonumber(start) then
  start = ARGV[2]
end
local wait = 0
if count < most then
  count = count + tonumber(ARGV[5])
else
  wait = math.max(1, math.ceil(tonumber(start) + seconds - now))
end
redis.call('HSET', KEYS[2], 'start', start, 'count', count)
redis.call('PEXPIRE', KEYS[2], seconds * 1000)
return wait
"""
# KEYS: the span's key, the count.
ADD = """
if redis.call('HGET', KEYS[1], 'id') ~= ARGV[1] then return -1 end
local count = redis.call('HINCRBY', KEYS[2], 'count', 1)
local weight = redis.call('HINCRBY', KEYS[2], 'weight', ARGV[2])
redis.call('PEXPIRE', KEYS[2], ARGV[3])
return {count, weight}
"""
# Returns the key that is there, else stores the one that is offered.
AGREE = """
local known = redis.call('HGET', KEYS[1], 'key')
if known then return known end
redis.call('HSET', KEYS[1], 'id', ARGV[1], 'key', ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return ARGV[2]
"""


Script = Callable[[list[str], list[Any]], Any]


class RedisMemory:
    """The numbers of all machines, and those of `machine` while Redis does not answer. `secret` is the shop's."""

    def __init__(self, redis: RestingRedis, prefix: str, secret: bytes, machine: SharedMemory) -> None:
        self._redis, self._prefix, self._secret, self._machine = redis, f"{prefix}-memory", secret, machine
        self._take, self._add, self._agree = redis.script(TAKE), redis.script(ADD), redis.script(AGREE)
        self._keys: dict[Span, bytearray] = {}
        self._lock = threading.Lock()

    def take(self, key: str, rate: Rate, now: float, counted: int = 1) -> int:
        today = datetime.fromtimestamp(now, UTC).date()
        arguments = [repr(now), rate.most, rate.seconds, counted]
        try:
            wait = self._count(self._take, Span(today), f"rate {key}", now, arguments)
        except OSError:
            return self._machine.take(key, rate, now, counted)
        return int(wait)

    def add(self, span: Span, key: str, now: datetime, weight: int = 0) -> RunningCount | None:
        if not span.is_remembered(now.astimezone(UTC).date()):
            return None
        lasts = _milliseconds_left(span, now.timestamp())
        try:
            count, weights = self._count(self._add, span, f"sum {key}", now.timestamp(), [weight, lasts])
        except OSError:
            return self._machine.add(span, key, now, weight)
        return RunningCount(count, weights)

    def check(self) -> None:
        self._redis.run(_refuse_disk)

    def _count(self, script: Script, span: Span, key: str, now: float, arguments: list[Any]) -> Any:
        """Run a script on the number of a key: one round trip but for the first of a span. Raises OSError."""
        secret = self._known_key(span, now) or self._agree_on_key(span, now)
        for _ in range(TRIES):
            counted = script([self._name(span), self._number(secret, key)], [_id_of(secret), *arguments])
            if counted != UNKNOWN_KEY:
                return counted
            secret = self._agree_on_key(span, now, secret)  # Redis was emptied meanwhile.
        raise OSError("the key of the day keeps changing")

    def _known_key(self, span: Span, now: float) -> bytes | None:
        """Return the key of a span, where this process knows it. Those of spans that are over are overwritten here and
        removed there, as the first request after that time does in the memory of a machine."""
        today = datetime.fromtimestamp(now, UTC).date()
        with self._lock:
            over = [known for known in self._keys if not known.is_remembered(today)]
            for each in over:
                forgotten = self._keys.pop(each)
                forgotten[:] = bytes(len(forgotten))
            key = self._keys.get(span)
            key_of_span = None if key is None else bytes(key)
        if over:
            self._redis.run(lambda redis: redis.delete(*map(self._name, over)))
        return key_of_span

    def _agree_on_key(self, span: Span, now: float, offered: bytes | None = None) -> bytes:
        """Return the key of a span that all processes have, a new one where there is none. Raises OSError."""
        self._redis.run(_refuse_disk)
        offered = offered or secrets.token_bytes(KEY_SIZE)
        agreed: bytes = self._agree([self._name(span)], [_id_of(offered), offered, _milliseconds_left(span, now)])
        with self._lock:
            self._keys[span] = bytearray(agreed)
        return agreed

    def _name(self, span: Span) -> str:
        return f"{self._prefix}:key:{span.first.isoformat()}:{span.days}"

    def _number(self, secret: bytes, key: str) -> str:
        keyed = blake2b(key.encode("utf-8", "surrogatepass"), key=secret, digest_size=16)
        return f"{self._prefix}:{blake2b(keyed.digest(), key=self._secret, digest_size=16).hexdigest()}"


def _id_of(secret: bytes) -> str:
    """Return the name of a key, from which nobody can find it."""
    return blake2b(secret, digest_size=8, person=b"id of key").hexdigest()


def _milliseconds_left(span: Span, now: float) -> int:
    """Return how long the numbers of a span are kept, by the shop's clock, whatever that of Redis says."""
    return max(1, ceil(1000 * (end_of(span) - now)))


def _refuse_disk(redis: Redis) -> None:
    """Raise OSError for a Redis that writes to a disk. Where it keeps its settings to itself, as rented ones do, its
    log alone shows that."""
    writes = bool(redis.info("persistence").get("aof_enabled"))
    with suppress(ResponseError):
        writes = writes or any(redis.config_get("save").values())
    if writes:
        raise OSError(
            "this Redis writes to its disk, where rate limits must not be: start one for LIMITS_REDIS_URL with "
            "--save '' --appendonly no"
        )
