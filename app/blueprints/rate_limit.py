"""Rate limits of views, by caller: the user of the token or session, else the network of the client."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from hashlib import blake2b
from typing import Any

from flask import g, request

from app import rate_limiting
from app.domain.shared.rate_limit import Rate
from app.domain.sites.throttle import is_this_machine, network
from app.permissions import View

GROUPS = 4_096  # Of networks; each holds a million addresses of IPv4.
TILL_READS = ("pos-read", 120)  # A minute.


def rate_limited(action: str, most: int, seconds: int = 60) -> Callable[[View], View]:
    """Answers 429 with Retry-After beyond so many requests of a caller. Stands below the decorator that reads the
    token. Views that name the same action share its limit."""
    rate = Rate(most, seconds)

    def decorate(view: View) -> View:
        @wraps(view)
        def limited(*args: Any, **kwargs: Any) -> Any:
            refuse_beyond(action, rate)
            return view(*args, **kwargs)

        return limited  # type: ignore[return-value]

    return decorate


def refuse_beyond(action: str, rate: Rate) -> None:
    """Count a request of the caller. Raises TooManyRequests beyond the rate."""
    if key := _key(action):
        rate_limiting.refuse_beyond(key, rate)


def seconds_to_wait(action: str, rate: Rate) -> int:
    """Count a request of the caller; return the seconds until another is allowed, 0 when this one is within the
    limit."""
    key = _key(action)
    return rate_limiting.seconds_to_wait(key, rate) if key else 0


def counts(action: str, rate: Rate) -> bool:
    """Count an event of the client's network; return whether it is within the limit of a window of days. Those of this
    machine always are."""
    address = request.remote_addr or "unknown"
    return is_this_machine(address) or rate_limiting.counts(f"{action}:network:{network(address)}", rate)


def is_first_of_group(action: str, seconds: int) -> bool:
    """Whether this is the first event of its kind from the client's group of networks within `seconds`, which are
    weeks; True for this machine. A group is one of GROUPS, so that what is kept for weeks identifies nobody."""
    address = request.remote_addr or "unknown"
    if is_this_machine(address):
        return True
    group = int.from_bytes(blake2b(network(address).encode(), digest_size=4).digest(), "little") % GROUPS
    return rate_limiting.is_first(f"{action}:group:{group}", seconds)


def _key(action: str) -> str | None:
    """Return the key of the client's limit; None for this machine, whose address a proxy that TRUSTED_PROXIES does not
    name gives to every client."""
    if caller := g.get("api_caller"):
        return rate_limiting.user_key(action, caller.site_id, caller.user_id)
    address = request.remote_addr or "unknown"
    return None if is_this_machine(address) else f"{action}:address:{network(address)}"
