"""Rate limits per client address for requests that leave a record: a counted search, a new basket.

They hold per process and in memory, since they need not be exact. Addresses are kept only as keyed hashes. Requests of
every browser count, whatever it calls itself, because programs drive real browsers too.
"""

from __future__ import annotations

import threading
from datetime import datetime
from hashlib import blake2b
from secrets import token_bytes

from cachetools import LRUCache
from flask import current_app, request

from app import ports
from app.domain.sites.throttle import is_this_machine, network

SEARCHES, BASKETS = "shop-rate-limit-of-searches", "shop-rate-limit-of-baskets"
PER_MINUTE = 60  # More than a person does; an office that shares an address stays below it, too.
MOST_ADDRESSES = 10_000


class RateLimit:
    """Token bucket per address: it holds `per_minute` tokens and refills within a minute. Of the addresses seen, the
    latest `most_addresses` are remembered. Safe to share between threads.

    `limits` has neither token buckets nor a bound on the addresses in memory, and reads a clock of its own.
    """

    def __init__(self, per_minute: int = PER_MINUTE, most_addresses: int = MOST_ADDRESSES) -> None:
        self._capacity = float(per_minute)
        self._secret = token_bytes(32)
        self._lock = threading.Lock()
        self._buckets: LRUCache[bytes, tuple[float, datetime]] = LRUCache(most_addresses)

    def __len__(self) -> int:
        return len(self._buckets)

    def allows(self, address: str, now: datetime) -> bool:
        """Take a token from the bucket of the address; False when it is empty."""
        key = blake2b(network(address).encode(), key=self._secret, digest_size=16).digest()
        with self._lock:
            left, since = self._buckets.get(key, (self._capacity, now))
            elapsed = max(0.0, (now - since).total_seconds())
            left = min(self._capacity, left + elapsed / 60 * self._capacity)
            allowed = left >= 1
            self._buckets[key] = (left - 1 if allowed else left, now)
        return allowed


def allows(action: str) -> bool:
    """Whether the client may do one more of SEARCHES or BASKETS now."""
    limit: RateLimit = current_app.extensions[action]
    address = request.remote_addr or "unknown"
    return is_this_machine(address) or limit.allows(address, ports.clock().now())
