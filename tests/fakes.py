"""Adapters for tests, where the real one would be slow or not repeatable."""

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


class RecordingQueue:
    """Remembers what was asked for in `jobs`; `down` makes it refuse."""

    def __init__(self) -> None:
        self.jobs: list[tuple[str, tuple[object, ...]]] = []
        self.down = False

    def enqueue(self, job: str, *args: object) -> bool:
        if not self.down:
            self.jobs.append((job, args))
        return not self.down

    def ping(self) -> None:
        if self.down:
            raise OSError("the queue is down")
