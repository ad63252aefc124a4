"""When a lost index may be rebuilt again without a person. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import takewhile

AFTER_SUCCESS = timedelta(seconds=30)  # A disk that spoils every index is not kept busy by new ones.
AFTER_FAILURE = timedelta(minutes=1)
LONGEST = timedelta(hours=1)
WORTH_REMEMBERING = 8  # The latest rebuilds that are read; after so many failures the pause is the longest.


@dataclass(frozen=True, slots=True)
class PastRebuild:
    """The outcome of an earlier rebuild. `ended_at` is None while it is unfinished."""

    has_failed: bool
    ended_at: datetime | None


def may_rebuild(now: datetime, past: Sequence[PastRebuild]) -> bool:
    """Whether another rebuild may begin. `past` is in order, the latest first. A clock that was set back does not
    lengthen a pause for ever."""
    if not past:
        return True
    ended_at = past[0].ended_at
    return ended_at is not None and abs(now - ended_at) >= pause_after(failures_in_a_row(past))


def failures_in_a_row(past: Sequence[PastRebuild]) -> int:
    """Return how many of the latest rebuilds failed in a row."""
    return len(list(takewhile(lambda rebuild: rebuild.has_failed, past)))


def pause_after(failures: int) -> timedelta:
    """Return the pause after so many failures in a row. It doubles with each, up to LONGEST."""
    return min(AFTER_FAILURE * 2 ** (failures - 1), LONGEST) if failures else AFTER_SUCCESS
