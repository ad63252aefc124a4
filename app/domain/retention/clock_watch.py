"""The stored reading of the clock, and the alert while it is in doubt. Call the writing functions in a transaction."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

from app.domain.alerts.alerts import end_alert, raise_alert
from app.domain.alerts.causes import Cause
from app.domain.retention.clock_trust import ClockReading, MeasuredTime, next_reading
from app.domain.retention.models import ONLY, StoredReading
from app.domain.shared.clock import Clock
from app.extensions import db


def read_clock(
    clock: Clock, measured: MeasuredTime | None, tolerance: timedelta, newest_record: Callable[[], datetime | None]
) -> ClockReading:
    """Read the clock, store the reading and return it. Several processes may do so: each measured time counts once. The
    very first reading is compared with the newest record of the shop."""
    stored = db.session.get(StoredReading, ONLY, with_for_update=True, populate_existing=True)
    last = _reading(stored) or _first(clock, newest_record)
    elapsed = measured.after(last) if measured else None
    reading = next_reading(last, clock.now(), elapsed, tolerance)
    _store(stored, reading)
    if reading.is_trusted:
        end_alert(clock, Cause.CLOCK_MOVED)
    elif reading.doubted_at != last.doubted_at:
        raise_alert(clock, Cause.CLOCK_MOVED, reading.description)
    return reading


def is_trusted(clock: Clock, tolerance: timedelta, newest_record: Callable[[], datetime | None]) -> bool:
    """Whether the clock is believed by the last reading and by what it says now, which may be set since. Stores
    nothing."""
    last = _reading(db.session.get(StoredReading, ONLY, populate_existing=True)) or _first(clock, newest_record)
    return next_reading(last, clock.now(), None, tolerance).is_trusted


def trust_clock(clock: Clock) -> None:
    """Trust the clock again, because a person says that it is right."""
    _store(db.session.get(StoredReading, ONLY, with_for_update=True), ClockReading.trusted(clock.now()))
    end_alert(clock, Cause.CLOCK_MOVED)


def _first(clock: Clock, newest_record: Callable[[], datetime | None]) -> ClockReading:
    return ClockReading.trusted(newest_record() or clock.now())


def _reading(stored: StoredReading | None) -> ClockReading | None:
    if stored is None:
        return None
    return ClockReading(stored.wall_at, stored.steady_at, stored.doubted_at)


def _store(stored: StoredReading | None, reading: ClockReading) -> None:
    if stored is None:
        stored = StoredReading(id=ONLY)
        db.session.add(stored)
    stored.wall_at, stored.steady_at, stored.doubted_at = reading.wall_at, reading.steady_at, reading.doubted_at
    db.session.flush()
