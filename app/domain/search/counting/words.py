"""Which searches may be kept as words, and in what form."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from urllib.parse import unquote

from app.domain.shared.text import UNPRINTABLE

LONGEST_WORD = 100
# What looks like an address of a person is dropped, also where it is only part of the words.
_EMAIL = re.compile(r"\S@\S|@\s*[\w-]+\s*\.\s*\w")
# Digits are one number whatever stands between them, as long as it is neither a letter nor a digit.
_NUMBER = re.compile(r"\+?[0-9](?:[\W_]*[0-9]){6,}")
# Unicode calls them letters or symbols, and nobody sees them: fillers of Hangul, the Braille pattern without dots.
_UNSEEN = re.compile("[\u115f\u1160\u3164\uffa0\u2800]")
_MOST_ENCODED = 3  # Times that a link was quoted within another.
_SHORTEST_WRITTEN, _SHORTEST_CODED, _SHORTEST_BARE, _LONGEST_BARE, _LONGEST_PHONE = 8, 9, 10, 12, 15
_SHORTEST_CARD, _LONGEST_CARD = 13, 19


def countable(words: str) -> str | None:
    """The whole search as it is counted: NFKC, case folded, trimmed, spaces collapsed, so that it names the same
    search as a rule's term. None for what is not kept: what has neither letter nor digit, over 100 characters, control
    characters, and what looks like an e-mail address, a phone or a card number, also where it came as part of a link
    (`user%40example.com`) (contracts: Analytics counting)."""
    if UNPRINTABLE.search(words.strip()):
        return None
    word = folded(words)
    if not _says_something(word) or len(word) > LONGEST_WORD or UNPRINTABLE.search(word):
        return None
    return None if any(map(_is_personal, _readings(word))) else word


def folded(text: str) -> str:
    """The form in which words are compared; of any length."""
    return " ".join(unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold()).split())


def _says_something(word: str) -> bool:
    return any(map(str.isalnum, _UNSEEN.sub("", word)))


def _readings(word: str) -> Iterator[str]:
    """The words as they are, and as whoever follows a link to them would read them."""
    yield _UNSEEN.sub("", word)
    for _ in range(_MOST_ENCODED):
        decoded = folded(unquote(word))
        if decoded == word:
            return
        word = decoded
        yield _UNSEEN.sub("", word)


def _is_personal(word: str) -> bool:
    if _EMAIL.search(word):
        return True
    return any(map(_names_somebody, _numbers(_plain_digits(word))))


def _numbers(word: str) -> Iterator[str]:
    """Every run of groups of digits: what stands before or behind a number, such as the date when a card expires, does
    not hide it."""
    for found in _NUMBER.finditer(word):
        groups = list(re.finditer(r"\+?[0-9]+", found.group()))
        for first, start in enumerate(groups):
            for last in groups[first:]:
                yield found.group()[start.start() : last.end()]


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
