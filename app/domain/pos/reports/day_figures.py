"""The figures of one day at the till: pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from zoneinfo import ZoneInfo

HOURS = 24


class Sale(NamedTuple):
    """A payment that was taken; `amount` in minor units."""

    agent_id: int
    at: datetime
    amount: int


@dataclass(frozen=True, slots=True)
class DayFigures:
    """The figures of one day, money in minor units. `declined` counts declined tries of cards, perhaps several for one
    payment."""

    sales: int = 0
    gross: int = 0
    refunds: int = 0
    declined: int = 0

    @property
    def net(self) -> int:
        return self.gross - self.refunds

    @property
    def average(self) -> int | None:
        """The average of a sale, rounded to a minor unit; None without a sale."""
        return round(self.gross / self.sales) if self.sales else None


def by_hour(sales: Iterable[Sale], zone: ZoneInfo) -> tuple[int, ...]:
    """Return the takings of each of the 24 hours of local time; an hour that came twice has both together."""
    hours = [0] * HOURS
    for sale in sales:
        hours[sale.at.astimezone(zone).hour] += sale.amount
    return tuple(hours)


def takings_by_agent(sales: Iterable[Sale]) -> dict[int, int]:
    taken: dict[int, int] = {}
    for sale in sales:
        taken[sale.agent_id] = taken.get(sale.agent_id, 0) + sale.amount
    return taken


def change_in_percent(now: int, before: int) -> int | None:
    """Return the change in per cent, None where there was nothing to compare with."""
    return round(100 * (now - before) / before) if before else None
