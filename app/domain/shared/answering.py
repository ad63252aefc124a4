"""Whether a worker takes up what waits for it. Pure."""

from __future__ import annotations

from datetime import datetime, timedelta

ANSWERS_WITHIN = timedelta(seconds=15)  # The queue wakes a worker at once, the scheduler's poll within seconds.


def does_not_answer(now: datetime, *signs: datetime | None) -> bool:
    """`signs` are the times when work was asked for, or when somebody was last known to be at work."""
    known = [sign for sign in signs if sign is not None]
    return bool(known) and now - max(known) > ANSWERS_WITHIN
