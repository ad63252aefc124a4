"""Texts: validation of what people send, before a database or a page can hold it; folding of words; counts in words.
Pure."""

from __future__ import annotations

import re
import unicodedata

from app.domain.shared.problems import Problem

# Control characters, halves of surrogate pairs and non-characters: a database, XML or UTF-8 refuses them. And what
# turns the direction of what follows, since a name with one is not what it looks like (Unicode TR 36, section 3.1);
# marks of direction (U+200E and the like) and what joins letters and emoji (U+200C, U+200D) do no harm.
_TURNING = "\u202a-\u202e\u2066-\u2069"
_NO_TEXT = f"\x7f-\x9f\ud800-\udfff\ufffe\uffff{_TURNING}"
# Invisible characters that Unicode counts as letters, symbols or marks.
_FILLERS = "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0" + "".join(map(chr, range(0xFE00, 0xFE10)))
UNPRINTABLE = re.compile(f"[\x00-\x1f\u2028\u2029{_NO_TEXT}]")
UNPRINTABLE_IN_BLOCK = re.compile(f"[\x00-\x08\x0b\x0c\x0e-\x1f{_NO_TEXT}]")
_MARKS = dict.fromkeys(map(ord, "®™©℠'’"))


def one_line(text: str) -> str:
    """Return the text trimmed, with every run of white space made one space."""
    return " ".join(text.split())


def split_list(text: str) -> list[str]:
    """Return the parts of a text that is separated by commas or line breaks, not trimmed."""
    return [part for line in text.splitlines() for part in line.split(",")]


def is_unseen(text: str) -> bool:
    """Whether a text is invisible: made of blanks, marks of direction, joiners, tags and fillers alone."""
    return all(unicodedata.category(sign)[0] in "ZC" or sign in _FILLERS for sign in text)


def is_printable(text: str) -> bool:
    """Whether a text of one line contains nothing that cannot be shown."""
    return not _is_found(UNPRINTABLE, text)


def line_problems(text: str, label: str, longest: int, pointer: str, required: bool = False) -> list[Problem]:
    """Return the problems of a text of one line; lengths count code points."""
    if required and not text.strip():
        return [Problem("required", f"{label} is missing.", pointer)]
    return [*_too_long(text, label, longest, pointer), *_unprintable(UNPRINTABLE, text, label, pointer)]


def block_problems(text: str, label: str, longest: int, pointer: str) -> list[Problem]:
    """Return the problems of a text of several lines."""
    return [*_too_long(text, label, longest, pointer), *_unprintable(UNPRINTABLE_IN_BLOCK, text, label, pointer)]


def _is_found(pattern: re.Pattern[str], text: str) -> bool:
    """Whether one of the patterns above finds anything: never in what Python calls printable, which it says sooner."""
    return not text.isprintable() and pattern.search(text) is not None


def _too_long(text: str, label: str, longest: int, pointer: str) -> list[Problem]:
    if len(text) <= longest:
        return []
    return [Problem("too_long", f"{label} is {len(text):,} characters long; at most {longest:,} fit.", pointer)]


def _unprintable(pattern: re.Pattern[str], text: str, label: str, pointer: str) -> list[Problem]:
    if not _is_found(pattern, text):
        return []
    return [Problem("unprintable", f"{label} contains characters that cannot be shown.", pointer)]


def fold(text: str) -> str:
    """Return the text in lower case without accents, ligatures, width variants or trade marks: `cafe` for `Café™`."""
    if not text.isascii():
        decomposed = unicodedata.normalize("NFKD", text.translate(_MARKS).casefold())
        text = "".join(c for c in decomposed if not unicodedata.combining(c))
    return text.replace("'", "").lower()


def numbered(number: int, noun: str, plural: str = "") -> str:
    """Format a count with its noun, "1 page" or "19,406 products"; without `plural` it takes an s."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"
