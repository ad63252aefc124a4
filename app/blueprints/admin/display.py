"""Template filters that format numbers and times."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

from flask import g
from flask_login import current_user

from app import ports
from app.blueprints.admin.blueprint import bp
from app.domain.shared.counts import numbered
from app.domain.shared.times import format_moment, local_day, rfc3339
from app.domain.sites.sites import time_zone_of

bp.add_app_template_filter(rfc3339, "rfc3339")
bp.add_app_template_filter(numbered, "numbered")

STEPS = ((60, 1, "second"), (3_600, 60, "minute"), (86_400, 3_600, "hour"), (86_400 * 45, 86_400, "day"))


@bp.app_template_filter("counted")
def counted(number: int) -> str:
    """Format 19406 as "19,406"."""
    return f"{number:,}"


@bp.app_template_filter("ago")
def ago(moment: datetime) -> str:
    """Format the time since a moment in its largest fitting unit; as a date after six weeks."""
    seconds = int((ports.clock().now() - moment).total_seconds())
    if seconds < 5:
        return "just now"
    for limit, size, noun in STEPS:
        if seconds < limit:
            return f"{numbered(seconds // size, noun)} ago"
    return f"on {day_of(moment)}"


@bp.app_template_filter("day_of")
def day_of(moment: datetime) -> str:
    """Format the day of a moment in the time zone of the user's shop: "20 November 2026"."""
    day = local_day(moment, _time_zone())
    return f"{day.day} {day:%B %Y}"


@bp.app_template_filter("exact_time")
def exact_time(moment: datetime) -> str:
    """Format a moment to the second in the time zone of the user's shop."""
    return format_moment(moment, _time_zone(), seconds=True)


@bp.app_template_filter("local_time")
def local_time(moment: datetime, time_zone: str) -> str:
    """Format a moment to the minute in a shop's time zone."""
    return format_moment(moment, time_zone)


@bp.app_template_filter("brief_time")
def brief_time(moment: datetime, time_zone: str, seconds: bool = False) -> str:
    """Format a moment in a shop's time zone for narrow columns; the year stands there where it is another one."""
    zone = ZoneInfo(time_zone)
    local, now = moment.astimezone(zone), ports.clock().now().astimezone(zone)
    year = "" if local.year == now.year else f" {local.year}"
    return f"{local.day} {local:%b}{year}, {local:{'%H:%M:%S' if seconds else '%H:%M'}}"


def _time_zone() -> str:
    """Return the time zone of the user's shop, read once a request."""
    if "time_zone" not in g:
        g.time_zone = time_zone_of(current_user.site_id)
    found: str = g.time_zone
    return found
