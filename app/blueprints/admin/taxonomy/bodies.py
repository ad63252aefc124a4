"""The bodies of the taxonomy's JSON endpoints: every field that they may have, and no other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.domain.shared.problems import Invalid, Problem
from app.domain.shared.schema import Flag, Items, Record, Text, Whole
from app.domain.taxonomy.levels.renames import ValueRename

MOST_RENAMES = 1_000
NAME, TREE = Text(required=True), Items(required=True)
OPTIONAL_TEXT = Text(allow_none=True)
RENAMES = Items(allow_none=True)
STRUCTURE = Record(
    revision=Whole(allow_none=True),
    name=NAME,
    description=OPTIONAL_TEXT,
    rootLevels=TREE,
    note=OPTIONAL_TEXT,
    valueRenames=RENAMES,
)
IMPACT = Record(rootLevels=TREE, note=OPTIONAL_TEXT, valueRenames=RENAMES)
ACTIVATE = Record(confirmName=OPTIONAL_TEXT)
CREATE = Record(name=NAME, description=OPTIONAL_TEXT, sample=Flag(allow_none=True))
DUPLICATE = Record(name=NAME)
RENAME = Record(levelId=NAME, attributeId=NAME, value=NAME, renamed=NAME)


def renames_in(body: Mapping[str, Any]) -> list[ValueRename]:
    """Return the renamed values in a body. Raises Invalid."""
    raw = body.get("valueRenames") or []
    if len(raw) > MOST_RENAMES:
        raise Invalid.one("too_many", f"At most {MOST_RENAMES:,} values can be renamed at once.", "#/valueRenames")
    problems: list[Problem] = []
    found = [RENAME.read(item, f"#/valueRenames/{place}", problems) for place, item in enumerate(raw)]
    if problems:
        raise Invalid(problems)
    return [ValueRename(one["levelId"], one["attributeId"], one["value"], one["renamed"]) for one in found]
