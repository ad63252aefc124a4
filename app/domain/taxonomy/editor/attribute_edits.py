"""Edits of attributes and their values, like those of level_edits, and many values pasted at once. Pure.

An attribute of a draft carries the values that were renamed or merged, so that products can follow when the draft is
saved; see renames.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from app.domain.shared.problems import Invalid
from app.domain.shared.text import UNPRINTABLE, numbered, one_line
from app.domain.taxonomy.editor.level_edits import Outcome, between, block, level_of, line, quote, value_line
from app.domain.taxonomy.stored_tree import Record
from app.domain.taxonomy.tree import (
    MERGED_VALUES,
    RENAMED_VALUES,
    Attribute,
    AttributeType,
    Level,
    TaxonomyTree,
    in_place_order,
)
from app.domain.taxonomy.validation.rules import LONGEST_ALLOWED_VALUE
from app.domain.taxonomy.validation.sent_tree import ATTRIBUTE


@dataclass(frozen=True, slots=True)
class AddAttribute:
    """Add an attribute, in JSON, as the last of a level; without an id it gets one from its name at the save."""

    level_id: str
    attribute: Record

    def apply(self, tree: TaxonomyTree) -> Outcome:
        level = level_of(tree, self.level_id)
        attribute_id = str(self.attribute.get("attributeId") or "").strip() or _free_id(tree)
        attribute = _read_definition(self.attribute, line(attribute_id))
        return _append(tree, level, attribute, f"Added the attribute {quote(attribute.name)}")


@dataclass(frozen=True, slots=True)
class ChangeAttribute:
    """Replace the definition of an attribute by `attribute`, in JSON, as a whole; id and place stay. Where it has
    `renamedValues` or `mergedValues`, these replace the known renames or merges; else those stay."""

    level_id: str
    attribute_id: str
    attribute: Record

    def apply(self, tree: TaxonomyTree) -> Outcome:
        level, attribute = _find(tree, self.level_id, self.attribute_id)
        changed = _read_definition(self.attribute, attribute.id)
        offered = changed.allowed_values
        renamed = self.attribute.get(RENAMED_VALUES, attribute.renamed_values)
        merged = self.attribute.get(MERGED_VALUES, attribute.merged_values)
        changed = replace(
            changed,
            display_order=attribute.display_order,
            renamed_values={new: old for new, old in renamed.items() if new in offered and new != old},
            merged_values={old: into for old, into in merged.items() if into in offered and old not in offered},
        )
        return _replace(tree, level, changed, f"Changed the attribute {quote(changed.name)}")


@dataclass(frozen=True, slots=True)
class MoveAttribute:
    """Move an attribute within its level. `position` counts from 0 among the level's other attributes."""

    level_id: str
    attribute_id: str
    position: int

    def apply(self, tree: TaxonomyTree) -> Outcome:
        level, attribute = _find(tree, self.level_id, self.attribute_id)
        label = f"Moved the attribute {quote(attribute.name)}"
        others = [found for found in level.attributes if found.id != self.attribute_id]
        position = max(0, min(self.position, len(others)))
        if level.attributes.index(attribute) == position:
            return Outcome(tree, label, self.level_id)
        order = between([found.display_order for found in others], position)
        if order is None:
            others = [replace(found, display_order=2 * place) for place, found in enumerate(others)]
            order = 2 * position - 1
        return _with_attributes(tree, level, [*others, replace(attribute, display_order=order)], label)


@dataclass(frozen=True, slots=True)
class DeleteAttribute:
    level_id: str
    attribute_id: str

    def apply(self, tree: TaxonomyTree) -> Outcome:
        level, attribute = _find(tree, self.level_id, self.attribute_id)
        kept = [found for found in level.attributes if found is not attribute]
        return _with_attributes(tree, level, kept, f"Deleted the attribute {quote(attribute.name)}")


@dataclass(frozen=True, slots=True)
class RenameValue:
    level_id: str
    attribute_id: str
    value: str
    renamed: str

    def apply(self, tree: TaxonomyTree) -> Outcome:
        level, attribute = _find(tree, self.level_id, self.attribute_id)
        values, renamed = attribute.allowed_values, value_line(self.renamed)
        _check_rename(values, self.value, renamed)
        merged = attribute.merged_values
        changed = replace(
            attribute,
            allowed_values=tuple(renamed if value == self.value else value for value in values),
            renamed_values=_add_rename(attribute, self.value, renamed),
            merged_values={old: renamed if into == self.value else into for old, into in merged.items()},
        )
        label = f"Renamed the value {quote(self.value)} of {quote(attribute.name)} to {quote(renamed)}"
        return _replace(tree, level, changed, label)


@dataclass(frozen=True, slots=True)
class RenameElsewhere:
    """Rename a value on all other levels that define the attribute, as it was renamed on one."""

    level_id: str
    attribute_id: str
    value: str
    renamed: str

    def apply(self, tree: TaxonomyTree) -> Outcome:
        """Rename the value on every other level that has it. Levels that offer both names already stay as they are.
        Raises Invalid like RenameValue, and where no other level has the value any more."""
        wanted = levels_with_old_name(tree, self.level_id, self.attribute_id, self.value, self.renamed)
        if not wanted:
            raise Invalid.one("unknown_value", f"No other level says {quote(self.value)} any more.")
        for level in wanted:
            tree = RenameValue(level.id, self.attribute_id, self.value, self.renamed).apply(tree).tree
        number = "1 other level" if len(wanted) == 1 else f"{len(wanted):,} other levels"
        label = f"Renamed the value {quote(self.value)} to {quote(self.renamed)} on {number}"
        return Outcome(tree, label, self.level_id)


@dataclass(frozen=True, slots=True)
class OverrideAttribute:
    """Gives the level a definition of its own, which begins as a copy of the inherited one: values that were renamed
    there are renamed here as well."""

    level_id: str
    attribute_id: str

    def apply(self, tree: TaxonomyTree) -> Outcome:
        level = level_of(tree, self.level_id)
        for above in tree.path(self.level_id)[-2::-1]:
            if inherited := above.attribute(self.attribute_id):
                label = f"Gave {quote(level.name)} a definition of {quote(inherited.name)} of its own"
                return _append(tree, level, inherited, label)
        raise Invalid.one("unknown_attribute", f"{quote(level.name)} inherits no such attribute.")


def _append(tree: TaxonomyTree, level: Level, attribute: Attribute, label: str) -> Outcome:
    if level.attribute(attribute.id):
        message = f"{quote(level.name)} has an attribute with the id “{attribute.id[:80]}” already."
        raise Invalid.one("duplicate_attribute_id", message, "#/attributeId")
    order = between([found.display_order for found in level.attributes], len(level.attributes))
    placed = replace(attribute, display_order=order or 0)
    return _with_attributes(tree, level, [*level.attributes, placed], label)


def _free_id(tree: TaxonomyTree) -> str:
    taken, number = tree.attributes_by_id(), 1
    while f"new-a{number}" in taken:
        number += 1
    return f"new-a{number}"


def levels_with_old_name(tree: TaxonomyTree, level_id: str, attribute_id: str, value: str, renamed: str) -> list[Level]:
    """Return the other levels whose definition of the attribute has the value and none of the new name, whatever its
    case."""
    found = []
    for level in tree.levels.values():
        attribute = level.attribute(attribute_id) if level.id != level_id else None
        values = attribute.allowed_values if attribute else ()
        if value in values and renamed.casefold() not in {one.casefold() for one in values if one != value}:
            found.append(level)
    return found


def _check_rename(values: Sequence[str], value: str, renamed: str) -> None:
    if value not in values:
        raise Invalid.one("unknown_value", f"There is no value {quote(value)} any more.")
    if not renamed:
        raise Invalid.one("blank_value", "A value needs a name.", "#/renamed")
    if "," in renamed:
        raise Invalid.one("comma_in_value", f"{quote(renamed)} contains a comma.", "#/renamed")
    if renamed.casefold() in {other.casefold() for other in values if other != value}:
        raise Invalid.one("duplicate_value", f"There is a value {quote(renamed)} already.", "#/renamed")


def _add_rename(attribute: Attribute, value: str, renamed: str) -> dict[str, str]:
    """Return the renames of an attribute with one more. Of several renames of one value in a row only the first name
    and the last count. A stored value is renamed once: one that was added again under its old name is a new value."""
    renames = dict(attribute.renamed_values)
    stored = renames.pop(value, value)
    if stored != renamed and stored not in renames.values() and not attribute.id.startswith("new-"):
        renames[renamed] = stored
    return renames


def _find(tree: TaxonomyTree, level_id: str, attribute_id: str) -> tuple[Level, Attribute]:
    level = level_of(tree, level_id)
    attribute = level.attribute(attribute_id)
    if attribute is None:
        raise Invalid.one("unknown_attribute", f"{quote(level.name)} has no such attribute any more.")
    return level, attribute


def _replace(tree: TaxonomyTree, level: Level, changed: Attribute, label: str) -> Outcome:
    attributes = [changed if found.id == changed.id else found for found in level.attributes]
    return _with_attributes(tree, level, attributes, label)


def _with_attributes(tree: TaxonomyTree, level: Level, attributes: Iterable[Attribute], label: str) -> Outcome:
    changed = replace(level, attributes=in_place_order(attributes))
    return Outcome(tree.with_level(changed), label, level.id)


def _read_definition(given: Record, attribute_id: str) -> Attribute:
    """Return an attribute in JSON with this id; texts trimmed, values once each. Raises Invalid for what cannot be
    stored in a draft; other problems, such as blank values, are left to validation."""
    names = [name for name in ATTRIBUTE.fields if name not in ("attributeId", "displayOrder") and name in given]
    definition = {name: _trim(given[name], block) for name in names}
    values = definition.get("allowedValues") or []
    definition["allowedValues"] = dict.fromkeys(value if isinstance(value, str) else str(value) for value in values)
    kept = {name: value for name, value in definition.items() if value not in (None, "", [], {})}
    name = line(str(given.get("name") or ""))
    return Attribute.read({"type": AttributeType.STRING.value} | kept | {"attributeId": attribute_id, "name": name})


def _trim(value: Any, clean: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, float) and not math.isfinite(value):
        raise Invalid.one("out_of_range", "A number is too large.")
    if isinstance(value, Mapping):
        kept = {name: _trim(item, clean) for name, item in value.items()}
        return {name: item for name, item in kept.items() if item is not None and item != ""}
    if isinstance(value, list | tuple):
        return [_trim(item, value_line) for item in value]
    return value


@dataclass(frozen=True, slots=True)
class PastedValues:
    """The outcome of pasting values. `values` are new and valid, in their order. `known` were there already (or twice
    in what was pasted) and `blank` lines held nothing; both are left out. `refused` lines wait to be fixed, each with
    the reason."""

    values: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    blank: int = 0
    refused: tuple[tuple[str, str], ...] = ()

    @property
    def has_commas(self) -> bool:
        return any("," in line for line, _ in self.refused)

    @property
    def rest(self) -> str:
        """The refused lines, for the box from which they came."""
        return "\n".join(line for line, _ in self.refused)

    def sentences(self) -> list[str]:
        return [*self._summary(), *(f"“{line[:80]}” {reason}" for line, reason in self.refused[:10])]

    def _summary(self) -> Iterator[str]:
        if self.values:
            yield f"Added {numbered(len(self.values), 'value')}."
        if self.known:
            names = ", ".join(f"“{value[:40]}”" for value in self.known[:5])
            more = f" and {len(self.known) - 5:,} more" if len(self.known) > 5 else ""
            yield f"{numbered(len(self.known), 'value')} left out, in the list already: {names}{more}."
        if self.blank:
            yield f"{self.blank:,} blank {'line' if self.blank == 1 else 'lines'} left out."
        if self.refused:
            waiting = "1 line waits" if len(self.refused) == 1 else f"{len(self.refused):,} lines wait"
            yield f"{waiting} in the box to be fixed:"


def read_pasted_values(text: str, existing: Sequence[str] = (), split_at_commas: bool = False) -> PastedValues:
    """Read a text of one value a line. Values are compared without case, as everywhere (a shopper would see two
    filters for one thing). No value may contain a comma, since lists of values are written with commas."""
    seen = {one_line(value).casefold() for value in existing}
    values: list[str] = []
    known: list[str] = []
    refused: list[tuple[str, str]] = []
    lines = text.strip().splitlines()
    if split_at_commas:
        lines = [part for line in lines for part in line.split(",")]
    tidy = [one_line(line) for line in lines]
    for value in filter(None, tidy):
        if value.casefold() in seen:
            known.append(value)
        elif reason := _why_refused(value):
            refused.append((value, reason))
        else:
            values.append(value)
            seen.add(value.casefold())
    return PastedValues(tuple(values), tuple(known), tidy.count(""), tuple(refused))


def _why_refused(line: str) -> str | None:
    if "," in line:
        return "contains a comma, which no value may."
    if len(line) > LONGEST_ALLOWED_VALUE or UNPRINTABLE.search(line):
        return f"is over {LONGEST_ALLOWED_VALUE:,} characters long or cannot be shown."
    return None
