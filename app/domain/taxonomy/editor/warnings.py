"""What is allowed in a taxonomy and yet probably not meant."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.domain.taxonomy.editor.attribute_edits import still_called
from app.domain.taxonomy.levels.flat import FlatLevels, Record, flatten
from app.domain.taxonomy.levels.renames import RENAMED_VALUES
from app.domain.taxonomy.levels.stored_levels import made_once


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


@dataclass(frozen=True, slots=True)
class SplitValue:
    """A value that the draft renames on one level while `others` go on with the old name: shoppers would get both in
    one filter. `name` is the attribute's."""

    level: LevelName
    attribute_id: str
    name: str
    value: str
    renamed: str
    others: tuple[LevelName, ...]


def split_values(levels: FlatLevels) -> list[SplitValue]:
    """Of a draft, in the order of the tree."""
    renamed = [(level, attribute) for level, attribute in _definitions(levels) if attribute.get(RENAMED_VALUES)]
    if not renamed:
        return []
    times = Counter(attribute["attributeId"] for _, attribute in _definitions(levels))
    return [
        split
        for level, attribute in renamed
        if times[attribute["attributeId"]] > 1
        for split in _splits(levels, level, attribute)
    ]


def _splits(levels: FlatLevels, level: Record, attribute: Record) -> Iterator[SplitValue]:
    here, attribute_id = LevelName(level["levelId"], level["name"]), attribute["attributeId"]
    for renamed, value in attribute[RENAMED_VALUES].items():
        still = still_called(levels, here.level_id, attribute_id, value, renamed)
        if others := tuple(LevelName(other, levels[other]["name"]) for other in still):
            yield SplitValue(here, attribute_id, attribute["name"], value, renamed, others)


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
