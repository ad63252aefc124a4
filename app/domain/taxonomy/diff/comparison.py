"""Comparison of two trees of a taxonomy by id, for the review before a save and for the change log."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from app.domain.taxonomy.diff.changes import (
    AttributeEntry,
    LevelEntry,
    MovedLevel,
    OtherNames,
    RenamedLevel,
    StructureDiff,
    ValueEntry,
)
from app.domain.taxonomy.levels.flat import FlatLevels, Record, children_of, flatten
from app.domain.taxonomy.levels.renames import ValueRename

PARENT = "parentLevelId"


def compare(
    before: Sequence[Mapping[str, Any]], after: Sequence[Mapping[str, Any]], renames: Iterable[ValueRename] = ()
) -> StructureDiff:
    """Return the differences between two trees in the stored form. A rename counts where the tree before has its stored
    value and the tree after its new one; such values are neither removed nor added."""
    return compare_flat(flatten(before), flatten(after), renames)


def compare_flat(before: FlatLevels, after: FlatLevels, renames: Iterable[ValueRename] = ()) -> StructureDiff:
    attributes = _Attributes(before, after, renames)
    both = ((level_id, before[level_id], level) for level_id, level in after.items() if level_id in before)
    # Two values may have swapped their words, which leaves the level as it was and changes products.
    stay = [
        found for found, was, level in both if found in attributes.with_renames or (was is not level and was != level)
    ]
    for level_id in stay:
        attributes.compare(level_id)
    return StructureDiff(
        levels_added=tuple(_whole(after, level_id) for level_id in after if level_id not in before),
        levels_removed=tuple(_whole(before, level_id) for level_id in before if level_id not in after),
        levels_moved=tuple(_moved(before, after, found) for found in stay if _differs(before, after, found, PARENT)),
        levels_renamed=tuple(
            RenamedLevel(found, before[found]["name"], after[found]["name"])
            for found in stay
            if _differs(before, after, found, "name")
        ),
        levels_other_names=tuple(
            OtherNames(found, after[found]["name"], tuple(after[found]["otherNames"]))
            for found in stay
            if _differs(before, after, found, "otherNames")
        ),
        levels_described=tuple(_entry(after, found) for found in stay if _differs(before, after, found, "description")),
        levels_reordered=tuple(_reordered(before, after)),
        **attributes.found(),
    )


def _differs(before: FlatLevels, after: FlatLevels, level_id: str, field: str) -> bool:
    return bool(before[level_id][field] != after[level_id][field])


def _entry(levels: FlatLevels, level_id: str) -> LevelEntry:
    level = levels[level_id]
    return LevelEntry(level_id, level["name"], _name(levels, level[PARENT]))


def _whole(levels: FlatLevels, level_id: str) -> LevelEntry:
    own = ((found["name"], len(found.get("allowedValues") or ())) for found in levels[level_id]["attributes"])
    return replace(_entry(levels, level_id), attributes=tuple(own))


def _name(levels: FlatLevels, level_id: str | None) -> str | None:
    return None if level_id is None else str(levels[level_id]["name"])


def _moved(before: FlatLevels, after: FlatLevels, level_id: str) -> MovedLevel:
    old, new = before[level_id][PARENT], after[level_id][PARENT]
    return MovedLevel(level_id, after[level_id]["name"], old, _name(before, old), new, _name(after, new))


def _reordered(before: FlatLevels, after: FlatLevels) -> Iterator[LevelEntry]:
    """Yield the parents whose levels are in another order. Only those that stood and stand below the same parent can be
    in another order."""
    old = children_of(before)
    for parent_id, children in children_of(after).items():
        earlier = [found for found in old.get(parent_id, ()) if found in after and after[found][PARENT] == parent_id]
        known = set(earlier)
        if earlier != [found for found in children if found in known]:
            yield LevelEntry("", "") if parent_id is None else _entry(after, parent_id)


class _Attributes:
    """A collector of the differences in the attributes of levels that are in both trees."""

    def __init__(self, before: FlatLevels, after: FlatLevels, renames: Iterable[ValueRename]) -> None:
        self._before = before
        self._after = after
        self._renames: dict[tuple[str, str], dict[str, str]] = {}
        self.with_renames: set[str] = set()
        for rename in renames:
            self.with_renames.add(rename.level_id)
            self._renames.setdefault((rename.level_id, rename.attribute_id), {})[rename.value] = rename.renamed
        self._added: list[AttributeEntry] = []
        self._removed: list[AttributeEntry] = []
        self._changed: list[AttributeEntry] = []
        self._reordered: list[LevelEntry] = []
        self._values_added: list[ValueEntry] = []
        self._values_removed: list[ValueEntry] = []
        self._values_renamed: list[ValueEntry] = []

    def found(self) -> dict[str, Any]:
        return {
            "attributes_added": tuple(self._added),
            "attributes_removed": tuple(self._removed),
            "attributes_changed": tuple(self._changed),
            "attributes_reordered": tuple(self._reordered),
            "values_added": tuple(self._values_added),
            "values_removed": tuple(self._values_removed),
            "values_renamed": tuple(self._values_renamed),
        }

    def compare(self, level_id: str) -> None:
        level = self._after[level_id]
        if level_id not in self.with_renames and self._before[level_id]["attributes"] == level["attributes"]:
            return
        before = {attribute["attributeId"]: attribute for attribute in self._before[level_id]["attributes"]}
        after = {attribute["attributeId"]: attribute for attribute in level["attributes"]}
        self._added += [_attribute(level, found) for key, found in after.items() if key not in before]
        self._removed += [_attribute(level, found) for key, found in before.items() if key not in after]
        stay = [key for key in after if key in before]
        if stay != [key for key in before if key in after]:
            self._reordered.append(_entry(self._after, level_id))
        for key in stay:
            self._compare(level, before[key], after[key])

    def _compare(self, level: Record, before: Record, after: Record) -> None:
        values = _Values(before, after, self._renames.get((level["levelId"], after["attributeId"]), {}))
        aspects = [name for name, differ in ASPECTS if differ(before, after)]
        if values.are_reordered:
            aspects.append("order of values")
        if aspects:
            self._changed.append(_attribute(level, after, tuple(aspects)))
        self._values_added += [_value(level, after, value) for value in values.added]
        self._values_removed += [_value(level, after, value) for value in values.removed]
        self._values_renamed += [
            _value(level, after, old, new, old in values.merged) for old, new in values.renamed.items()
        ]


class _Values:
    """The differences between the allowed values of an attribute before and after."""

    def __init__(self, before: Record, after: Record, renames: Mapping[str, str]) -> None:
        self._old: list[str] = before.get("allowedValues") or []
        self._new: list[str] = after.get("allowedValues") or []
        old, new = set(self._old), set(self._new)
        self.renamed = {value: to for value, to in renames.items() if value != to and value in old and to in new}
        self._kept = {self.renamed.get(value, value): None for value in self._old}  # In the old order.

    @property
    def merged(self) -> set[str]:
        """The renamed values whose new word another value keeps, or a value renamed before them has got."""
        found, words = set(), set(self._old) - self.renamed.keys()
        for value, to in self.renamed.items():
            if to in words:
                found.add(value)
            words.add(to)
        return found

    @property
    def added(self) -> list[str]:
        return [value for value in self._new if value not in self._kept]

    @property
    def removed(self) -> list[str]:
        new = set(self._new)
        return [value for value in self._old if value not in new and value not in self.renamed]

    @property
    def are_reordered(self) -> bool:
        new = set(self._new)
        return [value for value in self._kept if value in new] != [value for value in self._new if value in self._kept]


def _attribute(level: Record, attribute: Record, aspects: tuple[str, ...] = ()) -> AttributeEntry:
    return AttributeEntry(level["levelId"], level["name"], attribute["attributeId"], attribute["name"], aspects)


def _value(level: Record, attribute: Record, value: str, renamed: str = "", merged: bool = False) -> ValueEntry:
    place = level["levelId"], level["name"], attribute["attributeId"], attribute["name"]
    return ValueEntry(*place, value, renamed, merged)


def _field(*names: str) -> Callable[[Record, Record], bool]:
    """Return the test whether one of these fields differs; an empty field and a missing one are the same."""
    return lambda before, after: any((before.get(name) or None) != (after.get(name) or None) for name in names)


ASPECTS: tuple[tuple[str, Callable[[Record, Record], bool]], ...] = (
    ("name", _field("name")),
    ("type", _field("type")),
    ("unit", _field("unit")),
    ("help text", _field("helpText")),
    ("validation", _field("validation")),
    ("display", _field("displayOnProductPage", "displayLabel")),
)
