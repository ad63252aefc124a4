"""What the nightly comparison of index and catalogue found, over the last thirty days. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Protocol

DAYS = 30


class Report(Protocol):
    """One comparison (app/domain/search/models.py)."""

    at: datetime
    missing: int
    extra: int
    stale: int


@dataclass(frozen=True, slots=True)
class DriftDay:
    """All comparisons of a day together; `compared` is False where none was made."""

    day: date
    missing: int = 0
    extra: int = 0
    stale: int = 0
    compared: bool = False

    @property
    def total(self) -> int:
        return self.missing + self.extra + self.stale

    @property
    def told(self) -> str:
        when = f"{self.day.day} {self.day:%B}"
        if not self.compared:
            return f"{when}: not compared"
        if self.total == 0:
            return f"{when}: no difference"
        return f"{when}: {self.missing:,} missing, {self.stale:,} out of date, {self.extra:,} too many"


@dataclass(frozen=True, slots=True)
class Bar:
    """A part of a column in a chart that is `DAYS` × 10 wide and 100 high, from the top."""

    kind: str
    x: int
    y: int
    height: int


@dataclass(frozen=True, slots=True)
class Drift:
    """The days from the oldest to today, and when the last comparison was made."""

    days: tuple[DriftDay, ...]
    last_at: datetime | None

    @property
    def last(self) -> DriftDay | None:
        return next((day for day in reversed(self.days) if day.compared), None)

    @property
    def total(self) -> int:
        return sum(day.total for day in self.days)

    @property
    def bars(self) -> tuple[Bar, ...]:
        """The tallest day reaches the top; a day without a difference, or not compared, is a line at the foot."""
        tallest = max((day.total for day in self.days), default=0) or 1
        return tuple(bar for place, day in enumerate(self.days) for bar in _bars(day, place * 10, tallest))


def drift(reports: Sequence[Report], today: date) -> Drift:
    first = today - timedelta(days=DAYS - 1)
    days = {first + timedelta(days=number): DriftDay(first + timedelta(days=number)) for number in range(DAYS)}
    for report in reports:
        day = days.get(report.at.date())
        if day is not None:
            days[day.day] = DriftDay(
                day.day,
                missing=day.missing + report.missing,
                extra=day.extra + report.extra,
                stale=day.stale + report.stale,
                compared=True,
            )
    return Drift(tuple(days.values()), max((report.at for report in reports), default=None))


def _bars(day: DriftDay, x: int, tallest: int) -> list[Bar]:
    found, foot = [], 100
    for kind, number in (("missing", day.missing), ("stale", day.stale), ("extra", day.extra)):
        if number:
            height = max(3, number * 96 // tallest)
            foot -= height
            found.append(Bar(kind, x, max(0, foot), height))
    return found or [Bar("none" if day.compared else "unknown", x, 98, 2)]
