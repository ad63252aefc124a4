"""Strict JSON: NaN, doubled names, lone surrogates, NUL and unlimited nesting, on which parsers differ, are refused."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from typing import Any, NoReturn

MAX_DEPTH = 64
LONGEST_WHOLE = 400  # Digits; more than any number here, and few enough to be read at once.
MARKS = b'[]{},"'
NO_MARKS = bytes(set(range(256)) - set(MARKS))
STRING = re.compile(r'"[^"]*+"?')


def loads(text: str | bytes, most_marks: int | None = None, unsound_in: str | None = None) -> Any:
    """Return the value of a JSON text. Raises ValueError, with the reason, for what is not plain and sound JSON, and
    for more than `most_marks` brackets and commas: an item that costs two bytes to send may take a hundred to keep.
    `unsound_in` is a member of the outermost object in which the caller checks the texts, item by item (`is_sound`)."""
    text = _decode(text) if isinstance(text, bytes) else text
    found = marks(text)
    if most_marks is not None and len(found) > most_marks:
        raise ValueError("It holds too many items.")
    if nesting_depth(found) > MAX_DEPTH:
        raise ValueError(f"It is nested more than {MAX_DEPTH} levels deep.")
    value = DECODER.decode(text)
    if "\\u" in text or not _is_encodable(text):
        _refuse_unsound_text(_without(value, unsound_in))
    return value


def _without(value: Any, name: str | None) -> Any:
    """Return a value without one member of its outermost object."""
    if name is None or not isinstance(value, dict):
        return value
    return {member: item for member, item in value.items() if member != name}


def marks(text: str) -> str:
    """Return the brackets and commas outside of strings. A mark is in a string where the number of quotes before it is
    odd; so quotes side by side can be dropped in pairs, and of most strings nothing else is left. Escapes go first,
    backslashes before quotes. Outside of strings a backslash may falsify what follows it, but no reader gets past it.
    """
    if "\\" in text:
        text = text.replace("\\\\", "").replace('\\"', "")
    found = text.encode(errors="surrogatepass").translate(None, NO_MARKS).decode()
    return STRING.sub("", found.replace('""', ""))


def _decode(raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        raise ValueError(f"It is not UTF-8 from byte {error.start} on.") from None


def nesting_depth(found: str) -> int:
    """Return the depth to which the brackets among the marks nest."""
    depth = deepest = 0
    for mark in found.replace(",", ""):
        if mark in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif mark in "]}":
            depth -= 1
    return deepest


def _is_encodable(text: str) -> bool:
    """Whether a text has no lone surrogates, which another reader of JSON may have left in it."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number in JSON.")


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise ValueError("A number is too large.")
    return number


def _whole(digits: str) -> int:
    if len(digits) > LONGEST_WHOLE:
        raise ValueError("A number is too large.")
    return int(digits)


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        doubled = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise ValueError(f"The name {doubled[:100]!r} occurs twice in one object.")
    return found


def is_sound(value: Any) -> bool:
    """Whether no text in a value has NUL or half of a surrogate pair."""
    if isinstance(value, str):
        return "\0" not in value and not any("\ud800" <= character <= "\udfff" for character in value)
    if isinstance(value, list):
        return all(map(is_sound, value))
    return all(map(is_sound, (*value, *value.values()))) if isinstance(value, dict) else True


def _refuse_unsound_text(value: Any) -> None:
    if not is_sound(value):
        raise ValueError("A text contains NUL or half of a surrogate pair.")


DECODER = json.JSONDecoder(  # Making one takes longer than decoding a row of a bundle.
    parse_constant=_refuse_constant, parse_float=_finite, parse_int=_whole, object_pairs_hook=_without_doubles
)
