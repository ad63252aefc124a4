"""Days of a shop's time zone as spans of moments. Pure."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo


def starts_at(day: date, zone: ZoneInfo) -> datetime:
    """Return the first moment of a day, in UTC. A day lasts 23 or 25 hours where clocks are turned."""
    return datetime.combine(day, time.min, zone).astimezone(UTC)


def ends_at(day: date, zone: ZoneInfo) -> datetime:
    """Return the first moment after a day, in UTC."""
    return starts_at(day + timedelta(days=1), zone)


def same_time_before(moment: datetime, days: int, zone: ZoneInfo) -> datetime:
    """Return when a clock on the wall showed the same some days earlier, in UTC."""
    return (moment.astimezone(zone) - timedelta(days=days)).astimezone(UTC)
