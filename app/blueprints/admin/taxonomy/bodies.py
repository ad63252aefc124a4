"""The bodies of the taxonomy's JSON endpoints: every field that they may have, and no other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flask import request

from app.domain.shared.problems import Invalid, Problem
from app.domain.shared.shapes import Field, Kind, Shape, read_fields
from app.domain.taxonomy.levels.renames import ValueRename

MOST_RENAMES = 1_000
NAME, TREE = Field(Kind.TEXT, required=True), Field(Kind.LIST, required=True)
OPTIONAL_TEXT = Field(Kind.TEXT, nullable=True)
RENAMES = Field(Kind.LIST, nullable=True)
STRUCTURE: Shape = {
    "revision": Field(Kind.WHOLE, nullable=True),
    "name": NAME,
    "description": OPTIONAL_TEXT,
    "rootLevels": TREE,
    "note": OPTIONAL_TEXT,
    "valueRenames": RENAMES,
}
IMPACT: Shape = {"rootLevels": TREE, "note": OPTIONAL_TEXT, "valueRenames": RENAMES}
CREATE: Shape = {"name": NAME, "description": OPTIONAL_TEXT, "sample": Field(Kind.FLAG, nullable=True)}
DUPLICATE: Shape = {"name": NAME}
RENAME: Shape = {name: NAME for name in ("levelId", "attributeId", "value", "renamed")}


def body_of(shape: Shape) -> dict[str, Any]:
    """The fields of the request's JSON object. Raises Invalid with every one that is missing, unknown or of another
    type."""
    problems: list[Problem] = []
    fields = read_fields(request.get_json(), shape, "#", problems)
    if problems:
        raise Invalid(problems)
    return fields


def renames_in(body: Mapping[str, Any]) -> list[ValueRename]:
    """Raises Invalid."""
    raw = body.get("valueRenames") or []
    if len(raw) > MOST_RENAMES:
        raise Invalid.one("too_many", f"At most {MOST_RENAMES:,} values can be renamed at once.", "#/valueRenames")
    problems: list[Problem] = []
    found = [read_fields(item, RENAME, f"#/valueRenames/{place}", problems) for place, item in enumerate(raw)]
    if problems:
        raise Invalid(problems)
    return [ValueRename(one["levelId"], one["attributeId"], one["value"], one["renamed"]) for one in found]
