"""Moments as JSON carries them, and in the time zone of a shop."""

from __future__ import annotations

from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo


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
