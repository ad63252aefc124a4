"""Allowed values that got another name or were merged into another, which products follow.

A draft carries them in its attributes: `renamedValues` maps the new value to the stored one, `mergedValues` the stored
one to the value that it becomes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.domain.taxonomy.levels.flat import Record

RENAMED_VALUES = "renamedValues"
MERGED_VALUES = "mergedValues"
FOLLOWED = frozenset((RENAMED_VALUES, MERGED_VALUES))


@dataclass(frozen=True, slots=True)
class ValueRename:
    """The rename of an allowed value. `value` is the stored one, `renamed` the one that products are to hold from now
    on."""

    level_id: str
    attribute_id: str
    value: str
    renamed: str

    def as_json(self) -> dict[str, str]:
        place = {"levelId": self.level_id, "attributeId": self.attribute_id}
        return place | {"value": self.value, "renamed": self.renamed}

    @classmethod
    def read(cls, stored: Mapping[str, str]) -> ValueRename:
        return cls(stored["levelId"], stored["attributeId"], stored["value"], stored["renamed"])


def split_renames(root_levels: Sequence[Mapping[str, Any]]) -> tuple[list[Record], list[ValueRename]]:
    """The stored form of a nested draft, and the renames that it carried."""
    renames: list[ValueRename] = []
    return [_without_renames(level, renames) for level in root_levels], renames


def _without_renames(level: Mapping[str, Any], renames: list[ValueRename]) -> Record:
    attributes = []
    for attribute in level.get("attributes") or ():
        place = level["levelId"], attribute["attributeId"]
        renames += [ValueRename(*place, value, to) for to, value in attribute.get(RENAMED_VALUES, {}).items()]
        renames += [ValueRename(*place, value, to) for value, to in attribute.get(MERGED_VALUES, {}).items()]
        attributes.append({name: value for name, value in attribute.items() if name not in FOLLOWED})
    children = [_without_renames(child, renames) for child in level.get("children") or ()]
    return {**level, "attributes": attributes, "children": children}
