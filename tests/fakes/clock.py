"""A clock for tests."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta


class StoppedClock:
    """Time stands still until a test moves it."""

    def __init__(self, now: datetime = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)) -> None:
        self._now = now

    def now(self) -> datetime:
        return self._now

    def move(self, **timedelta_arguments: float) -> None:
        self._now += timedelta(**timedelta_arguments)
