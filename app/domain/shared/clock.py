"""The port to time; moments as JSON and people write them; days of a shop's time zone as spans of moments. Pure."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from typing import Protocol
from zoneinfo import ZoneInfo

FIRST_MOMENT, LAST_MOMENT = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)


class Clock(Protocol):
    def now(self) -> datetime:
        """The current time, aware, in UTC."""
        ...

    def monotonic(self) -> float:
        """Seconds since some moment, for measuring how long things take: setting the clock does not move them."""
        ...


def rfc3339(moment: datetime) -> str:
    """Format a moment in UTC, to the second: `2026-11-20T21:04:05Z`."""
    return moment.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def local_day(moment: datetime, time_zone: str) -> date:
    """Return the day of a moment in a time zone."""
    return moment.astimezone(ZoneInfo(time_zone)).date()


def format_moment(moment: datetime, time_zone: str, seconds: bool = False) -> str:
    """Format a moment in a time zone, which it names: "1 July 2026, 12:30 BST"."""
    local = moment.astimezone(ZoneInfo(time_zone))
    return f"{local.day} {local:%B %Y}, {local:{'%H:%M:%S' if seconds else '%H:%M'}} {local:%Z}"


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
