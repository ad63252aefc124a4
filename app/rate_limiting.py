"""Rate limits at any surface."""

from __future__ import annotations

from app import ports
from app.domain.shared.problems import TooManyRequests
from app.domain.shared.rate_limit import Rate


def seconds_to_wait(key: str, rate: Rate) -> int:
    """Count a request of whom the key names; 0 when it is within the limit."""
    return ports.rate_limits().take(key, rate, ports.clock().now().timestamp())


def counts(key: str, rate: Rate) -> bool:
    """Whether one more of what the key names counts in its window of days."""
    return ports.day_windows().take(key, rate, ports.clock().now().timestamp()) == 0


def is_first(key: str, seconds: int) -> bool:
    """Whether what the key names is new within a window of weeks."""
    return ports.network_windows().take(key, Rate(1, seconds), ports.clock().now().timestamp()) == 0


def user_key(action: str, site_id: int, user_id: int) -> str:
    """The key under which a user's requests of one kind are counted, whichever door they come by."""
    return f"{action}:user:{site_id}:{user_id}"


def refuse_beyond(key: str, rate: Rate) -> None:
    """Refuse requests beyond a rate. Raises TooManyRequests."""
    if wait := seconds_to_wait(key, rate):
        raise TooManyRequests(f"Too many requests. Try again in {wait} second{'s' * (wait != 1)}.", wait)
