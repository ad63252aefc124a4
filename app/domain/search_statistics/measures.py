"""Measures of searches over a period: counts, shares of them, and how both compare with the period before or with a
change; and the query parameters of the Analytics pages. Pure.

Definitions: specification, Analytics measures. Shares are of the searches that were made while clicks were recorded,
without those that a page answered or that a rule sent to one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from enum import StrEnum
from math import sqrt
from urllib.parse import urlencode

from app.domain.catalogue.listing import page_number
from app.domain.search_statistics.counting.aggregation import Sums
from app.domain.search_statistics.counting.days import PERIODS
from app.domain.shared.money import format_money

NONE = "–"
SUM_NAMES = ("searches", "found_nothing", "followed", "clicked", "added_to_basket", "ordered", "revenue")
KINDS_OF_CLICKS = ("clicked", "added_to_basket", "ordered", "revenue")
LABELS: Mapping[str, str] = {
    "searches": "Searches",
    "found_nothing": "Found nothing",
    "clicked": "Clicked",
    "added_to_basket": "Added to basket",
    "ordered": "Ordered",
    "revenue": "Revenue",
}
SIGNIFICANT = 1.96  # Standard errors.
LESS_IS_BETTER = {"found_nothing"}
DEFAULT_DAYS = 30
PAGE_SIZE = 50
LONGEST_WORDS = 100


@dataclass(frozen=True, slots=True)
class Period:
    """The last `days` days up to `today`, which is not over yet: a comparison leaves it out, and with it the last day
    of the period before, so that equal numbers of the same weekdays are compared."""

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

    @property
    def compared(self) -> tuple[date, ...]:
        """The days that are compared with those of the period before; none of a period of one day."""
        return self.dates[:-1]


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure of a period, today so far included, beside the one before. `share` is None for what is no share of
    something; `comparison`, which leaves today out, is None where the period before was not counted whole, and so is
    `by_day_before`; `is_better` is None where the change is neither better nor worse."""

    key: str
    label: str
    figure: str
    share: str | None
    comparison: str | None
    is_better: bool | None
    by_day: tuple[int, ...]
    by_day_before: tuple[int, ...] | None


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
    whole, compared, is_better = total(now), None, None
    if before is not None:
        days, days_before = total(now[:-1]), total(before[:-1])
        compared, is_better = _describe_change(name, days, days_before, currency), _is_better(name, days, days_before)
    return Measure(
        name,
        LABELS[name],
        figure(name, whole, currency),
        percent(share(whole, name)) if _is_share(name) else None,
        compared,
        is_better,
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


def describe_change(new: int, old: int, old_amount: str) -> str:
    """Return the change of a sum in words: "12% more than before"; `old_amount` is the earlier one as text, which
    stands for itself where it is nothing or the change rounds to none."""
    change = f"{abs(new - old) / old:.0%}" if old else "0%"
    if change == "0%":
        return f"{old_amount} before"
    return f"{change} {'more' if new > old else 'less'} than before"


def _describe_change(name: str, now: Sums, before: Sums, currency: str) -> str | None:
    if _is_share(name):
        return f"{percent(share(before, name))} before" if share(before, name) is not None else None
    if name == "revenue" and not before.followed:
        return None
    return describe_change(getattr(now, name), getattr(before, name), amount(name, getattr(before, name), currency))


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


@dataclass(frozen=True, slots=True)
class EffectRow:
    """One measure: counts and, but for searches and revenue, their shares. `is_better` is None where the
    difference of the shares is not significant."""

    label: str
    before: str
    after: str
    before_share: str | None = None
    after_share: str | None = None
    is_better: bool | None = None


def effect_rows(before: Sums, after: Sums, currency: str) -> list[EffectRow]:
    return [_effect_row(name, label, before, after, currency) for name, label in LABELS.items()]


def _effect_row(name: str, label: str, before: Sums, after: Sums, currency: str) -> EffectRow:
    if name == "searches":  # More or fewer of them are neither good nor bad.
        return EffectRow(label, f"{before.searches:,}", f"{after.searches:,}")
    if name == "revenue":
        was, now = (format_money(one.revenue, currency) if one.followed else NONE for one in (before, after))
        return EffectRow(label, was, now)
    pair = before, after
    shares = share(before, name), share(after, name)
    counted = [NONE if part is None else f"{getattr(sums, name):,}" for sums, part in zip(pair, shares, strict=True)]
    written = [None if part is None else percent(part) for part in shares]
    is_better = None
    if shares[0] is not None and shares[1] is not None and _is_significant(name, before, after):
        is_better = (shares[1] < shares[0]) == (name in LESS_IS_BETTER)
    return EffectRow(label, counted[0], counted[1], written[0], written[1], is_better)


def _is_significant(name: str, before: Sums, after: Sums) -> bool:
    """Whether the difference is significant by the two-proportion z-test at 5 %."""
    wholes = [sums.searches if name in LESS_IS_BETTER else sums.followed for sums in (before, after)]
    counts: list[int] = [getattr(sums, name) for sums in (before, after)]
    pooled = sum(counts) / sum(wholes)
    error = sqrt(max(0.0, pooled * (1 - pooled)) * (1 / wholes[0] + 1 / wholes[1]))
    return abs(counts[0] / wholes[0] - counts[1] / wholes[1]) > SIGNIFICANT * error


class ListName(StrEnum):
    """A list, by its name in the address of its page."""

    TOP = "top"
    NOTHING = "found-nothing"
    RARELY = "rarely-clicked"
    LEADS = "leads-to"

    @property
    def needs_clicks(self) -> bool:
        return self in (ListName.RARELY, ListName.LEADS)


class SortKey(StrEnum):
    """The column by which a list is sorted, largest first."""

    SEARCHES = "searches"
    NOTHING = "found_nothing"
    CLICKED = "clicked"
    BASKET = "added_to_basket"
    ORDERED = "ordered"
    REVENUE = "revenue"


DEFAULT_ORDER = {ListName.NOTHING: SortKey.NOTHING}


def days_of(parameters: Mapping[str, str]) -> int:
    """Return the period's days; 30 for an invalid number."""
    return next((days for days in PERIODS if str(days) == parameters.get("days")), DEFAULT_DAYS)


@dataclass(frozen=True, slots=True)
class ListRequest:
    """One page of a list. Invalid parameters have their defaults."""

    name: ListName
    days: int = DEFAULT_DAYS
    words: str = ""
    order: SortKey = SortKey.SEARCHES
    page: int = 1

    @classmethod
    def read(cls, name: ListName, parameters: Mapping[str, str]) -> ListRequest:
        words = parameters.get("q", "").replace("\0", "")[:LONGEST_WORDS].casefold()
        default = DEFAULT_ORDER.get(name, SortKey.SEARCHES)
        order = next((order for order in SortKey if order == parameters.get("sort")), default)
        return cls(name, days_of(parameters), " ".join(words.split()), order, page_number(parameters.get("p")))

    def query(self, **changes: object) -> str:
        """Return the query string of this list with changes, which start at the first page."""
        changed = replace(self, **{"page": 1, **changes})  # type: ignore[arg-type]
        parameters = {
            "days": changed.days,
            "q": changed.words,
            "sort": "" if changed.order == DEFAULT_ORDER.get(self.name, SortKey.SEARCHES) else str(changed.order),
            "p": "" if changed.page == 1 else changed.page,
        }
        return urlencode({name: str(value) for name, value in parameters.items() if value})
