"""Basket contents as the shopper sees them: pure."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

MOST_OF_ONE = 99
MOST_LINES = 50


class Availability(StrEnum):
    """Whether a line can be bought as it stands: FEWER are left than its quantity, none are (SOLD_OUT), or the shop
    does not sell it any more (GONE)."""

    GOOD = "good"
    FEWER = "fewer"
    SOLD_OUT = "sold_out"
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class BasketLine:
    """A line of a basket. Prices in minor units: `price` is today's, `price_before` the one that the shopper saw last,
    where it differs. `left` is the number in stock, None where stock is not counted. `seo_name` leads to the product's
    page; where the product is gone, it is empty and `product_id` None."""

    id: int
    sku: str
    name: str
    options: Mapping[str, str]
    quantity: int
    price: int
    price_before: int | None = None
    left: int | None = None
    availability: Availability = Availability.GOOD
    product_id: int | None = None
    seo_name: str = ""

    @property
    def can_be_had(self) -> bool:
        return self.availability in (Availability.GOOD, Availability.FEWER)

    @property
    def total(self) -> int:
        return self.price * self.quantity if self.can_be_had else 0

    @property
    def most(self) -> int:
        """The largest quantity of the line that a shopper can order."""
        return MOST_OF_ONE if self.left is None else min(MOST_OF_ONE, self.left)

    @property
    def described(self) -> str:
        """The line's options in words, such as "Colour: Fern, Size: Large"."""
        return ", ".join(f"{name}: {value}" for name, value in self.options.items())

    @property
    def trouble(self) -> str:
        """The reason why the line cannot be bought, in words for the shopper; empty where it can."""
        if self.availability is Availability.FEWER:
            return f"Only {self.left} left: please take fewer."
        if self.availability is Availability.SOLD_OUT:
            return "Sold out since you chose it. Please remove it."
        return "This is no longer sold. Please remove it." if self.availability is Availability.GONE else ""


@dataclass(frozen=True, slots=True)
class Basket:
    """A basket. `total`, in minor units, counts only the lines that can be bought."""

    lines: tuple[BasketLine, ...] = ()

    @property
    def items(self) -> int:
        return sum(line.quantity for line in self.lines)

    @property
    def items_to_be_had(self) -> int:
        return sum(line.quantity for line in self.lines if line.can_be_had)

    @property
    def total(self) -> int:
        return sum(line.total for line in self.lines)

    @property
    def can_be_ordered(self) -> bool:
        return bool(self.lines) and all(line.availability is Availability.GOOD for line in self.lines)

    @property
    def seen(self) -> str:
        """A digest of the lines with their quantities and prices. The shopper's order carries it, so that a basket that
        another tab or a new price has changed meanwhile is not ordered."""
        shown = repr([(line.id, line.sku, line.quantity, line.price) for line in self.lines])
        return hashlib.sha256(shown.encode()).hexdigest()[:24]


def availability(stock: int | None, quantity: int) -> Availability:
    """Return the availability of a quantity of an offer; stock None is not counted."""
    if stock is None or stock >= quantity:
        return Availability.GOOD
    return Availability.FEWER if stock > 0 else Availability.SOLD_OUT
