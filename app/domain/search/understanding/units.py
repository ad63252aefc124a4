"""Units of measure as shoppers and taxonomies write them, with their conversions, and the unit that a number usually
has where a taxonomy names none. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

LENGTH, DATA = "length", "data"


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit. `factor` is how many of the smallest unit of its dimension it has."""

    symbol: str
    dimension: str
    factor: float

    def convert(self, number: float, other: Unit) -> float:
        """Return a number of this unit in another one of the same dimension."""
        return number * self.factor / other.factor


_DIMENSIONS: dict[str, tuple[tuple[str, float], ...]] = {
    LENGTH: (("mm", 1), ("cm", 10), ("in", 25.4), ("ft", 304.8), ("m", 1_000), ("km", 1_000_000)),
    "mass": (("mg", 0.001), ("g", 1), ("oz", 28.349523), ("lb", 453.59237), ("kg", 1_000), ("t", 1_000_000)),
    "volume": (("ml", 1), ("cl", 10), ("l", 1_000)),
    # As makers of drives count; those of memory count by 1,024, for which a tolerance allows.
    DATA: (("MB", 1), ("GB", 1_000), ("TB", 1_000_000)),
    "power": (("W", 1), ("kW", 1_000)),
    "apparent power": (("VA", 1), ("kVA", 1_000)),
    "frequency": (("Hz", 1), ("kHz", 1_000), ("MHz", 1_000_000), ("GHz", 1_000_000_000)),
    "voltage": (("V", 1), ("kV", 1_000)),
    "charge": (("mAh", 1), ("Ah", 1_000)),
    "energy": (("Wh", 1), ("kWh", 1_000)),
    "time": (("ms", 1), ("s", 1_000), ("min", 60_000), ("h", 3_600_000)),
    "light": (("lm", 1),),
    "resolution": (("dpi", 1),),
    "pixels": (("MP", 1),),
    "rotation": (("rpm", 1),),
    "speed of printing": (("ppm", 1),),
    "temperature": (("°C", 1),),
}
# Every other spelling of a unit, after its symbol.
_SPELLINGS = """
    mm millimetre millimetres millimeter millimeters
    cm centimetre centimetres centimeter centimeters
    in inch inches " ” ″
    ft foot feet
    m metre metres meter meters
    g gram grams gramme grammes
    kg kilo kilos kilogram kilograms
    lb lbs
    oz ounce ounces
    ml millilitre millilitres milliliter milliliters
    cl centilitre centilitres
    l litre litres liter liters
    MB megabyte megabytes
    GB gig gigs gigabyte gigabytes
    TB terabyte terabytes
    W watt watts
    kW kilowatt kilowatts
    V volt volts
    mAh milliamp milliamps
    min minute minutes
    h hour hours hrs
    lm lumen lumens
    MP megapixel megapixels mpx
    Hz hertz
"""
SIGNS = frozenset(('"', "”", "″"))
# Words that are units only where they touch the number: "27in", but not "27 in stock".
ONLY_ATTACHED = frozenset(("in", "s", "t", "h"))


def _units_by_spelling() -> dict[str, Unit]:
    units = {
        symbol: Unit(symbol, dimension, factor) for dimension, named in _DIMENSIONS.items() for symbol, factor in named
    }
    spelled = {symbol.casefold(): unit for symbol, unit in units.items()}
    for line in _SPELLINGS.strip().splitlines():
        symbol, *others = line.split()
        spelled |= {other: units[symbol] for other in others}
    return spelled


UNITS = _units_by_spelling()

# The usual unit of an attribute by its name, in lower case, and between which numbers its largest must lie.
_USUAL: tuple[tuple[str, tuple[str, ...], float, float], ...] = (
    ("in", ("diagonal", "display diagonal", "screen diagonal", "screen size", "display size"), 1, 400),
    ("in", ("maximum screen size compatibility",), 3, 120),
    ("m", ("cable length",), 0.5, 500),
    ("GB", ("internal memory", "memory", "ram"), 1, 4_096),
    ("GB", ("total storage capacity", "storage capacity", "hdd capacity", "ssd capacity"), 16, 100_000),
    ("g", ("weight",), 60, 3_000_000),
    ("mm", ("width", "height", "depth", "driver unit", "filter size"), 12, 20_000),
    ("GHz", ("processor frequency",), 0.5, 8),
    ("MHz", ("memory clock speed",), 100, 10_000),
    ("W", ("power", "output power", "rms rated power", "bulb power", "power supply"), 1, 20_000),
    ("W", ("thermal design power tdp", "thermal design power", "wattage"), 1, 2_000),
    ("VA", ("output power capacity",), 100, 500_000),
    ("V", ("battery voltage", "voltage"), 1, 1_000),
    ("mAh", ("battery capacity",), 50, 100_000),
    ("Wh", ("battery capacity watt hours",), 5, 10_000),
    ("MP", ("megapixel", "megapixels"), 1, 200),
    ("lm", ("projector brightness", "brightness"), 100, 50_000),
    ("dpi", ("movement resolution",), 400, 50_000),
    ("l", ("water tank capacity",), 0.5, 20),
    ("ppm", ("print speed", "print speed black normal quality a4 us letter"), 5, 300),
)
# A capacity is one of data where the level keeps data; elsewhere it may be of liquids, sheets or staples.
_CAPACITY = frozenset(("capacity",))
_DATA_WORDS = frozenset(("memory", "drive", "disk", "disc", "storage", "stick"))
_CAPACITIES = (4, 100_000)


def unit_named(text: str | None) -> Unit | None:
    """Return the unit that a taxonomy writes so; None for none, or one that cannot be converted."""
    return UNITS.get(text.strip().casefold()) if text else None


def usual_unit(name: str, level_words: Iterable[str], largest: float | None) -> Unit | None:
    """Return the unit of numbers of an attribute whose taxonomy names none, by its name in lower case and the largest
    number that it has, None while that is not known; None where it is not clear."""
    for symbol, names, least, most in _usual(level_words):
        if name in names and (largest is None or least <= largest <= most):
            return UNITS[symbol.casefold()]
    return None


def _usual(level_words: Iterable[str]) -> Iterator[tuple[str, Iterable[str], float, float]]:
    yield from _USUAL
    if not _DATA_WORDS.isdisjoint(level_words):
        yield ("GB", _CAPACITY, *_CAPACITIES)
