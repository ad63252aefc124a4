"""The JSON object in the body of a request."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from flask import request

from app.domain.shared.problems import Invalid, Problem

LARGEST_TREE = 8 * 1024 * 1024  # Bytes: a taxonomy of 2,000 levels with long lists of values.


def json_object(names: Collection[str]) -> dict[str, Any]:
    """Raises Invalid for anything but an object, and for fields that nobody asked for, by name."""
    body = request.get_json()
    if not isinstance(body, dict):
        raise Invalid.one("not_an_object", "Send a JSON object.")
    unknown = [name for name in body if name not in names]
    if unknown:
        raise Invalid([_unknown(name) for name in unknown])
    return body


def _unknown(name: str) -> Problem:
    pointer = name[:100].replace("~", "~0").replace("/", "~1")
    return Problem("unknown_field", f"There is no field {name[:100]!r} here.", f"#/{pointer}")
