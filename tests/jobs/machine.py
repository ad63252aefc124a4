"""A machine whose clock can be set."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from app.jobs.scheduler import Scheduler
from tests.fakes.clock import StoppedClock


class Machine:
    """A scheduler that looks once a second, on a machine whose clock can be set."""

    def __init__(self, clock: StoppedClock) -> None:
        self.clock = clock
        self.begun: list[str] = []
        self.restart()

    def restart(self) -> None:
        self.scheduler = Scheduler(self._run)
        self.look()

    def look(self) -> None:
        self.clock.move(seconds=1)
        self.scheduler.look()

    def set_clock(self, by: timedelta) -> None:
        self.clock.jump(seconds=by.total_seconds())
        self.look()

    def run(self, **time: float) -> None:
        """Look when so much time has passed: of the slots of a job the last is made up for."""
        self.clock.move(**time)
        self.look()

    def _run(self, name: str, work: Callable[[], object]) -> bool:
        self.begun.append(name)
        work()
        return True
