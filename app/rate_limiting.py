"""Rate limits at any surface."""

from __future__ import annotations

from app import ports
from app.domain.shared.problems import TooManyRequests
from app.domain.shared.rate_limit import Rate


def seconds_to_wait(key: str, rate: Rate) -> int:
    """Count a request under a key; return the seconds until another is allowed, 0 when this one is within the limit."""
    return ports.shared_memory().take(key, rate, ports.clock().now().timestamp())


def user_key(action: str, site_id: int, user_id: int) -> str:
    """Return the key under which a user's requests of one kind are counted, at whichever surface they come."""
    return f"{action}:user:{site_id}:{user_id}"


def refuse_beyond(key: str, rate: Rate) -> None:
    """Count a request under a key. Raises TooManyRequests beyond the rate."""
    if wait := seconds_to_wait(key, rate):
        raise TooManyRequests(f"Too many requests. Try again in {wait} second{'s' * (wait != 1)}.", wait)
