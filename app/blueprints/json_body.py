"""The JSON object in the body of a request."""

from __future__ import annotations

from typing import Any

from flask import request

from app.domain.shared.problems import Invalid, Problem
from app.domain.shared.schema import Record

LARGEST_TREE = 8 * 1024 * 1024  # Bytes: a taxonomy of 2,000 levels with long lists of values.
LARGEST_RULES = 8 * 1024 * 1024  # Bytes: landing rules with 2,000 overrides that have 4,000 letters each.


def json_body(record: Record) -> dict[str, Any]:
    """Return the fields of the body. Raises Invalid with every one that is missing, unknown or of another type."""
    body = request.get_json()
    if not isinstance(body, dict):
        raise Invalid.one("not_an_object", "Send a JSON object.")
    problems: list[Problem] = []
    fields = record.read(body, "#", problems)
    # A misspelt name is reported alone: the field that is missing for it is the same mistake.
    if refused := [problem for problem in problems if problem.code == "unknown_field"] or problems:
        raise Invalid(refused)
    return fields


def revision_in_address() -> int:
    """Return the parameter `revision` of a client that sends no body with DELETE. Raises Invalid."""
    text = request.args.get("revision", "")
    if text.isascii() and text.isdigit() and len(text) < 10:
        return int(text)
    raise Invalid.one("required", "Give the revision that you read.", "#/revision")
