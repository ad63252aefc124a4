"""Which searches may be kept as words, and in what form."""

from __future__ import annotations

import re
import unicodedata

from app.domain.shared.text import UNPRINTABLE

LONGEST_WORD = 100
# What looks like an address of a person is dropped, also where it is only part of the words.
_EMAIL = re.compile(r"\S@\S")
_NUMBER = re.compile(r"\+?[0-9](?:[\s().\-/]{0,3}[0-9]){6,}")
_SHORTEST_WRITTEN, _SHORTEST_CODED, _SHORTEST_BARE, _LONGEST_BARE, _LONGEST_PHONE = 8, 9, 10, 12, 15
_SHORTEST_CARD, _LONGEST_CARD = 13, 19


def countable(words: str) -> str | None:
    """The whole search as it is counted: NFKC, case folded, trimmed, spaces collapsed, so that it names the same
    search as a rule's term. None for what is not kept: nothing, over 100 characters, control characters, and what
    looks like an e-mail address, a phone or a card number (contracts: Analytics counting)."""
    if UNPRINTABLE.search(words.strip()):
        return None
    word = folded(words)
    if not word or len(word) > LONGEST_WORD or UNPRINTABLE.search(word):
        return None
    return None if _is_personal(word) else word


def folded(text: str) -> str:
    """The form in which words are compared; of any length."""
    return " ".join(unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold()).split())


def _is_personal(word: str) -> bool:
    if _EMAIL.search(word):
        return True
    return any(_names_somebody(found.group()) for found in _NUMBER.finditer(_plain_digits(word)))


def _names_somebody(number: str) -> bool:
    digits = "".join(filter(str.isdigit, number))
    if _SHORTEST_CARD <= len(digits) <= _LONGEST_CARD and _is_luhn(digits):
        return True
    return _is_phone(number, digits)


def _is_phone(number: str, digits: str) -> bool:
    """Numbers of phones begin with + or 0, are written in groups or have 10 to 12 digits. That some codes of products
    look the same costs a count; a kept phone number would cost more."""
    if len(digits) > _LONGEST_PHONE:
        return False
    if number.startswith("+"):
        return len(digits) >= _SHORTEST_WRITTEN
    if number.startswith("0"):
        return len(digits) >= _SHORTEST_CODED
    bare = number == digits
    return len(digits) >= _SHORTEST_BARE and (not bare or len(digits) <= _LONGEST_BARE)


def _is_luhn(digits: str) -> bool:
    """The check digit of payment cards (ISO/IEC 7812-1, annex B)."""
    odd, even = digits[-1::-2], digits[-2::-2]
    return (sum(map(int, odd)) + sum(sum(divmod(2 * int(digit), 10)) for digit in even)) % 10 == 0


def _plain_digits(word: str) -> str:
    """Digits of other scripts are digits, too."""
    return "".join(str(unicodedata.decimal(c)) if c.isdecimal() and not c.isascii() else c for c in word)
