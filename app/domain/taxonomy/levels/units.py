"""Units of numbers: those that most shops use, and how a number is written with one. Pure."""

from __future__ import annotations

LONGEST_UNIT = 20
COMMON_UNITS = (
    *("mm", "cm", "m", "km", "in", "ft"),
    *("mg", "g", "kg", "t", "oz", "lb"),
    *("ml", "cl", "l", "fl oz"),
    *("cm²", "m²", "cm³", "m³"),
    *("°C", "°F", "%", "°"),
    *("s", "min", "h", "days", "months", "years"),
    *("V", "A", "mAh", "W", "kW", "Wh", "kWh"),
    *("Hz", "kHz", "MHz", "GHz", "rpm"),
    *("MB", "GB", "TB", "MP", "px", "dpi", "Mbit/s"),
    *("lm", "lx", "dB", "bar", "psi", "N", "Nm", "km/h", "mph", "g/m²", "den"),
)
ATTACHED = frozenset(("%", "°", "′", "″"))  # Written without a space before them.


def with_unit(number: str, unit: str | None) -> str:
    """Return a number, already in words, with its unit: "450 g", "50%", "450" for none."""
    if not unit or not number:
        return number
    return f"{number}{unit}" if unit in ATTACHED else f"{number} {unit}"
