"""Reading what clients send, strictly: what one parser shrugs off, the next one trips over.

Python's JSON reader takes NaN, doubled keys and lone surrogates, and fails badly on deep nesting;
PostgreSQL refuses NUL in text. All of that is the client's mistake and is answered as such.
"""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn

from flask import Request
from flask.json.provider import DefaultJSONProvider
from werkzeug.exceptions import BadRequest, UnsupportedMediaType

from app.domain.shared.problems import Invalid

MAX_DEPTH = 64


class StrictJSON(DefaultJSONProvider):
    """Raises ValueError, with the reason, for what is not plain and sound JSON."""

    sort_keys = False

    def loads(self, s: str | bytes, **kwargs: Any) -> Any:
        text = s.decode("utf-8") if isinstance(s, bytes) else s
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
        names = [name for name, _ in pairs]
        doubled = next(name for name in names if names.count(name) > 1)
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


class ShopRequest(Request):
    def on_json_loading_failed(self, e: ValueError | None) -> NoReturn:
        if e is None:
            raise UnsupportedMediaType("Send JSON, with Content-Type: application/json.")
        raise Invalid.one("malformed_json", f"The body is not valid JSON: {e}")

    def _load_form_data(self) -> None:
        super()._load_form_data()
        for name, values in self.form.lists():
            if "\0" in name or any("\0" in value for value in values):
                raise BadRequest("A field of the form contains a NUL character.")
