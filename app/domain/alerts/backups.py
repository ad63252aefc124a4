"""The check for a recent backup. Pure: the folder is read by app/jobs/machine.py."""

from __future__ import annotations

from datetime import datetime, timedelta

AHEAD = timedelta(days=1)  # A file dated further ahead says nothing of its age; time zones differ by less.


def backup_fault(folder: str, newest: datetime | None, now: datetime, longest: timedelta) -> str | None:
    """Return the fault of a backup folder, None where its newest file is recent enough. `newest` is the time of that
    file, None without a file."""
    if newest is None:
        return f"There is no file in {folder} or the folders in it; empty ones do not count."
    if newest - now > AHEAD:
        return f"The newest file in {folder} is dated {_minute(newest)}, which is in the future."
    if now - newest <= longest:
        return None
    allowed = f"at most {_days(longest)} {'is' if longest.days == 1 else 'are'} allowed"
    return f"The newest file in {folder} is of {_minute(newest)}, {_days(now - newest)} ago; {allowed}."


def _minute(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M} (UTC)"


def _days(age: timedelta) -> str:
    return "1 day" if age.days == 1 else f"{age.days} days"
