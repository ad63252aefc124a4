"""What is counted in a memory that forgets (app/domain/shared/shared_memory.py): numbers of a day or a week, by keys
that nobody can look up once that time is over.

What must be counted once for each shopper, and what too few shoppers share to be stored, is counted so, and never
written to a disk.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta

WEEK = 7  # Days.


@dataclass(frozen=True, slots=True)
class Span:
    """So many days from `first` on, in any time zone."""

    first: date
    days: int = 1

    def is_remembered(self, today: date) -> bool:
        """Whether numbers of the span are remembered on a day of UTC: while it lasts anywhere on earth."""
        return self.first - timedelta(days=1) <= today <= self.first + timedelta(days=self.days)


def week_of(day: date) -> date:
    """Return the Monday of a day's week."""
    return day - timedelta(days=day.weekday())


@dataclass(frozen=True, slots=True)
class RunningCount:
    """How often a key was counted in a span, and the sum of the weights it was counted with."""

    count: int
    weight: int = 0
