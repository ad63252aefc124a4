"""Comparison of two trees of a taxonomy by id, for the review before a save and for the change log, and its wording."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import groupby
from typing import Any

from app.domain.taxonomy.renames import ValueRename, words_by_definition
from app.domain.taxonomy.stored_tree import FlatLevels, Record, children_of, flatten

LONGEST_SHOWN = 60
MOST_SHOWN = 5  # Values named in one sentence.
PARENT = "parentLevelId"


@dataclass(frozen=True, slots=True)
class LevelEntry:
    """A level in a diff. `parent_name` is None at the top; `attributes` are, for an added or removed level, the names
    of its own ones, each with the number of its allowed values."""

    level_id: str
    name: str
    parent_name: str | None = None
    attributes: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class MovedLevel:
    """A moved level, with the ids and names of its parents before and after; None is the top."""

    level_id: str
    name: str
    from_id: str | None
    from_name: str | None
    to_id: str | None
    to_name: str | None


@dataclass(frozen=True, slots=True)
class RenamedLevel:
    level_id: str
    name: str
    renamed: str


@dataclass(frozen=True, slots=True)
class OtherNames:
    """The other names that a level has now."""

    level_id: str
    name: str
    other_names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AttributeEntry:
    """An attribute in a diff. `aspects` are, for a changed one, the words for what of it changed."""

    level_id: str
    level_name: str
    attribute_id: str
    name: str
    aspects: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ValueEntry:
    """A value in a diff. `name` is the attribute's; `renamed` is the new word of a renamed value, and `merged` whether
    another value has that word as well."""

    level_id: str
    level_name: str
    attribute_id: str
    name: str
    value: str
    renamed: str = ""
    merged: bool = False


@dataclass(frozen=True, slots=True)
class StructureDiff:
    """The differences between two trees. Levels that were removed with their parents are listed one by one; attributes
    of added or removed levels and values of added or removed attributes are not. `levels_reordered` are the levels
    below which the order changed (id "" for the top), `attributes_reordered` those whose attributes stand in another
    order."""

    levels_added: tuple[LevelEntry, ...] = ()
    levels_removed: tuple[LevelEntry, ...] = ()
    levels_moved: tuple[MovedLevel, ...] = ()
    levels_renamed: tuple[RenamedLevel, ...] = ()
    levels_other_names: tuple[OtherNames, ...] = ()
    levels_described: tuple[LevelEntry, ...] = ()
    levels_reordered: tuple[LevelEntry, ...] = ()
    attributes_added: tuple[AttributeEntry, ...] = ()
    attributes_removed: tuple[AttributeEntry, ...] = ()
    attributes_changed: tuple[AttributeEntry, ...] = ()
    attributes_reordered: tuple[LevelEntry, ...] = ()
    values_added: tuple[ValueEntry, ...] = ()
    values_removed: tuple[ValueEntry, ...] = ()
    values_renamed: tuple[ValueEntry, ...] = ()

    @property
    def renamed_level_ids(self) -> list[str]:
        """The ids of the levels in both trees whose own name or other names changed."""
        own = (level.level_id for level in self.levels_renamed)
        return list(dict.fromkeys((*own, *(level.level_id for level in self.levels_other_names))))

    @property
    def is_empty(self) -> bool:
        return not any(getattr(self, field.name) for field in fields(self))

    def sentences(self, most: int = 100) -> list[str]:
        """Return the changes, one sentence each; of more than `most` the last says how many are left out."""
        found = list(_sentences(self))
        if len(found) <= most:
            return found
        return [*found[: most - 1], f"… and {len(found) - most + 1:,} more"]


def _sentences(diff: StructureDiff) -> Iterator[str]:
    yield from _level_sentences(diff)
    yield from _attribute_sentences(diff)
    for what, preposition, values in (
        ("Added", "to", diff.values_added),
        ("Removed", "from", diff.values_removed),
    ):
        for of, names in _by_attribute(values):
            noun = "the value" if len(names) == 1 else "the values"
            yield f"{what} {noun} {_name_list(names)} {preposition} {of}."
    for value in diff.values_renamed:
        verb, preposition = ("Merged", "into") if value.merged else ("Renamed", "to")
        of = _name_in_level(value)
        yield f"{verb} the value {_quote(value.value)} of {of} {preposition} {_quote(value.renamed)}."


def _level_sentences(diff: StructureDiff) -> Iterator[str]:
    for verb, levels in (("Added", diff.levels_added), ("Removed", diff.levels_removed)):
        for level in levels:
            place, own = _below_parent(level.parent_name), _with_attributes(level.attributes)
            yield f"{verb} the level {_quote(level.name)}{place}{own}."
    for moved in diff.levels_moved:
        there = " to the top" if moved.to_id is None else _below_parent(moved.to_name)
        yield f"Moved the level {_quote(moved.name)}{there}."
    for renamed in diff.levels_renamed:
        yield f"Renamed the level {_quote(renamed.name)} to {_quote(renamed.renamed)}."
    yield from map(_other_names_sentence, diff.levels_other_names)
    for level in diff.levels_described:
        yield f"Changed the description of the level {_quote(level.name)}."
    for level in diff.levels_reordered:
        yield f"Changed the order of the levels {f'below {_quote(level.name)}' if level.level_id else 'at the top'}."


def _other_names_sentence(level: OtherNames) -> str:
    if not level.other_names:
        return f"Removed the other names of the level {_quote(level.name)}."
    return f"Changed the other names of the level {_quote(level.name)} to {_name_list(level.other_names)}."


def _attribute_sentences(diff: StructureDiff) -> Iterator[str]:
    for attribute in diff.attributes_added:
        yield f"Added the attribute {_quote(attribute.name)} to {_quote(attribute.level_name)}."
    for attribute in diff.attributes_removed:
        yield f"Removed the attribute {_quote(attribute.name)} from {_quote(attribute.level_name)}."
    for attribute in diff.attributes_changed:
        yield f"Changed the {', '.join(attribute.aspects)} of {_name_in_level(attribute)}."
    for level in diff.attributes_reordered:
        yield f"Changed the order of the attributes of {_quote(level.name)}."


def _by_attribute(values: Sequence[ValueEntry]) -> Iterator[tuple[str, list[str]]]:
    for _, group in groupby(values, key=lambda value: (value.level_id, value.attribute_id)):
        found = list(group)
        yield _name_in_level(found[0]), [value.value for value in found]


def _name_in_level(entry: AttributeEntry | ValueEntry) -> str:
    return f"{_quote(entry.name)} ({entry.level_name[:LONGEST_SHOWN]})"


def _below_parent(name: str | None) -> str:
    return "" if name is None else f" below {_quote(name)}"


def _with_attributes(attributes: Sequence[tuple[str, int]]) -> str:
    """Return “ with 1 attribute: “Colour” (30 values)”; an empty text for no attributes."""
    if not attributes:
        return ""
    labels = [f"{_quote(name)}{_value_count(values)}" for name, values in attributes[:MOST_SHOWN]]
    if more := len(attributes) - len(labels):
        labels.append(f"{more:,} more")
    return f" with {len(attributes):,} {'attribute' if len(attributes) == 1 else 'attributes'}: {', '.join(labels)}"


def _value_count(number: int) -> str:
    return f" ({number:,} {'value' if number == 1 else 'values'})" if number else ""


def _name_list(names: Sequence[str]) -> str:
    shown = [_quote(name) for name in names[:MOST_SHOWN]]
    if more := len(names) - len(shown):
        return f"{', '.join(shown)} and {more:,} more"
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def _quote(name: str) -> str:
    return f"“{name[:LONGEST_SHOWN]}”"


def compare(
    before: Sequence[Mapping[str, Any]], after: Sequence[Mapping[str, Any]], renames: Iterable[ValueRename] = ()
) -> StructureDiff:
    """Return the differences between two trees in the stored form. A rename counts where the tree before has its stored
    value and the tree after its new one; such values are neither removed nor added."""
    return compare_flat(flatten(before), flatten(after), renames)


def compare_flat(before: FlatLevels, after: FlatLevels, renames: Iterable[ValueRename] = ()) -> StructureDiff:
    attributes = _AttributeChanges(before, after, renames)
    both = ((level_id, before[level_id], level) for level_id, level in after.items() if level_id in before)
    # Two values may have swapped their words, which leaves the level as it was and changes products.
    stay = [
        found for found, was, level in both if found in attributes.with_renames or (was is not level and was != level)
    ]
    for level_id in stay:
        attributes.compare(level_id)
    return StructureDiff(
        levels_added=tuple(_whole_level(after, level_id) for level_id in after if level_id not in before),
        levels_removed=tuple(_whole_level(before, level_id) for level_id in before if level_id not in after),
        levels_moved=tuple(
            _moved_level(before, after, found) for found in stay if _differs(before, after, found, PARENT)
        ),
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
        levels_described=tuple(
            _level_entry(after, found) for found in stay if _differs(before, after, found, "description")
        ),
        levels_reordered=tuple(_reordered(before, after)),
        **attributes.found(),
    )


def _differs(before: FlatLevels, after: FlatLevels, level_id: str, field: str) -> bool:
    return bool(before[level_id][field] != after[level_id][field])


def _level_entry(levels: FlatLevels, level_id: str) -> LevelEntry:
    level = levels[level_id]
    return LevelEntry(level_id, level["name"], _name_of(levels, level[PARENT]))


def _whole_level(levels: FlatLevels, level_id: str) -> LevelEntry:
    own = ((found["name"], len(found.get("allowedValues") or ())) for found in levels[level_id]["attributes"])
    return replace(_level_entry(levels, level_id), attributes=tuple(own))


def _name_of(levels: FlatLevels, level_id: str | None) -> str | None:
    return None if level_id is None else str(levels[level_id]["name"])


def _moved_level(before: FlatLevels, after: FlatLevels, level_id: str) -> MovedLevel:
    old, new = before[level_id][PARENT], after[level_id][PARENT]
    return MovedLevel(level_id, after[level_id]["name"], old, _name_of(before, old), new, _name_of(after, new))


def _reordered(before: FlatLevels, after: FlatLevels) -> Iterator[LevelEntry]:
    """Yield the parents whose levels are in another order. Only those that stood and stand below the same parent can be
    in another order."""
    old = children_of(before)
    for parent_id, children in children_of(after).items():
        earlier = [found for found in old.get(parent_id, ()) if found in after and after[found][PARENT] == parent_id]
        known = set(earlier)
        if earlier != [found for found in children if found in known]:
            yield LevelEntry("", "") if parent_id is None else _level_entry(after, parent_id)


class _AttributeChanges:
    """A collector of the differences in the attributes of levels that are in both trees."""

    def __init__(self, before: FlatLevels, after: FlatLevels, renames: Iterable[ValueRename]) -> None:
        self._before = before
        self._after = after
        self._renames = words_by_definition(renames)
        self.with_renames = {level_id for level_id, _ in self._renames}
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
        self._added += [_attribute_entry(level, found) for key, found in after.items() if key not in before]
        self._removed += [_attribute_entry(level, found) for key, found in before.items() if key not in after]
        stay = [key for key in after if key in before]
        if stay != [key for key in before if key in after]:
            self._reordered.append(_level_entry(self._after, level_id))
        for key in stay:
            self._compare(level, before[key], after[key])

    def _compare(self, level: Record, before: Record, after: Record) -> None:
        values = _ValueChanges(before, after, self._renames.get((level["levelId"], after["attributeId"]), {}))
        aspects = [name for name, differ in ASPECTS if differ(before, after)]
        if values.are_reordered:
            aspects.append("order of values")
        if aspects:
            self._changed.append(_attribute_entry(level, after, tuple(aspects)))
        self._values_added += [_value_entry(level, after, value) for value in values.added]
        self._values_removed += [_value_entry(level, after, value) for value in values.removed]
        self._values_renamed += [
            _value_entry(level, after, old, new, old in values.merged) for old, new in values.renamed.items()
        ]


class _ValueChanges:
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


def _attribute_entry(level: Record, attribute: Record, aspects: tuple[str, ...] = ()) -> AttributeEntry:
    return AttributeEntry(level["levelId"], level["name"], attribute["attributeId"], attribute["name"], aspects)


def _value_entry(level: Record, attribute: Record, value: str, renamed: str = "", merged: bool = False) -> ValueEntry:
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
