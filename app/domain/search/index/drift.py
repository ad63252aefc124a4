"""Findings of the nightly comparison of index and catalogue, over the last thirty days. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Protocol

DAYS = 30


class DriftReport(Protocol):
    """The report of one comparison, as ReconcileReport has it (app/domain/search/models.py)."""

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


@dataclass(frozen=True, slots=True)
class DriftHistory:
    """The days from the oldest to today, and when the last comparison was made."""

    days: tuple[DriftDay, ...]
    last_at: datetime | None

    @property
    def last(self) -> DriftDay | None:
        return next((day for day in reversed(self.days) if day.compared), None)

    @property
    def total(self) -> int:
        return sum(day.total for day in self.days)


def drift(reports: Sequence[DriftReport], today: date) -> DriftHistory:
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
    return DriftHistory(tuple(days.values()), max((report.at for report in reports), default=None))
