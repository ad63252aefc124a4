"""Numbers with units and amounts of money within the words of a search: "27 inch", "20-25 cm", "at least 16 GB",
"under £50". Pure.

Words are read as tokens with their places, so that what was understood can be taken out and the rest stays as it was
typed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from app.domain.search.text import stem
from app.domain.search.understanding.units import ONLY_ATTACHED, SIGNS, UNITS, Unit
from app.domain.shared.money import SYMBOLS
from app.domain.shared.text import fold

_TOKEN = re.compile(r"[0-9]+(?:[.,][0-9]+)*|[^\W\d_]+|[^\s]")
_THOUSANDS = re.compile(r"[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?", re.ASCII)
_QUOTED = re.compile(r'(?<![0-9])"[^"]*"|“[^”]*”')  # A quote behind a digit is the sign of inches.
_DECIMAL = re.compile(r"[0-9]+(?:[.,][0-9]+)?", re.ASCII)
LONGEST_NUMBER = 12  # Digits and marks.
CURRENCY_WORDS: Mapping[str, frozenset[str]] = {
    "gbp": frozenset(("pound", "pounds", "quid", "gbp")),
    "usd": frozenset(("dollar", "dollars", "buck", "bucks", "usd")),
    "eur": frozenset(("euro", "euros", "eur")),
    "jpy": frozenset(("yen", "jpy")),
}
DASHES = frozenset("-–—")
TIMES = frozenset(("x", "×", "*"))
# What stands before or after an amount and makes it an end of a range: +1 the lower end, -1 the upper one.
LOWER, UPPER = 1, -1
BEFORE: Mapping[tuple[str, ...], int] = {
    **dict.fromkeys((("under",), ("below",), ("max",), ("maximum",), ("<",), ("<", "="), ("≤",)), UPPER),
    **dict.fromkeys((("less", "than"), ("cheaper", "than"), ("smaller", "than"), ("lighter", "than")), UPPER),
    **dict.fromkeys((("up", "to"), ("at", "most"), ("no", "more", "than"), ("not", "over")), UPPER),
    **dict.fromkeys((("over",), ("above",), ("min",), ("minimum",), (">",), (">", "="), ("≥",)), LOWER),
    **dict.fromkeys((("more", "than"), ("at", "least"), ("larger", "than"), ("bigger", "than")), LOWER),
    **dict.fromkeys((("no", "less", "than"), ("starting", "at"), ("starting", "from")), LOWER),
}
AFTER: Mapping[tuple[str, ...], int] = {
    **dict.fromkeys((("or", "less"), ("or", "under"), ("or", "below"), ("or", "smaller"), ("or", "cheaper")), UPPER),
    **dict.fromkeys((("and", "under"), ("and", "below"), ("max",), ("maximum",)), UPPER),
    **dict.fromkeys((("or", "more"), ("or", "over"), ("or", "above"), ("or", "larger"), ("or", "bigger")), LOWER),
    **dict.fromkeys((("and", "up"), ("and", "above"), ("and", "over"), ("plus",), ("+",)), LOWER),
    **dict.fromkeys((("min",), ("minimum",)), LOWER),
}
LONGEST_COMPARISON = 3


@dataclass(frozen=True, slots=True)
class Token:
    """A word, a number or a sign; `start` and `end` are its characters in the search. `word` is folded, `stem` as it
    is indexed; both are empty for a number. `is_attached`: no space before it."""

    text: str
    start: int
    end: int
    word: str = ""
    stem: str = ""
    is_number: bool = False
    is_attached: bool = False

    @property
    def is_word(self) -> bool:
        return bool(self.stem)


def read_tokens(text: str) -> list[Token]:
    """Return the tokens of a search in their order. A hyphen between two words is none, a minus before a word is."""
    found: list[Token] = []
    for match in _TOKEN.finditer(text):
        piece = match[0]
        is_attached = bool(found) and found[-1].end == match.start()
        if piece[0].isascii() and piece[0].isdigit():
            found.append(Token(piece, match.start(), match.end(), is_number=True, is_attached=is_attached))
            continue
        folded = fold(piece)
        stemmed = stem(folded) if folded.isalnum() else ""
        token = Token(piece, match.start(), match.end(), folded or piece, stemmed, False, is_attached)
        if stemmed and len(found) > 1 and found[-2].is_word and _is_dash(found[-1]) and not is_minus(found[-1], token):
            found.pop()
        found.append(token)
    return found


def _is_dash(token: Token) -> bool:
    return token.text in DASHES


def is_minus(token: Token, following: Token) -> bool:
    """Whether a token is a minus: a dash that touches the token that follows and not the one before."""
    return _is_dash(token) and following.is_attached and not token.is_attached


def quoted_tokens(text: str, tokens: Sequence[Token]) -> list[bool]:
    """Return, for each token of a text, whether it stands in double quotes or is one of them."""
    spans = [match.span() for match in _QUOTED.finditer(text)]
    return [any(start <= token.start < end for start, end in spans) for token in tokens]


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number with its unit, or an amount of money (`unit` None), among the tokens from `first` to before `end`. It is
    a range where it has a `low` or `high` end; else it is `exact`."""

    first: int
    end: int
    unit: Unit | None
    low: float | None = None
    high: float | None = None
    exact: float | None = None

    @property
    def is_money(self) -> bool:
        return self.unit is None


@dataclass(frozen=True, slots=True)
class _Amount:
    """A number of a search, up to before the token `end`. `unit` None with `is_money` False is a bare number."""

    number: float
    end: int
    unit: Unit | None = None
    is_money: bool = False

    @property
    def is_bare(self) -> bool:
        return self.unit is None and not self.is_money


def number_of(text: str) -> float | None:
    """Return the number of a token; None where it is none, as "1.2.3" is."""
    if len(text) > LONGEST_NUMBER:
        return None
    if _THOUSANDS.fullmatch(text):
        return float(text.replace(",", ""))
    return float(text.replace(",", ".")) if _DECIMAL.fullmatch(text) else None


def read_quantities(tokens: Sequence[Token], currency: str) -> list[Quantity]:
    """Return the quantities of a search in their order, none within another. Amounts in another currency than the
    site's are none."""
    found: list[Quantity] = []
    place = 0
    while place < len(tokens):
        quantity = _quantity_at(tokens, place, currency)
        if quantity is None:
            place += 1
            continue
        found.append(quantity)
        place = quantity.end
    return found


def _quantity_at(tokens: Sequence[Token], place: int, currency: str) -> Quantity | None:
    """Return the quantity that begins at a token, with the comparison before it; None where none does."""
    compared = _comparison(tokens, place, BEFORE)
    start = place + compared[1] if compared else place
    ranged = None if compared else _range_at(tokens, place, currency)
    if ranged is not None:
        return ranged
    amount = _amount_at(tokens, start, currency)
    if amount is None or amount.is_bare:
        return None
    if compared:
        return _open_range(place, amount.end, amount, compared[0])
    after = _comparison(tokens, amount.end, AFTER)
    if after:
        return _open_range(place, amount.end + after[1], amount, after[0])
    return Quantity(place, amount.end, amount.unit, exact=amount.number)


def _open_range(first: int, end: int, amount: _Amount, direction: int) -> Quantity:
    if direction == LOWER:
        return Quantity(first, end, amount.unit, low=amount.number)
    return Quantity(first, end, amount.unit, high=amount.number)


def _comparison(tokens: Sequence[Token], place: int, table: Mapping[tuple[str, ...], int]) -> tuple[int, int] | None:
    """Return (direction, number of tokens) of the longest comparison of a table that begins at a token."""
    words = tuple(token.word for token in tokens[place : place + LONGEST_COMPARISON])
    for length in range(len(words), 0, -1):
        if words[:length] in table:
            return table[words[:length]], length
    return None


def _range_at(tokens: Sequence[Token], place: int, currency: str) -> Quantity | None:
    """Return a range with two ends, such as "20-25 inch", "from 20 to 25 cm" or "between £5 and £10"."""
    opening = tokens[place].word
    start = place + 1 if opening in ("between", "from") else place
    low = _amount_at(tokens, start, currency)
    if low is None or low.end >= len(tokens) or not _is_between(tokens[low.end], opening):
        return None
    high = _amount_at(tokens, low.end + 1, currency, follows_dash=True)
    if high is None or (low.is_bare and high.is_bare):
        return None
    ends = _alike(low, high)
    return Quantity(place, high.end, ends[1].unit, low=ends[0].number, high=ends[1].number) if ends else None


def _alike(low: _Amount, high: _Amount) -> tuple[_Amount, _Amount] | None:
    """Return the ends of a range in the unit of the upper one, or of the one that names it; None where they are no
    range."""
    if low.is_bare:
        low = replace(low, unit=high.unit, is_money=high.is_money)
    if high.is_bare:
        high = replace(high, unit=low.unit, is_money=low.is_money)
    if low.is_money != high.is_money:
        return None
    if low.unit is not None and high.unit is not None:
        if low.unit.dimension != high.unit.dimension:
            return None
        low = replace(low, number=low.unit.convert(low.number, high.unit), unit=high.unit)
    return (low, high) if low.number < high.number else None


def _is_between(token: Token, opening: str) -> bool:
    return token.word in DASHES or token.word == "to" or (token.word == "and" and opening == "between")


def _amount_at(tokens: Sequence[Token], place: int, currency: str, *, follows_dash: bool = False) -> _Amount | None:
    """Return the amount that begins at a token; None where a number there is part of a code or a dimension."""
    if place >= len(tokens):
        return None
    has_symbol = tokens[place].text == SYMBOLS.get(currency)
    first = place + 1 if has_symbol else place
    if first >= len(tokens) or not tokens[first].is_number:
        return None
    number = number_of(tokens[first].text)
    if number is None or not (has_symbol or follows_dash or _stands_alone(tokens, first)):
        return None
    if has_symbol:
        return None if _goes_on(tokens, first + 1) else _Amount(number, first + 1, is_money=True)
    return _with_unit(tokens, first, number, currency)


def _stands_alone(tokens: Sequence[Token], place: int) -> bool:
    """Whether a number is not the end of a code ("i7", "WD-40") or of a dimension ("60 x 40")."""
    if place == 0:
        return True
    before = tokens[place - 1]
    if tokens[place].is_attached and (before.is_word or before.is_number or before.text in "-–—/.#:$£€_"):
        return False
    return before.word not in TIMES


def _goes_on(tokens: Sequence[Token], place: int) -> bool:
    """Whether what is written goes on at a token without a space, as in "16gb2" or "1 GB/s"."""
    if place >= len(tokens) or not tokens[place].is_attached:
        return False
    token = tokens[place]
    return token.is_word or token.is_number or token.text in ("/", "²", "³", "%")


def _with_unit(tokens: Sequence[Token], place: int, number: float, currency: str) -> _Amount | None:
    """Return a number with the unit or the currency that follows it, or bare where neither does; None where it is the
    beginning of a code or of a dimension."""
    after = place + 1
    bare = _Amount(number, after)
    if _is_hyphen(tokens, after):
        after += 1  # As in "27-inch".
    if after >= len(tokens):
        return bare
    token = tokens[after]
    if token.text in SIGNS or token.text in SYMBOLS.values():
        is_own = token.text == SYMBOLS.get(currency)
        if token.text in SIGNS:
            return _Amount(number, after + 1, UNITS[token.text]) if token.is_attached else bare
        return _Amount(number, after + 1, is_money=True) if is_own else None
    if token.word in CURRENCY_WORDS.get(currency, ()):
        return _Amount(number, after + 1, is_money=True)
    unit = _unit_of(token)
    if unit is None:
        return None if token.is_attached and token.is_word else bare
    if _goes_on(tokens, after + 1) or (after + 1 < len(tokens) and tokens[after + 1].word in TIMES):
        return None
    return _Amount(number, after + 1, unit)


def _is_hyphen(tokens: Sequence[Token], place: int) -> bool:
    """Whether a token is a hyphen that joins a number to a unit."""
    if place + 1 >= len(tokens) or tokens[place].text not in DASHES:
        return False
    unit = tokens[place + 1]
    return tokens[place].is_attached and unit.is_attached and unit.is_word and _unit_of(unit) is not None


def _unit_of(token: Token) -> Unit | None:
    if token.word in ("pound", "pounds"):
        return UNITS["lb"]
    if token.word in ONLY_ATTACHED and not token.is_attached:
        return None
    return UNITS.get(token.word)
