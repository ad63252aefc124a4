"""Trust in the clock, by which records are judged to be old and counts to be of the last days: the stored reading of
the clock, and the alert while it is in doubt. Call the writing functions in a transaction.

A shop knows two times: what the clock says, and the steady time, which is what it would say had it run steadily since
it was last believed. The steady time is measured by the machine itself, and setting the clock does not move it. Where
the two differ by more than the tolerance the clock was set, or the shop was off, which looks the same from within. Then
the clock is in doubt until it is back in step, a user confirms it, or the shop has run for a week without another jump.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from app.domain.alerts.alerts import end_alert, raise_alert
from app.domain.alerts.causes import Cause
from app.domain.retention.models import ONLY, StoredReading
from app.domain.shared.clock import Clock
from app.extensions import db

PROBATION = timedelta(days=7)  # Of running: time off does not count, and the owner has a week to see the alert.


@dataclass(frozen=True, slots=True)
class ClockReading:
    """A reading of the clock. `wall_at` is what the clock said, `steady_at` what it would have said by running
    steadily; `doubted_at`, by the steady time, is when the two parted, None while the clock is believed."""

    wall_at: datetime
    steady_at: datetime
    doubted_at: datetime | None = None

    @classmethod
    def trusted(cls, now: datetime) -> ClockReading:
        return cls(now, now)

    @property
    def is_trusted(self) -> bool:
        return self.doubted_at is None

    @property
    def description(self) -> str:
        """Describe for the owner what is in doubt."""
        return (
            f"The clock says {self.wall_at:%Y-%m-%d %H:%M} (UTC); by the time that the shop has run it is "
            f"{self.steady_at:%Y-%m-%d %H:%M}. Nothing is purged, learned or counted anew until both agree, somebody "
            f"confirms the clock, or the shop has run for {PROBATION.days} days."
        )


@dataclass(frozen=True, slots=True)
class MeasuredTime:
    """The time that one process measured since it read the clock as `since`."""

    since: ClockReading
    elapsed: timedelta

    def after(self, last: ClockReading) -> timedelta:
        """Return the part of the measured time that passed after the last reading: none where that is of another
        process, which then counts the same time."""
        return self.elapsed if last.steady_at == self.since.steady_at else timedelta(0)


def next_reading(last: ClockReading, now: datetime, elapsed: timedelta | None, tolerance: timedelta) -> ClockReading:
    """Return the reading of a clock that says `now`. `elapsed` is the time measured since the last reading, None where
    no process measured it, since the shop, or the process that watches, was off."""
    steady = last.steady_at + (elapsed or timedelta(0))
    if abs(now - steady) <= tolerance:
        return ClockReading.trusted(now)
    has_jumped_again = elapsed is not None and abs(now - last.wall_at - elapsed) > tolerance
    doubted_at = steady if last.doubted_at is None or has_jumped_again else last.doubted_at
    if steady - doubted_at >= PROBATION:
        return ClockReading.trusted(now)
    return ClockReading(now, steady, doubted_at)


def read_clock(
    clock: Clock, measured: MeasuredTime | None, tolerance: timedelta, newest_record: Callable[[], datetime | None]
) -> ClockReading:
    """Read the clock, store the reading and return it. Several processes may do so: each measured time counts once. The
    very first reading is compared with the newest record of the shop."""
    stored = db.session.get(StoredReading, ONLY, with_for_update=True, populate_existing=True)
    last = _stored_reading(stored) or _first_reading(clock, newest_record)
    elapsed = measured.after(last) if measured else None
    reading = next_reading(last, clock.now(), elapsed, tolerance)
    _store_reading(stored, reading)
    if reading.is_trusted:
        end_alert(clock, Cause.CLOCK_MOVED)
    elif reading.doubted_at != last.doubted_at:
        raise_alert(clock, Cause.CLOCK_MOVED, reading.description)
    return reading


def is_trusted(clock: Clock, tolerance: timedelta, newest_record: Callable[[], datetime | None]) -> bool:
    """Whether the clock is believed by the last reading and by what it says now, which may be set since. Stores
    nothing."""
    last = _stored_reading(db.session.get(StoredReading, ONLY, populate_existing=True)) or _first_reading(
        clock, newest_record
    )
    return next_reading(last, clock.now(), None, tolerance).is_trusted


def trust_clock(clock: Clock) -> None:
    """Trust the clock again, because a person says that it is right."""
    _store_reading(db.session.get(StoredReading, ONLY, with_for_update=True), ClockReading.trusted(clock.now()))
    end_alert(clock, Cause.CLOCK_MOVED)


def _first_reading(clock: Clock, newest_record: Callable[[], datetime | None]) -> ClockReading:
    return ClockReading.trusted(newest_record() or clock.now())


def _stored_reading(stored: StoredReading | None) -> ClockReading | None:
    if stored is None:
        return None
    return ClockReading(stored.wall_at, stored.steady_at, stored.doubted_at)


def _store_reading(stored: StoredReading | None, reading: ClockReading) -> None:
    if stored is None:
        stored = StoredReading(id=ONLY)
        db.session.add(stored)
    stored.wall_at, stored.steady_at, stored.doubted_at = reading.wall_at, reading.steady_at, reading.doubted_at
    db.session.flush()
