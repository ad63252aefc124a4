"""Changes between two trees of a taxonomy, and their wording."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import groupby

LONGEST_SHOWN = 60
MOST_SHOWN = 5  # Values named in one sentence.


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
        found = list(_all_sentences(self))
        if len(found) <= most:
            return found
        return [*found[: most - 1], f"… and {len(found) - most + 1:,} more"]


def _all_sentences(comparison: StructureDiff) -> Iterator[str]:
    yield from _about_levels(comparison)
    yield from _about_attributes(comparison)
    for what, preposition, values in (
        ("Added", "to", comparison.values_added),
        ("Removed", "from", comparison.values_removed),
    ):
        for of, names in _by_attribute(values):
            noun = "the value" if len(names) == 1 else "the values"
            yield f"{what} {noun} {_listed(names)} {preposition} {of}."
    for value in comparison.values_renamed:
        verb, preposition = ("Merged", "into") if value.merged else ("Renamed", "to")
        yield f"{verb} the value {_shown(value.value)} of {_of(value)} {preposition} {_shown(value.renamed)}."


def _about_levels(comparison: StructureDiff) -> Iterator[str]:
    for level in comparison.levels_added:
        yield f"Added the level {_shown(level.name)}{_below(level.parent_name)}{_with(level.attributes)}."
    for level in comparison.levels_removed:
        yield f"Removed the level {_shown(level.name)}{_below(level.parent_name)}{_with(level.attributes)}."
    for moved in comparison.levels_moved:
        there = " to the top" if moved.to_id is None else _below(moved.to_name)
        yield f"Moved the level {_shown(moved.name)}{there}."
    for renamed in comparison.levels_renamed:
        yield f"Renamed the level {_shown(renamed.name)} to {_shown(renamed.renamed)}."
    yield from map(_about_other_names, comparison.levels_other_names)
    for level in comparison.levels_described:
        yield f"Changed the description of the level {_shown(level.name)}."
    for level in comparison.levels_reordered:
        yield f"Changed the order of the levels {f'below {_shown(level.name)}' if level.level_id else 'at the top'}."


def _about_other_names(level: OtherNames) -> str:
    if not level.other_names:
        return f"Removed the other names of the level {_shown(level.name)}."
    return f"Changed the other names of the level {_shown(level.name)} to {_listed(level.other_names)}."


def _about_attributes(comparison: StructureDiff) -> Iterator[str]:
    for attribute in comparison.attributes_added:
        yield f"Added the attribute {_shown(attribute.name)} to {_shown(attribute.level_name)}."
    for attribute in comparison.attributes_removed:
        yield f"Removed the attribute {_shown(attribute.name)} from {_shown(attribute.level_name)}."
    for attribute in comparison.attributes_changed:
        yield f"Changed the {', '.join(attribute.aspects)} of {_of(attribute)}."
    for level in comparison.attributes_reordered:
        yield f"Changed the order of the attributes of {_shown(level.name)}."


def _by_attribute(values: Sequence[ValueEntry]) -> Iterator[tuple[str, list[str]]]:
    for _, group in groupby(values, key=lambda value: (value.level_id, value.attribute_id)):
        found = list(group)
        yield _of(found[0]), [value.value for value in found]


def _of(entry: AttributeEntry | ValueEntry) -> str:
    return f"{_shown(entry.name)} ({entry.level_name[:LONGEST_SHOWN]})"


def _below(name: str | None) -> str:
    return "" if name is None else f" below {_shown(name)}"


def _with(attributes: Sequence[tuple[str, int]]) -> str:
    """Return “ with 1 attribute: “Colour” (30 values)”; an empty text for no attributes."""
    if not attributes:
        return ""
    labels = [f"{_shown(name)}{_values(values)}" for name, values in attributes[:MOST_SHOWN]]
    if more := len(attributes) - len(labels):
        labels.append(f"{more:,} more")
    return f" with {len(attributes):,} {'attribute' if len(attributes) == 1 else 'attributes'}: {', '.join(labels)}"


def _values(number: int) -> str:
    return f" ({number:,} {'value' if number == 1 else 'values'})" if number else ""


def _listed(names: Sequence[str]) -> str:
    shown = [_shown(name) for name in names[:MOST_SHOWN]]
    if more := len(names) - len(shown):
        return f"{', '.join(shown)} and {more:,} more"
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def _shown(name: str) -> str:
    return f"“{name[:LONGEST_SHOWN]}”"
