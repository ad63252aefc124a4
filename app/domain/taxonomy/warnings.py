"""What is allowed in a taxonomy and yet probably not meant."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.domain.taxonomy.flat import FlatLevels, Record, flatten
from app.domain.taxonomy.stored_levels import made_once


@dataclass(frozen=True, slots=True)
class LevelName:
    level_id: str
    name: str


@dataclass(frozen=True, slots=True)
class TypeConflict:
    """An attribute id that has several types, so that one facet would mix texts with numbers. `levels` are those
    that define it, by type, in tree order; `name` is that of the first definition."""

    attribute_id: str
    name: str
    levels: Mapping[str, tuple[LevelName, ...]]


@made_once
def type_conflicts(root_levels: Sequence[Mapping[str, Any]]) -> list[TypeConflict]:
    """In the order of the tree."""
    return conflicts_of(flatten(root_levels))


def conflicts_of(levels: FlatLevels) -> list[TypeConflict]:
    """The same of a draft, which is asked after every edit."""
    types: dict[str, set[str]] = {}
    for _, attribute in _definitions(levels):
        types.setdefault(attribute["attributeId"], set()).add(attribute["type"])
    clashing = {attribute_id for attribute_id, kinds in types.items() if len(kinds) > 1}
    if not clashing:
        return []
    found: dict[str, dict[str, list[LevelName]]] = {}
    names: dict[str, str] = {}
    for level, attribute in _definitions(levels):
        if (attribute_id := attribute["attributeId"]) in clashing:
            names.setdefault(attribute_id, attribute["name"])
            at = found.setdefault(attribute_id, {}).setdefault(attribute["type"], [])
            at.append(LevelName(level["levelId"], level["name"]))
    return [
        TypeConflict(attribute_id, names[attribute_id], {kind: tuple(at) for kind, at in by_type.items()})
        for attribute_id, by_type in found.items()
    ]


def _definitions(levels: FlatLevels) -> Iterator[tuple[Record, Record]]:
    return ((level, attribute) for level in levels.values() for attribute in level["attributes"])
