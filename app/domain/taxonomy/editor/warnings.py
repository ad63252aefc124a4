"""Warnings about what is allowed in a taxonomy and yet probably a mistake."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.domain.taxonomy.editor.attribute_edits import levels_with_old_name
from app.domain.taxonomy.renames import FOLLOWED, MERGED_VALUES, RENAMED_VALUES
from app.domain.taxonomy.stored_tree import FlatLevels, Record, changed_levels, flatten, made_once


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


def split_values(levels: FlatLevels, base: FlatLevels) -> list[SplitValue]:
    """Return the split values of a draft of `base`, in the order of the tree. Only what a draft changed can carry
    renamed values."""
    changed = changed_levels(levels, base)
    renamed = [(level, found) for level in changed for found in level["attributes"] if FOLLOWED & found.keys()]
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
    words = [(value, renamed) for renamed, value in attribute.get(RENAMED_VALUES, {}).items()]
    for value, renamed in (*words, *attribute.get(MERGED_VALUES, {}).items()):
        still = levels_with_old_name(levels, here.level_id, attribute_id, value, renamed)
        if others := tuple(LevelName(other, levels[other]["name"]) for other in still):
            yield SplitValue(here, attribute_id, attribute["name"], value, renamed, others)


def type_conflicts(
    levels: FlatLevels, base: FlatLevels, root_levels: Sequence[Mapping[str, Any]]
) -> list[TypeConflict]:
    """Return the type conflicts of a draft of `root_levels`, whose levels are `base`, in the order of the tree. Only
    the definitions that it changed are counted anew."""
    stored = _types(root_levels)
    types: dict[str, Counter[str]] = {}
    for sign, records in ((1, changed_levels(levels, base)), (-1, changed_levels(base, levels))):
        for level in records:
            for attribute in level["attributes"]:
                attribute_id = attribute["attributeId"]
                counts = types.setdefault(attribute_id, Counter(stored.get(attribute_id)))
                counts[attribute["type"]] += sign
    clashing = {found for found, counts in stored.items() if found not in types and len(counts) > 1}
    return _conflicts(levels, clashing | {found for found, counts in types.items() if len(+counts) > 1})


@made_once
def _types(root_levels: Sequence[Mapping[str, Any]]) -> Mapping[str, Mapping[str, int]]:
    """Return how many definitions have which type, by attribute id."""
    types: dict[str, dict[str, int]] = {}
    for _, attribute in _definitions(flatten(root_levels)):
        counts = types.setdefault(attribute["attributeId"], {})
        counts[attribute["type"]] = counts.get(attribute["type"], 0) + 1
    return types


def _conflicts(levels: FlatLevels, attribute_ids: Collection[str]) -> list[TypeConflict]:
    found: dict[str, dict[str, list[LevelName]]] = {}
    names: dict[str, str] = {}
    for level, attribute in _definitions(levels) if attribute_ids else ():
        if (attribute_id := attribute["attributeId"]) in attribute_ids:
            names.setdefault(attribute_id, attribute["name"])
            at = found.setdefault(attribute_id, {}).setdefault(attribute["type"], [])
            at.append(LevelName(level["levelId"], level["name"]))
    return [
        TypeConflict(attribute_id, names[attribute_id], {kind: tuple(at) for kind, at in by_type.items()})
        for attribute_id, by_type in found.items()
    ]


def _definitions(levels: FlatLevels) -> Iterator[tuple[Record, Record]]:
    return ((level, attribute) for level in levels.values() for attribute in level["attributes"])
