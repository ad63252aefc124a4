"""The day of a moment in a shop's time zone, and the periods that reports sum. Pure."""

from __future__ import annotations

from datetime import date, datetime
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from app.domain.shared.clock import Clock

PERIODS = (7, 30, 90)  # Days (specification: Analytics periods). Words are kept for the longest.


def today(clock: Clock, time_zone: str) -> date:
    """Return today's date in `time_zone` (an IANA name)."""
    return day_at(clock.now(), time_zone)


def day_at(moment: datetime, time_zone: str) -> date:
    """Return the date of an aware moment. Every moment has exactly one, also where clocks are turned."""
    return moment.astimezone(_zone(time_zone)).date()


@lru_cache(maxsize=256)
def _zone(name: str) -> ZoneInfo:
    """Return a time zone; UTC for a name that this machine does not know, so that counting goes on."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        return ZoneInfo("UTC")
