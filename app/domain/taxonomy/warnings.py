"""What is allowed in a taxonomy and yet probably not meant."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.domain.taxonomy.flat import flatten
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
    found: dict[str, dict[str, list[LevelName]]] = {}
    names: dict[str, str] = {}
    for level, attribute in _definitions(root_levels):
        names.setdefault(attribute["attributeId"], attribute["name"])
        found.setdefault(attribute["attributeId"], {}).setdefault(attribute["type"], []).append(level)
    return [
        TypeConflict(attribute_id, names[attribute_id], {kind: tuple(levels) for kind, levels in by_type.items()})
        for attribute_id, by_type in found.items()
        if len(by_type) > 1
    ]


def _definitions(root_levels: Sequence[Mapping[str, Any]]) -> Iterator[tuple[LevelName, Mapping[str, Any]]]:
    for level in flatten(root_levels).values():
        for attribute in level["attributes"]:
            yield LevelName(level["levelId"], level["name"]), attribute
