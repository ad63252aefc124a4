"""Rate limits at any surface."""

from __future__ import annotations

from app import ports
from app.domain.shared.problems import TooManyRequests
from app.domain.shared.rate_limit import Rate


def seconds_to_wait(key: str, rate: Rate) -> int:
    """Count a request under a key; return the seconds until another is allowed, 0 when this one is within the limit."""
    return ports.rate_limits().take(key, rate, ports.clock().now().timestamp())


def counts(key: str, rate: Rate) -> bool:
    """Count an event under a key; return whether it is within the limit of a window of days."""
    return ports.day_windows().take(key, rate, ports.clock().now().timestamp()) == 0


def is_first(key: str, seconds: int) -> bool:
    """Note a key for a window of `seconds`, which lasts weeks; return whether it is new there."""
    return ports.network_windows().take(key, Rate(1, seconds), ports.clock().now().timestamp()) == 0


def user_key(action: str, site_id: int, user_id: int) -> str:
    """Return the key under which a user's requests of one kind are counted, at whichever surface they come."""
    return f"{action}:user:{site_id}:{user_id}"


def refuse_beyond(key: str, rate: Rate) -> None:
    """Count a request under a key. Raises TooManyRequests beyond the rate."""
    if wait := seconds_to_wait(key, rate):
        raise TooManyRequests(f"Too many requests. Try again in {wait} second{'s' * (wait != 1)}.", wait)
