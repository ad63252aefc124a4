"""The watch on the clock: whether it runs on steadily, was set, or cannot be believed."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta

import structlog

from app.domain.retention.clock_trust import ClockReading, MeasuredTime
from app.domain.work.leases import redate
from app.jobs import purging
from app.jobs.leased import LEASED_JOBS
from app.ports import clock
from app.transaction import transaction

BETWEEN_READINGS = timedelta(minutes=1)
NOTICED = timedelta(seconds=2)  # A time service that corrects by less hurts no lease.

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Moment:
    """The readings of the machine's two clocks."""

    wall: datetime = field(default_factory=lambda: clock().now())
    monotonic: float = field(default_factory=lambda: clock().monotonic())

    def elapsed(self, since: Moment) -> timedelta:
        return timedelta(seconds=self.monotonic - since.monotonic)


@dataclass
class ClockWatch:
    """The watch that notices at each look whether the clock was set, and dates unfinished work anew where it was. It
    notes then, and every minute, what the clock says."""

    _last: Moment | None = None
    _noted: Moment | None = None
    _reading: ClockReading | None = None

    def now(self) -> datetime:
        """Return the earlier of the clock's time and the time it would show had it not been set since the last look:
        work is given up by this time, since a jump that was not seen yet ends none."""
        now = Moment()
        return now.wall if self._last is None else min(now.wall, self._last.wall + now.elapsed(self._last))

    def monotonic(self) -> float:
        return clock().monotonic()

    def look(self) -> None:
        now = Moment()
        if self._last is None or self._noted is None or self._reading is None:
            # First of all: earlier looks may have failed here, while the database was away. The moment is from before
            # the reading, so that the next look sees whether the clock was set meanwhile.
            self._reading = purging.read_clock()
            self._last = self._noted = now
            return
        has_jumped = _redate(self._last, now)
        self._last = now
        if has_jumped or now.elapsed(self._noted) >= BETWEEN_READINGS:
            self._reading = purging.read_clock(MeasuredTime(self._reading, now.elapsed(self._noted)))
            self._noted = now


def _redate(last: Moment, now: Moment) -> bool:
    """Whether the clock was set since the last look."""
    expected = last.wall + now.elapsed(last)
    if abs(now.wall - expected) < NOTICED:
        return False
    log.warning("clock_jumped", by=str(now.wall - expected))
    with transaction():
        for leased in LEASED_JOBS.values():
            redate(leased.kind, expected, now.wall)
    return True
