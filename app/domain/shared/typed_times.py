"""Times as people type them in the time zone of a shop, and as programs write them. Pure."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from app.domain.shared.problems import Problem

LOCAL_FORM = "%Y-%m-%dT%H:%M"  # Of <input type="datetime-local">.
LATEST_YEAR = 2199
EARLIEST_YEAR = 2000


def local_text(moment: datetime | None, zone: ZoneInfo) -> str:
    """Return the moment as the value of the form's field; empty for None."""
    return moment.astimezone(zone).strftime(LOCAL_FORM) if moment else ""


def moment_of(
    text: str, zone: ZoneInfo, pointer: str, problems: list[Problem], stored: datetime | None = None
) -> datetime | None:
    """Return the moment of a local time, in UTC: the earlier one where the clocks go back. A text equal to that of
    `stored` returns `stored`, so that saving a form moves nothing. None for an empty text, and for an invalid one,
    whose problem is added to `problems`."""
    typed = text.strip()
    if not typed:
        return None
    if stored is not None and typed == local_text(stored, zone):
        return stored
    local = _read_local(typed)
    if local is None:
        problems.append(Problem("invalid_time", f"“{typed[:40]}” is not a date and time.", pointer))
        return None
    moment = local.replace(tzinfo=zone).astimezone(UTC)
    if moment.astimezone(zone).replace(tzinfo=None) != local:
        message = f"There is no {local:%H:%M} on {local.day} {local:%B %Y}: the clocks go forward then."
        problems.append(Problem("invalid_time", message, pointer))
        return None
    return moment


def moment_with_zone(text: str) -> datetime | None:
    """Return the moment in UTC; None for a text that is no time, names no zone, or is outside the years allowed."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    is_meant = moment.tzinfo is not None and EARLIEST_YEAR <= moment.year <= LATEST_YEAR
    return moment.astimezone(UTC) if is_meant else None


def _read_local(typed: str) -> datetime | None:
    """Return the local time that was typed, None for no valid one. Browsers leave out seconds, or send them where the
    field has them."""
    try:
        local = datetime.fromisoformat(typed)
    except ValueError:
        return None
    return local if local.tzinfo is None and EARLIEST_YEAR <= local.year <= LATEST_YEAR else None
