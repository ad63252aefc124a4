"""Normalise queries for counting, and drop those that must not be stored. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from urllib.parse import unquote

from app.domain.shared.card_numbers import LONGEST_CARD, UNSEEN, hides_card, plain_digits
from app.domain.shared.text import UNPRINTABLE

LONGEST_WORD = 100
# What looks like an email address is dropped, also where it is only part of the words.
_EMAIL = re.compile(r"\S@\S|\w\s*@\s*\w|@\s*[\w-]+\s*\.\s*\w")
# Digits are one number whatever stands between them, as long as it is neither a letter nor a digit.
_DIGITS = re.compile(r"\+?[0-9]+")
_NUMBER = re.compile(r"\+?[0-9](?:[\W_]*[0-9]){6,}")
_MOST_ENCODED = 3  # Times that words are percent-decoded, as in a link that was quoted within another.
_SHORTEST_WRITTEN, _SHORTEST_CODED, _SHORTEST_BARE, _LONGEST_BARE, _LONGEST_PHONE = 8, 9, 10, 12, 15


def countable(words: str) -> str | None:
    """Return the query as it is counted: NFKC, case folded, trimmed, spaces collapsed, the form of a rule's term. None
    for what is not stored: without letter or digit, over 100 characters, with control characters, and what looks like
    an email address, a phone or a card number, also percent-encoded (`user%40example.com`) (contracts: Analytics
    counting)."""
    if UNPRINTABLE.search(words.strip()):
        return None
    word = folded(words)
    has_letters_or_digits = any(map(str.isalnum, UNSEEN.sub("", word)))
    if not has_letters_or_digits or len(word) > LONGEST_WORD or UNPRINTABLE.search(word):
        return None
    return None if any(map(_is_personal, _readings(word))) else word


def folded(text: str) -> str:
    """Return the form in which queries are compared; of any length."""
    return " ".join(unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold()).split())


def _readings(word: str) -> Iterator[str]:
    """Yield the words as they are, and percent-decoded."""
    yield UNSEEN.sub("", word)
    for _ in range(_MOST_ENCODED):
        decoded = folded(unquote(word))
        if decoded == word:
            return
        word = decoded
        yield UNSEEN.sub("", word)


def _is_personal(word: str) -> bool:
    if _EMAIL.search(word):
        return True
    found = [run.group() for run in _NUMBER.finditer(plain_digits(word))]
    return any(map(_hides_card, found)) or any(map(_is_phone, _numbers(found)))


def _hides_card(run: str) -> bool:
    """Whether the run hides a card number, in any place of the run, whatever stands before or behind: another card, or
    an expiry date. A row of digits longer than a card's counts as hiding one, since it may be several numbers."""
    return hides_card("".join(filter(str.isdigit, run))) or max(map(len, _DIGITS.findall(run))) > LONGEST_CARD


def _numbers(runs: Iterable[str]) -> Iterator[str]:
    """Yield every sequence of adjacent groups of digits, so that nothing before or behind a number hides it."""
    for run in runs:
        groups = list(_DIGITS.finditer(run))
        for first, start in enumerate(groups):
            for last in groups[first:]:
                yield run[start.start() : last.end()]


def _is_phone(number: str) -> bool:
    """Whether a number is that of a phone. Numbers of phones begin with + or 0, are written in groups or have 10 to 12
    digits. That some codes of products look the same costs a count; a kept phone number would cost more."""
    digits = "".join(filter(str.isdigit, number))
    if len(digits) > _LONGEST_PHONE:
        return False
    if number.startswith("+"):
        return len(digits) >= _SHORTEST_WRITTEN
    if number.startswith("0"):
        return len(digits) >= _SHORTEST_CODED
    bare = number == digits
    return len(digits) >= _SHORTEST_BARE and (not bare or len(digits) <= _LONGEST_BARE)
