"""Numbers of payment cards in what people type. Pure."""

from __future__ import annotations

import re
import unicodedata

SHORTEST_CARD, LONGEST_CARD = 13, 19
# Invisible characters that Unicode counts as letters or symbols: fillers of Hangul, the Braille pattern without dots.
UNSEEN = re.compile("[\u115f\u1160\u3164\uffa0\u2800]")
_DIGITS = re.compile("[0-9]+")
# Digits that belong together as people write them: a few signs between groups, no letter and no new line.
# Each can be read in one way only: else hostile text takes seconds.
_WRITTEN = re.compile(r"[0-9](?:(?:[^\w\n]{0,6}|[^\w\n]{0,3}_[^\w\n]{0,3})[0-9]){12,}")
# What cards begin with (ISO/IEC 7812-1: travel, banking, merchandising).
_FIRST = re.compile("[3-6]|2[2-7]")


def hides_card(digits: str) -> bool:
    """Whether any 13 to 19 consecutive digits pass the check of card numbers. About one in ten other numbers passes it
    too, so call this where a false alarm costs nothing."""
    return any(
        is_luhn(digits[start : start + length])
        for length in range(SHORTEST_CARD, LONGEST_CARD + 1)
        for start in range(len(digits) - length + 1)
    )


def names_card(text: str) -> bool:
    """Whether a text contains a card number, made of whole groups of digits or within one group: parts of a telephone
    number and of an hour beside it are not joined."""
    plain = plain_digits(UNSEEN.sub("", unicodedata.normalize("NFKC", text)))
    return any(_is_written_card(found.group()) for found in _WRITTEN.finditer(plain))


def is_luhn(digits: str) -> bool:
    """Whether the last digit is the check digit of a card number (Luhn; ISO/IEC 7812-1, annex B)."""
    odd, even = digits[-1::-2], digits[-2::-2]
    return (sum(map(int, odd)) + sum(sum(divmod(2 * int(digit), 10)) for digit in even)) % 10 == 0


def plain_digits(text: str) -> str:
    """Return the text with the decimal digits of other scripts as ASCII digits."""
    return "".join(str(unicodedata.decimal(c)) if c.isdecimal() and not c.isascii() else c for c in text)


def _is_written_card(run: str) -> bool:
    groups = _DIGITS.findall(run)
    return any(map(_hides_likely_card, groups)) or any(_begins_card(groups[first:]) for first in range(len(groups)))


def _begins_card(groups: list[str]) -> bool:
    digits = ""
    for group in groups:
        digits += group
        if len(digits) > LONGEST_CARD:
            return False
        if _is_likely(digits):
            return True
    return False


def _hides_likely_card(group: str) -> bool:
    return any(
        _is_likely(group[start : start + length])
        for length in range(SHORTEST_CARD, LONGEST_CARD + 1)
        for start in range(len(group) - length + 1)
    )


def _is_likely(digits: str) -> bool:
    return len(digits) >= SHORTEST_CARD and bool(_FIRST.match(digits)) and is_luhn(digits)
