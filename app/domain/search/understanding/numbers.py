"""Which attribute a quantity of a search is about, and the filter that it makes. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from app.domain.search.understanding.parts import PRICE, FilterPart, LeftWords, PartKind
from app.domain.search.understanding.quantities import Quantity, Token
from app.domain.search.understanding.units import DATA, LENGTH, UNITS, Unit
from app.domain.search.understanding.vocabulary import AttributeNumbers, LevelFacts
from app.domain.shared.money import LARGEST, decimals, format_money
from app.domain.taxonomy.values import with_unit

TOLERANCE = 0.02  # So that 27 inches are 26.9 as well, and 6 feet 1.83 m.
DATA_TOLERANCE = 0.025  # A terabyte is 1,000 or 1,024 gigabytes.
# Screens are sold by whole inches: one of 15.6 is "15 inch".
INCH = UNITS["in"]
WHOLE_INCH = 0.99
MOST_HINTS = 4  # Words before or after a number that may name its attribute.
# Words by which shoppers name an attribute, and words of whose names one is in the attribute's.
HINTS: Mapping[str, frozenset[str]] = {
    "ram": frozenset(("ram", "memory")),
    "ssd": frozenset(("ssd", "storage")),
    "hdd": frozenset(("hdd", "storage")),
    "storage": frozenset(("storage", "hdd", "ssd")),
    "disk": frozenset(("hdd", "storage", "disk")),
    "screen": frozenset(("screen", "display", "diagonal")),
    "display": frozenset(("screen", "display", "diagonal")),
    "wide": frozenset(("width",)),
    "tall": frozenset(("height",)),
    "high": frozenset(("height",)),
    "deep": frozenset(("depth",)),
    "long": frozenset(("length",)),
    "heavy": frozenset(("weight",)),
    "cable": frozenset(("cable",)),
    "power": frozenset(("power",)),
}
# What shoppers name a thing by as well: these words stay in the search.
STAYING = frozenset(("ssd", "hdd", "cable"))
SECONDARY = frozenset(("package", "packaging", "pallet", "outer", "shipping"))  # Of what a thing comes in.


@dataclass(frozen=True, slots=True)
class NumberRead:
    """A quantity that is a filter, with the tokens that it takes, or that was left as words."""

    part: FilterPart | None
    first: int
    end: int
    left: LeftWords | None = None


def read_number(
    text: str, tokens: Sequence[Token], quantity: Quantity, facts: LevelFacts, currency: str, free: Sequence[bool]
) -> NumberRead:
    """Return the filter that a quantity is for products of a level, or why it is none."""
    if quantity.is_money:
        return _read_price(text, tokens, quantity, currency)
    candidates = _candidates(quantity, facts)
    after, before = _hints_after(tokens, quantity, free), _hints_before(tokens, quantity, free)
    first, end = quantity.first, quantity.end
    for hint, hint_first, hint_end in (*after, *before):
        hinted = [one for one in candidates if hint <= one.words or _is_meant(hint, one)]
        if hinted:
            candidates, first, end = hinted, hint_first, hint_end
            break
    else:
        candidates = _likeliest(candidates, quantity)
    if len(candidates) != 1 or candidates[0].is_rare:
        return NumberRead(None, first, end, LeftWords(_text(text, tokens, quantity), _why(candidates, quantity, facts)))
    made = text[tokens[first].start : tokens[end - 1].end]
    part = _part_of(made, quantity, candidates[0], tokens[first].start, tokens[end - 1].end)
    return NumberRead(part, first, end)


def _read_price(text: str, tokens: Sequence[Token], quantity: Quantity, currency: str) -> NumberRead:
    scale = 10 ** decimals(currency)
    low, high = (None if end is None else round(end * scale) for end in (quantity.low, quantity.high))
    made = _text(text, tokens, quantity)
    if quantity.exact is not None or max(low or 0, high or 0) > LARGEST:
        reason = "A price is understood as a limit or a range: “under”, “over” or two amounts."
        return NumberRead(None, quantity.first, quantity.end, LeftWords(made, reason))
    texts = [None if end is None else format_money(end, currency) for end in (low, high)]
    shown = _range_text(texts[0], texts[1])
    start, end = tokens[quantity.first].start, tokens[quantity.end - 1].end
    part = FilterPart(PartKind.PRICE, PRICE, "Price", shown, made, start, end, None, low, high)
    return NumberRead(part, quantity.first, quantity.end)


def _text(text: str, tokens: Sequence[Token], quantity: Quantity) -> str:
    return text[tokens[quantity.first].start : tokens[quantity.end - 1].end]


def _candidates(quantity: Quantity, facts: LevelFacts) -> list[AttributeNumbers]:
    """Return the attributes that have such numbers. Sizes of a packaging are none that shoppers mean."""
    unit = quantity.unit
    return [
        one
        for one in facts.numbers
        if unit is not None
        and one.unit is not None
        and one.unit.dimension == unit.dimension
        and SECONDARY.isdisjoint(one.words)
        and one.holds(*_ends(quantity, one.unit))
    ]


def _ends(quantity: Quantity, unit: Unit) -> tuple[float | None, float | None]:
    """Return the ends of a quantity in the unit of an attribute, with its tolerance."""
    own = quantity.unit or unit
    tolerance = DATA_TOLERANCE if own.dimension == DATA else 0.0
    if quantity.exact is None:
        low = None if quantity.low is None else own.convert(quantity.low, unit) * (1 - tolerance)
        return low, None if quantity.high is None else own.convert(quantity.high, unit) * (1 + tolerance)
    tolerance = tolerance or TOLERANCE
    number = quantity.exact
    low, high = number * (1 - tolerance), number * (1 + tolerance)
    if own == INCH and unit == INCH and number == int(number):
        high = number + WHOLE_INCH
    return _rounded(own.convert(low, unit)), _rounded(own.convert(high, unit))


def _rounded(number: float) -> float:
    return round(number, 6)


def _likeliest(candidates: list[AttributeNumbers], quantity: Quantity) -> list[AttributeNumbers]:
    """Return those of several attributes whose own unit is the one typed, or of the same kind; all where that says
    nothing."""
    unit = quantity.unit
    if len(candidates) > 1 and unit is not None and unit.dimension == LENGTH:
        return [one for one in candidates if one.unit == unit] or candidates
    return candidates


def _why(candidates: Sequence[AttributeNumbers], quantity: Quantity, facts: LevelFacts) -> str:
    whose = facts.name or "the filters of this list"
    if not candidates:
        return f"No number of {whose} fits it."
    if len(candidates) == 1:
        return f"Fewer than three in four of {whose} have {candidates[0].label}."
    return f"It may be {' or '.join(sorted({one.label for one in candidates}))}."


def _is_meant(hint: frozenset[str], attribute: AttributeNumbers) -> bool:
    """Whether words such as "ram" or "screen" name an attribute."""
    return all(not HINTS.get(word, frozenset()).isdisjoint(attribute.words) for word in hint)


def _hints_after(
    tokens: Sequence[Token], quantity: Quantity, free: Sequence[bool]
) -> Iterator[tuple[frozenset[str], int, int]]:
    """Yield (words, first token, token after) of what follows a quantity, the longest first."""
    last = quantity.end
    while last < len(tokens) and last - quantity.end < MOST_HINTS and free[last] and tokens[last].is_word:
        last += 1
    for end in range(last, quantity.end, -1):
        words = [token.stem for token in tokens[quantity.end : end]]
        taken = quantity.end if any(word in STAYING for word in words) else end
        yield frozenset(words) - {"of"}, quantity.first, taken


def _hints_before(
    tokens: Sequence[Token], quantity: Quantity, free: Sequence[bool]
) -> Iterator[tuple[frozenset[str], int, int]]:
    start = quantity.first
    while start > 0 and quantity.first - start < MOST_HINTS and free[start - 1] and tokens[start - 1].is_word:
        start -= 1
    for first in range(start, quantity.first):
        words = [token.stem for token in tokens[first : quantity.first]]
        taken = quantity.first if any(word in STAYING for word in words) else first
        yield frozenset(words) - {"of"}, taken, quantity.end


def _part_of(text: str, quantity: Quantity, attribute: AttributeNumbers, start: int, end: int) -> FilterPart:
    assert attribute.unit is not None and quantity.unit is not None, "it is a candidate"
    low, high = _ends(quantity, attribute.unit)
    symbol = quantity.unit.symbol
    if quantity.exact is not None:
        shown = with_unit(_plain(quantity.exact), symbol)
    else:
        ends = [None if one is None else _plain(one) for one in (quantity.low, quantity.high)]
        shown = with_unit(_range_text(*ends), symbol)
    return FilterPart(PartKind.NUMBER, attribute.facet_id, attribute.label, shown, text, start, end, None, low, high)


def _range_text(low: str | None, high: str | None) -> str:
    if low is None:
        return f"up to {high}"
    return f"from {low}" if high is None else f"{low} – {high}"


def _plain(number: float) -> str:
    return f"{number:.6f}".rstrip("0").rstrip(".")
