"""Rate limits: so many requests of a caller in a window that its first request opens."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil


@dataclass(frozen=True, slots=True)
class Rate:
    most: int
    seconds: int = 60


@dataclass(frozen=True, slots=True)
class Window:
    """A window of a rate limit: when it opened, in seconds, and how many requests it has admitted."""

    start: float = 0.0
    count: int = 0


def admit(window: Window, rate: Rate, now: float, counted: int = 1) -> tuple[Window, int]:
    """Count one more request, or count nothing and return after how many seconds the next one is admitted; with 0 as
    `counted`, look whether it is. A clock that was turned back opens no new window, and closes none later than a new
    one would close."""
    if now >= window.start + rate.seconds:
        window = Window(now)
    elif now < window.start:
        window = replace(window, start=now)
    if window.count < rate.most:
        return replace(window, count=window.count + counted), 0
    return window, max(1, ceil(window.start + rate.seconds - now))
