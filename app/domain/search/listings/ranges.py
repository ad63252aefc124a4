"""Range filters as they are set by hand: the scale of a slider with sensible steps, and ratings as stars and up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

MOST_STEPS = 100
FEWEST_STEPS = 4  # With fewer, the two boxes are as quick.
ROUND_STEPS = (Decimal(1), Decimal(2), Decimal(5))
FINEST_NUMBER = Decimal("0.000001")  # As finely as addresses carry numbers.
STARS = (4, 3, 2, 1)


@dataclass(frozen=True, slots=True)
class Slider:
    """The scale of a slider with two handles, and where these stand."""

    lowest: str
    highest: str
    step: str
    low: str
    high: str


def slider(
    lowest: Decimal, highest: Decimal, low: Decimal | None, high: Decimal | None, finest: Decimal
) -> Slider | None:
    """Return the slider of numbers between `lowest` and `highest`, which are moved out to whole steps; its handles
    stand at `low` and `high`, None at the end. No step is finer than `finest`. None where there is little to slide."""
    step = _step(lowest, highest, finest)
    start, end = _whole_steps(lowest, step, ROUND_FLOOR), _whole_steps(highest, step, ROUND_CEILING)
    if end - start < FEWEST_STEPS * step:
        return None
    handles = (start if low is None else low, end if high is None else high)
    at_low, at_high = (min(max(handle, start), end) for handle in handles)
    return Slider(*map(_plain, (start, end, step, at_low, at_high)))


def stars_and_up(lowest: float | None, highest: float | None) -> Sequence[int]:
    """Return the numbers of stars from which a rating can begin, the highest first: those that leave some products
    out and keep some."""
    if lowest is None or highest is None:
        return ()
    return [stars for stars in STARS if lowest < stars <= highest]


def _step(lowest: Decimal, highest: Decimal, finest: Decimal) -> Decimal:
    """The finest of 1, 2, 5, 10, 20, ... that cuts the range into few enough steps. Whole numbers are not cut."""
    span = highest - lowest
    least = max(span / MOST_STEPS, finest)
    if span >= FEWEST_STEPS and lowest == int(lowest) and highest == int(highest):
        least = max(least, Decimal(1))
    power = Decimal(10) ** least.adjusted()
    return next((unit * power for unit in ROUND_STEPS if unit * power >= least), 10 * power)


def _whole_steps(number: Decimal, step: Decimal, rounding: str) -> Decimal:
    return (number / step).to_integral_value(rounding) * step


def _plain(number: Decimal) -> str:
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
