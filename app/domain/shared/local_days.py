"""Days of a shop's time zone as spans of moments. Pure."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

FIRST_MOMENT, LAST_MOMENT = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)


def starts_at(day: date, zone: ZoneInfo) -> datetime:
    """Return the first moment of a day, in UTC. A day lasts 23 or 25 hours where clocks are turned."""
    try:
        return datetime.combine(day, time.min, zone).astimezone(UTC)
    except OverflowError:  # The first day of year 1, east of Greenwich.
        return FIRST_MOMENT


def ends_at(day: date, zone: ZoneInfo) -> datetime:
    """Return the first moment after a day, in UTC; LAST_MOMENT where that would be beyond the year 9999."""
    try:
        return datetime.combine(day + timedelta(days=1), time.min, zone).astimezone(UTC)
    except OverflowError:  # The last days of year 9999.
        return LAST_MOMENT


def same_time_before(moment: datetime, days: int, zone: ZoneInfo) -> datetime:
    """Return the moment, in UTC, at which a clock of the zone showed the same time some days earlier."""
    return (moment.astimezone(zone) - timedelta(days=days)).astimezone(UTC)
