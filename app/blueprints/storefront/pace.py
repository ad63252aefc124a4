"""How quickly one visitor may do what leaves something behind: a search in the counts, a basket in the database. Kept
in the memory of each process, since it need not be exact; of addresses only what a secret of the process makes of them.
Every browser counts, whatever it calls itself: programs that drive one to test a shop make searches like people's.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from datetime import datetime
from hashlib import blake2b
from secrets import token_bytes

from flask import current_app, request

from app import ports
from app.domain.sites.throttle import is_this_machine, network

SEARCHES, BASKETS = "shop-pace-of-searches", "shop-pace-of-baskets"
PER_MINUTE = 60  # More than a person does; an office that shares an address stays below it, too.
MOST_KNOWN = 10_000


class Pace:
    """A bucket for each address that holds `per_minute` and fills up within a minute. Of addresses the latest
    `most_known` are known. Safe to share between threads."""

    def __init__(self, per_minute: int = PER_MINUTE, most_known: int = MOST_KNOWN) -> None:
        self._full, self._most = float(per_minute), most_known
        self._secret = token_bytes(32)
        self._lock = threading.Lock()
        self._buckets: OrderedDict[bytes, tuple[float, datetime]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._buckets)

    def allows(self, address: str, now: datetime) -> bool:
        """Takes one out of the bucket, or says that it is empty."""
        key = blake2b(network(address).encode(), key=self._secret, digest_size=16).digest()
        with self._lock:
            left = self._left(key, now)
            self._buckets[key] = (left - 1 if left >= 1 else left, now)
            self._buckets.move_to_end(key)
            if len(self._buckets) > self._most:
                self._buckets.popitem(last=False)
        return left >= 1

    def _left(self, key: bytes, now: datetime) -> float:
        left, since = self._buckets.get(key, (self._full, now))
        passed = max(0.0, (now - since).total_seconds())
        return min(self._full, left + passed / 60 * self._full)


def allows(what: str) -> bool:
    """Whether who is asking may do one more of SEARCHES or BASKETS now."""
    pace: Pace = current_app.extensions[what]
    address = request.remote_addr or "unknown"
    return is_this_machine(address) or pace.allows(address, ports.clock().now())
