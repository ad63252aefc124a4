"""The day of a shop, by which it counts."""

from __future__ import annotations

from datetime import date, datetime
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from app.domain.shared.clock import Clock


def today(clock: Clock, time_zone: str) -> date:
    """The date on the wall of a shop in `time_zone` (an IANA name)."""
    return day_at(clock.now(), time_zone)


def day_at(moment: datetime, time_zone: str) -> date:
    """`moment` is aware. Every moment has exactly one day, also where clocks are turned."""
    return moment.astimezone(_zone(time_zone)).date()


@lru_cache(maxsize=256)
def _zone(name: str) -> ZoneInfo:
    """A name that this machine's tables do not have counts by UTC, so that counting goes on."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        return ZoneInfo("UTC")
