"""The figures of the dashboard: sales, searches and what searches lead to, of a period that ends today, by day and
beside the days before."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import TypeVar

from app.domain.orders.sales import Sales
from app.domain.search_statistics.counting.aggregation import Sums
from app.domain.search_statistics.measures import NONE, Period, describe_change, total
from app.domain.shared.money import format_money

TODAY, WEEK = 1, 7
LENGTHS = (TODAY, WEEK, 30, 90)  # Days.
DEFAULT_LENGTH = 30
WHOLE = 10_000  # What shares are counted of, so that 412 is 4.12 %.
SMALL_SHARE = 50  # A difference of shares below half a per cent point is neither better nor worse,
SMALL_PART = 0.01  # nor is one of sums below a hundredth.
Day = TypeVar("Day", Sales, Sums)


class FigureKey(StrEnum):
    REVENUE = "revenue"
    ORDERS = "orders"
    SEARCHES = "searches"
    NOTHING = "foundNothing"
    CONVERSION = "conversion"

    @property
    def label(self) -> str:
        return LABELS[self]

    def amount(self, number: int | None, currency: str) -> str:
        """Return a number of this figure as text: "£12.50", "1,204", "4.1%"; “–” for None."""
        if number is None:
            return NONE
        if self is FigureKey.REVENUE:
            return format_money(number, currency)
        return f"{100 * number / WHOLE:.1f}%" if self.is_share else f"{number:,}"

    @property
    def is_share(self) -> bool:
        return self is FigureKey.CONVERSION


LABELS = {
    FigureKey.REVENUE: "Revenue",
    FigureKey.ORDERS: "Orders",
    FigureKey.SEARCHES: "Searches",
    FigureKey.NOTHING: "Found nothing",
    FigureKey.CONVERSION: "Searches that led to an order",
}


@dataclass(frozen=True, slots=True)
class Compared:
    """A figure of days that are over, or of today so far, and of as long a time before. None for a share of nothing."""

    now: int | None
    before: int | None


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of a period: minor units of the shop's currency, a count, or a share in parts of WHOLE. `number` has
    today so far, `by_day` ends with it; `compared` and `by_day_before` are None where the time before was not
    counted."""

    key: FigureKey
    number: int | None
    compared: Compared | None
    by_day: tuple[int, ...]
    by_day_before: tuple[int, ...] | None

    def text(self, currency: str) -> str:
        return self.key.amount(self.number, currency)

    def comparison(self, currency: str) -> str | None:
        """Return the comparison in words: "12% more than before", "4.1% before"."""
        if self.compared is None or self.compared.now is None or self.compared.before is None:
            return None
        before = self.key.amount(self.compared.before, currency)
        if self.key.is_share:
            return f"{before} before"
        return describe_change(self.compared.now, self.compared.before, before)

    @property
    def is_better(self) -> bool | None:
        """Whether the figure changed for the better; None where it hardly changed, and of searches, of which more are
        neither."""
        if self.compared is None or self.key is FigureKey.SEARCHES:
            return None
        now, before = self.compared.now, self.compared.before
        if now is None or before is None:
            return None
        if abs(now - before) < (SMALL_SHARE if self.key.is_share else max(1.0, SMALL_PART * before)):
            return None
        return (now > before) != (self.key is FigureKey.NOTHING)


@dataclass(frozen=True, slots=True)
class BoardPeriod:
    """The period of the dashboard: today, or the last `days` days. Today alone is drawn after the six days before."""

    days: int
    today: date

    @classmethod
    def read(cls, parameters: Mapping[str, str], today: date) -> BoardPeriod:
        """Return the period of an address; the last 30 days for an invalid number."""
        days = next((days for days in LENGTHS if str(days) == parameters.get("days")), DEFAULT_LENGTH)
        return cls(days, today)

    @property
    def is_today(self) -> bool:
        return self.days == TODAY

    @property
    def summed(self) -> Period:
        return Period(self.days, self.today)

    @property
    def drawn(self) -> Period:
        return Period(max(self.days, WEEK), self.today)


def sales_figures(period: BoardPeriod, by_day: Mapping[date, Sales], before_now: Sales) -> tuple[Figure, ...]:
    """Return revenue and orders. `by_day` has the drawn days and as many before; `before_now` are the sales of the same
    weekday a week ago up to the same time, with which today alone is compared."""
    drawn = period.drawn
    now = [by_day.get(day, Sales()) for day in drawn.dates]
    before = [by_day.get(day, Sales()) for day in drawn.before.dates]
    return (
        _figure(FigureKey.REVENUE, period, now, before, lambda days: sum(day.revenue for day in days), before_now),
        _figure(FigureKey.ORDERS, period, now, before, lambda days: sum(day.orders for day in days), before_now),
    )


def search_figures(
    period: BoardPeriod, by_day: Mapping[date, Sums], keys: Sequence[FigureKey], compares: bool
) -> tuple[Figure, ...]:
    """Return figures of searches. `by_day` has the drawn days and as many before; `compares` is whether those were all
    counted. Searches are counted by day, so that today alone is compared with nothing."""
    drawn = period.drawn
    now = [by_day.get(day, Sums()) for day in drawn.dates]
    before = [by_day.get(day, Sums()) for day in drawn.before.dates] if compares else None
    return tuple(_figure(key, period, now, before, SUMMED[key]) for key in keys)


def _conversion(days: Sequence[Sums]) -> int | None:
    """Return the share of searches that led to an order, of those made while clicks were recorded and that no page
    answered; None where there were none."""
    summed = total(days)
    return round(WHOLE * summed.ordered / summed.followed) if summed.followed else None


SUMMED: Mapping[FigureKey, Callable[[Sequence[Sums]], int | None]] = {
    FigureKey.SEARCHES: lambda days: total(days).searches,
    FigureKey.NOTHING: lambda days: total(days).found_nothing,
    FigureKey.CONVERSION: _conversion,
}


def _figure(
    key: FigureKey,
    period: BoardPeriod,
    now: Sequence[Day],
    before: Sequence[Day] | None,
    sum_up: Callable[[Sequence[Day]], int | None],
    before_now: Day | None = None,
) -> Figure:
    compared = None
    if period.is_today and before_now is not None:
        compared = Compared(sum_up(now[-1:]), sum_up([before_now]))
    elif not period.is_today and before is not None:
        compared = Compared(sum_up(now[:-1]), sum_up(before[:-1]))
    return Figure(
        key=key,
        number=sum_up(now[-period.days :]),
        compared=compared,
        by_day=tuple(sum_up([day]) or 0 for day in now),
        by_day_before=None if before is None else tuple(sum_up([day]) or 0 for day in before),
    )
