"""JSON without what one parser shrugs off and the next one trips over: NaN, doubled names, lone surrogates, NUL
and nesting without end."""

from __future__ import annotations

import json
import math
from collections import Counter
from typing import Any, NoReturn

MAX_DEPTH = 64


def loads(text: str) -> Any:
    """Raises ValueError, with the reason, for what is not plain and sound JSON."""
    if text.count("[") + text.count("{") > MAX_DEPTH and nesting_depth(text) > MAX_DEPTH:
        raise ValueError(f"It is nested more than {MAX_DEPTH} levels deep.")
    value = json.loads(
        text,
        parse_constant=_refuse_constant,
        parse_float=_finite,
        object_pairs_hook=_without_doubles,
    )
    if "\\u" in text:
        _refuse_unsound_text(value)
    return value


def nesting_depth(text: str) -> int:
    """How deep brackets nest outside of strings."""
    depth = deepest = 0
    in_string = escaped = False
    for character in text:
        if escaped:
            escaped = False
        elif in_string:
            escaped = character == "\\"
            in_string = character != '"'
        elif character == '"':
            in_string = True
        elif character in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif character in "]}":
            depth -= 1
    return deepest


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number in JSON.")


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise ValueError("A number is too large.")
    return number


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        doubled = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise ValueError(f"The name {doubled[:100]!r} occurs twice in one object.")
    return found


def _refuse_unsound_text(value: Any) -> None:
    if isinstance(value, str):
        if "\0" in value or any("\ud800" <= character <= "\udfff" for character in value):
            raise ValueError("A text contains NUL or half of a surrogate pair.")
    elif isinstance(value, list):
        for item in value:
            _refuse_unsound_text(item)
    elif isinstance(value, dict):
        for name, item in value.items():
            _refuse_unsound_text(name)
            _refuse_unsound_text(item)
