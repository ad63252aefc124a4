"""Measures of searches over a period: counts, shares of them, and how both compare with the period before. Pure.

Definitions: specification, Analytics measures. Shares are of the searches that were made while clicks were recorded.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from app.domain.search_statistics.counting.sums import Sums
from app.domain.shared.money import format_money

NONE = "–"
SUM_NAMES = ("searches", "found_nothing", "followed", "clicked", "added_to_basket", "ordered", "revenue")
KINDS_OF_CLICKS = ("clicked", "added_to_basket", "ordered", "revenue")


@dataclass(frozen=True, slots=True)
class Period:
    """The last `days` days up to `today`, which is not over yet."""

    days: int
    today: date

    @property
    def first(self) -> date:
        return self.today - timedelta(days=self.days - 1)

    @property
    def before(self) -> Period:
        """The period of the same length that ends the day before this one begins."""
        return Period(self.days, self.first - timedelta(days=1))

    @property
    def dates(self) -> tuple[date, ...]:
        return tuple(self.first + timedelta(days=number) for number in range(self.days))


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure of a period, beside the one before. `share` is None for what is no share of something; `comparison` is
    None where the period before was not counted whole, and so is `by_day_before`; `is_better` is None where the change
    is neither better nor worse."""

    key: str
    label: str
    figure: str
    share: str | None
    comparison: str | None
    is_better: bool | None
    by_day: tuple[int, ...]
    by_day_before: tuple[int, ...] | None


LABELS: Mapping[str, str] = {
    "searches": "Searches",
    "found_nothing": "Found nothing",
    "clicked": "Clicked",
    "added_to_basket": "Added to basket",
    "ordered": "Ordered",
    "revenue": "Revenue",
}


def percent(share: float | None) -> str:
    """Return a share in per cent: 0.0412 as "4.1%"; without a share "–"."""
    return NONE if share is None else f"{100 * share:.1f}%"


def share(sums: Sums, name: str) -> float | None:
    """Return a count as a share: `found_nothing` of all searches, any other of the followed ones. None where there were
    no such searches, which is not the same as 0."""
    whole = sums.searches if name == "found_nothing" else sums.followed
    return getattr(sums, name) / whole if whole else None


def total(days: Iterable[Sums]) -> Sums:
    counted = list(days)
    return Sums(*(sum(getattr(day, name) for day in counted) for name in SUM_NAMES))


def measures(
    by_day: Mapping[date, Sums], period: Period, *, compares: bool, clicks: bool, currency: str
) -> tuple[Measure, ...]:
    """Return the measures of a period. `by_day` holds this period and the one before; a day without searches may be
    missing. `compares` is whether the period before was counted from its first day on."""
    now = [by_day.get(day, Sums()) for day in period.dates]
    before = [by_day.get(day, Sums()) for day in period.before.dates] if compares else None
    names = [name for name in LABELS if clicks or name not in KINDS_OF_CLICKS]
    return tuple(_measure(name, now, before, currency) for name in names)


def _measure(name: str, now: Sequence[Sums], before: Sequence[Sums] | None, currency: str) -> Measure:
    whole, compared = total(now), None
    if before is not None:
        compared = _compared(name, whole, total(before), currency)
    return Measure(
        name,
        LABELS[name],
        figure(name, whole, currency),
        percent(share(whole, name)) if _is_share(name) else None,
        f"{compared} before" if compared else None,
        _is_better(name, whole, total(before)) if before is not None else None,
        tuple(getattr(day, name) for day in now),
        None if before is None else tuple(getattr(day, name) for day in before),
    )


def figure(name: str, sums: Sums, currency: str) -> str:
    """Return the figure of a measure as text; “–” for clicks and sales where no search was followed."""
    if name in KINDS_OF_CLICKS and not sums.followed:
        return NONE
    return amount(name, getattr(sums, name), currency)


def amount(name: str, number: int, currency: str) -> str:
    return format_money(number, currency) if name == "revenue" else f"{number:,}"


def _is_share(name: str) -> bool:
    return name not in ("searches", "revenue")


def _compared(name: str, now: Sums, before: Sums, currency: str) -> str | None:
    if _is_share(name):
        return percent(share(before, name)) if share(before, name) is not None else None
    old, new = getattr(before, name), getattr(now, name)
    if name == "revenue" and not before.followed:
        return None
    shown_before = amount(name, old, currency)
    if not old or old == new:
        return shown_before
    change = f"{abs(new - old) / old:.0%}"
    if change == "0%":
        return shown_before
    return f"{change} {'more' if new > old else 'less'} than {shown_before}"


def _is_better(name: str, now: Sums, before: Sums) -> bool | None:
    """Return whether a change is for the better, None for neither. A larger share of searches that found nothing is
    worse, larger ones of clicks, baskets and orders and more revenue are better; small changes, and more or fewer
    searches, are neither."""
    if name == "searches":
        return None
    new, old = _weight(name, now), _weight(name, before)
    if new is None or old is None or abs(new - old) < (0.005 if _is_share(name) else 0.01 * old):
        return None
    return (new > old) != (name == "found_nothing")


def _weight(name: str, sums: Sums) -> float | None:
    return share(sums, name) if _is_share(name) else float(sums.revenue)
