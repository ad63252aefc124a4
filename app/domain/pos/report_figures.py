"""The figures of the till's reports: of a day, and of a work session as X or Z report. Pure.

The report of a session counts the payments that it took and the refunds that it made, whoever took what it gave back.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, is_dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple, get_args, get_origin, get_type_hints
from zoneinfo import ZoneInfo

UNKNOWN_BRAND = "unknown"
HOURS = 24


class ReportType(StrEnum):
    X = "X"
    Z = "Z"


@dataclass(frozen=True, slots=True)
class CountedPayments:
    """Counts and sums of the payments of one brand of card, or in cash, in minor units."""

    card_brand: str | None
    count: int
    gross: int
    refund_count: int = 0
    refunds: int = 0


@dataclass(frozen=True, slots=True)
class Sums:
    count: int = 0
    gross: int = 0
    refund_count: int = 0
    refunds: int = 0

    @property
    def net(self) -> int:
        return self.gross - self.refunds

    def plus(self, counted: CountedPayments | Sums) -> Sums:
        return Sums(
            self.count + counted.count,
            self.gross + counted.gross,
            self.refund_count + counted.refund_count,
            self.refunds + counted.refunds,
        )


@dataclass(frozen=True, slots=True)
class BrandSums:
    card_brand: str
    sums: Sums

    @property
    def count(self) -> int:
        return self.sums.count

    @property
    def gross(self) -> int:
        return self.sums.gross

    @property
    def refund_count(self) -> int:
        return self.sums.refund_count

    @property
    def refunds(self) -> int:
        return self.sums.refunds

    @property
    def net(self) -> int:
        return self.sums.net


@dataclass(frozen=True, slots=True)
class Unresolved:
    """Payments whose outcome is not known yet, or was not when the session was closed; `waiting` counts those of them
    that still wait for a card."""

    count: int = 0
    amount: int = 0
    waiting: int = 0
    waiting_amount: int = 0

    @property
    def under_way(self) -> int:
        return self.count - self.waiting

    @property
    def amount_under_way(self) -> int:
        return self.amount - self.waiting_amount


@dataclass(frozen=True, slots=True)
class UnresolvedRefunds:
    """Refunds that a session requested and whose outcome is not known yet, or was not when it was closed."""

    count: int = 0
    amount: int = 0


@dataclass(frozen=True, slots=True)
class Movements:
    """Sums of the cash that was paid in, paid out and dropped, in minor units."""

    pay_in: int = 0
    pay_out: int = 0
    drop: int = 0

    @property
    def net(self) -> int:
        return self.pay_in - self.pay_out - self.drop


@dataclass(frozen=True, slots=True)
class LocationSums:
    """The payments of a session that were taken elsewhere than where its Z report counts. `location_id` is the
    processor's."""

    location_id: str
    display_name: str
    cash: Sums
    card: Sums


@dataclass(frozen=True, slots=True)
class SessionReport:
    """The X or Z report of a work session; money in minor units. `cards` and `cash` are sales without tips, and refunds
    that the session made. `rounding` is what the drawer got more (or less) by rounding than sales less refunds."""

    type: ReportType
    generated_at: datetime
    currency: str
    cards: tuple[BrandSums, ...]
    cash: Sums
    tips: int
    rounding: int
    movements: Movements
    unresolved: Unresolved
    opening_float: int | None
    counted_cash: int | None
    other_locations: tuple[LocationSums, ...] = ()
    unresolved_refunds: UnresolvedRefunds = UnresolvedRefunds()
    tips_refunded: int = 0

    @property
    def card(self) -> Sums:
        return total_of(self.cards)

    @property
    def total(self) -> Sums:
        return self.card.plus(self.cash)

    @property
    def expected_cash(self) -> int:
        """The cash that should be in the drawer; without an opening float, as if it had been empty."""
        return (self.opening_float or 0) + self.cash.net + self.rounding + self.movements.net

    @property
    def difference(self) -> int | None:
        """The counted cash less the expected; None while nothing was counted."""
        return None if self.counted_cash is None else self.counted_cash - self.expected_cash

    @property
    def cash_difference(self) -> int | None:
        """The difference, None also without an opening float."""
        return None if self.opening_float is None else self.difference


def report_to_json(report: SessionReport) -> dict[str, Any]:
    """Return a report in the form that `report_from_json` reads."""
    return asdict(report) | {"generated_at": report.generated_at.isoformat()}


def report_from_json(stored: Mapping[str, Any]) -> SessionReport:
    """Return a stored report. A figure that a later version added has its default."""
    report: SessionReport = _read(SessionReport, stored)
    return report


def _read(kind: Any, value: Any) -> Any:
    """Return a value of JSON as the type of the field says."""
    if is_dataclass(kind):
        hints = get_type_hints(kind)
        return kind(**{name: _read(hints[name], value[name]) for name in hints if name in value})  # type: ignore[operator]
    if get_origin(kind) is tuple:
        return tuple(_read(get_args(kind)[0], each) for each in value)
    if kind is ReportType:
        return ReportType(value)
    return datetime.fromisoformat(value) if kind is datetime else value


def sums_by_brand(counted: Iterable[CountedPayments]) -> tuple[BrandSums, ...]:
    """Return the sums of each brand by name; a payment without a brand counts as unknown."""
    sums: dict[str, Sums] = {}
    for one in counted:
        brand = one.card_brand or UNKNOWN_BRAND
        sums[brand] = sums.get(brand, Sums()).plus(one)
    return tuple(BrandSums(brand, sums[brand]) for brand in sorted(sums))


def total_of(cards: Iterable[BrandSums]) -> Sums:
    return sum_of(card.sums for card in cards)


def sum_of(counted: Iterable[CountedPayments | Sums]) -> Sums:
    total = Sums()
    for one in counted:
        total = total.plus(one)
    return total


class Sale(NamedTuple):
    """A payment that was taken; money in minor units, `amount` without the tip."""

    agent_id: int
    at: datetime
    amount: int
    in_cash: bool = False
    tip: int = 0
    location_id: int = 0


@dataclass(frozen=True, slots=True)
class DayFigures:
    """The figures of one day, money in minor units; `gross` is without tips, and `in_cash` the part of it in cash.
    `refunds` include `tips_refunded`. `declined` counts declined tries of cards, perhaps several for one payment."""

    sales: int = 0
    gross: int = 0
    refunds: int = 0
    declined: int = 0
    in_cash: int = 0
    tips: int = 0
    tips_refunded: int = 0

    @property
    def by_card(self) -> int:
        return self.gross - self.in_cash

    @property
    def net(self) -> int:
        """Sales less refunds, tips on neither side."""
        return self.gross - (self.refunds - self.tips_refunded)

    @property
    def average(self) -> int | None:
        """The average of a sale, rounded to a minor unit; None without a sale."""
        return round(self.gross / self.sales) if self.sales else None


def tips_in_refunds(sale: int, refunds: Sequence[int]) -> list[int]:
    """Return how much of each refund of a payment is tip: its refunds, in their order, give back the sale first. All in
    minor units; `sale` is what was taken without the tip."""
    parts, given_back = [], 0
    for refund in refunds:
        before, given_back = max(0, given_back - sale), given_back + refund
        parts.append(max(0, given_back - sale) - before)
    return parts


def takings_by_hour(sales: Iterable[Sale], zone: ZoneInfo) -> tuple[int, ...]:
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


def takings_by_location(sales: Iterable[Sale]) -> dict[int, Sums]:
    """Return the number of sales and the takings of each location."""
    taken: dict[int, Sums] = {}
    for sale in sales:
        taken[sale.location_id] = taken.get(sale.location_id, Sums()).plus(Sums(1, sale.amount))
    return taken


def change_in_percent(now: int, before: int) -> int | None:
    """Return the change in per cent, None where there was nothing to compare with."""
    return round(100 * (now - before) / before) if before else None
