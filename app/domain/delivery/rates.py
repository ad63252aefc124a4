"""What the delivery of a basket costs by each method, and why a method is not offered for it. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.domain.delivery.declaration import GRAMS, Delivery, DeliveryMethod, RateKind
from app.domain.shared.money import LARGEST, format_money


@dataclass(frozen=True, slots=True)
class Parcel:
    """What is delivered: its weight in grams, its value in minor units."""

    weight: int
    value: int


@dataclass(frozen=True, slots=True)
class Quote:
    """A method for a parcel: its price in minor units, None where it is not offered, for a `reason` in words."""

    method: DeliveryMethod
    price: int | None
    reason: str = ""


def weight_of(delivery: Delivery, attributes: Mapping[str, Any] | None) -> int:
    """Return the weight of one product in grams by its attributes; the shop's default where they have none."""
    value = (attributes or {}).get(delivery.weight_attribute)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value <= 0:
        return delivery.default_weight
    return min(math.ceil(round(value * GRAMS[delivery.weight_unit], 3)), LARGEST)


def price_of(method: DeliveryMethod, parcel: Parcel) -> int | None:
    """Return the price of a parcel by a method, in minor units; None where it is above the last step. A value from
    which delivery is free is above no step of a rate by value, while nothing makes a parcel lighter."""
    is_free = method.free_from is not None and parcel.value >= method.free_from
    if is_free and method.rate is RateKind.VALUE:
        return 0
    size = 0 if method.rate is RateKind.FLAT else parcel.weight if method.rate is RateKind.WEIGHT else parcel.value
    step = next((step for step in method.steps if step.up_to is None or size <= step.up_to), None)
    if step is None:
        return None
    return 0 if is_free else step.price


def quote(method: DeliveryMethod, parcel: Parcel, currency: str) -> Quote:
    """Return the price of a parcel by a method, or the reason why the method is not offered for it."""
    price = price_of(method, parcel)
    if price is not None:
        return Quote(method, price)
    most = method.steps[-1].up_to or 0
    if method.rate is RateKind.WEIGHT:
        reason = f"Up to {format_weight(most)}, and your basket weighs {format_weight(parcel.weight)}."
    else:
        reason = f"For baskets up to {format_money(most, currency)}."
    return Quote(method, None, reason)


def least_quote(delivery: Delivery, parcel: Parcel, currency: str) -> Quote | None:
    """Return the lowest price at which a parcel is delivered; None where no method is offered for it."""
    offered = [one for one in quotes(delivery, parcel, currency) if one.price is not None]
    return min(offered, key=lambda one: one.price or 0, default=None)


def quotes(delivery: Delivery, parcel: Parcel, currency: str) -> list[Quote]:
    return [quote(method, parcel, currency) for method in delivery.methods]


def format_weight(grams: int) -> str:
    """Format a weight for people: "850 g", "2.15 kg"."""
    if grams < 1_000:
        return f"{grams} g"
    return f"{grams / 1_000:,.2f}".rstrip("0").rstrip(".") + " kg"
