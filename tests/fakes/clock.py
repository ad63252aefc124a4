"""A clock for tests."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from pathlib import Path


class StoppedClock:
    """Time stands still until a test moves it."""

    def __init__(self, now: datetime = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)) -> None:
        self._now = now
        self._passed = 0.0

    def now(self) -> datetime:
        return self._now

    def monotonic(self) -> float:
        return self._passed

    def move(self, **timedelta_arguments: float) -> None:
        """Let time pass."""
        self.jump(**timedelta_arguments)
        self._passed += timedelta(**timedelta_arguments).total_seconds()

    def jump(self, **timedelta_arguments: float) -> None:
        """Set the clock."""
        self._now += timedelta(**timedelta_arguments)


class SetClock:
    """The machine's clock, ahead by what a file says in seconds, so that a test sets the clock of a running process."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def now(self) -> datetime:
        return datetime.now(UTC) + timedelta(seconds=float(self._file.read_text()))

    def monotonic(self) -> float:
        return time.monotonic()

    @staticmethod
    def set(file: Path, ahead: timedelta) -> None:
        """At once: a reader sees the former or the new one."""
        aside = file.with_suffix(".new")
        aside.write_text(str(ahead.total_seconds()))
        aside.replace(file)
