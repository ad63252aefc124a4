"""Edits of attributes and their values, like those of level_edits, and many values pasted at once. Pure.

In a draft an attribute may carry `renamedValues`, which maps a new value to the stored one that it replaces, so that
products can follow when the draft is saved; and `mergedValues`, see renames.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.domain.shared.problems import Invalid
from app.domain.shared.text import UNPRINTABLE, numbered, one_line
from app.domain.taxonomy.editor.level_edits import Outcome, between, block, level_of, line, quote, value_line
from app.domain.taxonomy.renames import MERGED_VALUES, RENAMED_VALUES
from app.domain.taxonomy.stored_tree import FlatLevels, Record, attribute_of, by_place, path
from app.domain.taxonomy.validation.level_drafts import ATTRIBUTE
from app.domain.taxonomy.validation.rules import LONGEST_ALLOWED_VALUE


@dataclass(frozen=True, slots=True)
class AddAttribute:
    """Add an attribute, in the stored form, as the last of a level; without an id it gets one from its name at the
    save."""

    level_id: str
    attribute: Mapping[str, Any]

    def apply(self, levels: FlatLevels) -> Outcome:
        level = level_of(levels, self.level_id)
        attribute_id = str(self.attribute.get("attributeId") or "").strip() or _free_id(levels)
        attribute = {"attributeId": line(attribute_id)} | _definition(self.attribute)
        return _append(levels, level, attribute, f"Added the attribute {quote(attribute['name'])}")


@dataclass(frozen=True, slots=True)
class ChangeAttribute:
    """Replace the definition of an attribute by `attribute`, as a whole; id and place stay. Where it has
    `renamedValues` or `mergedValues`, these replace the known renames or merges; else those stay."""

    level_id: str
    attribute_id: str
    attribute: Mapping[str, Any]

    def apply(self, levels: FlatLevels) -> Outcome:
        level, attribute = _find(levels, self.level_id, self.attribute_id)
        kept = {name: attribute[name] for name in ("attributeId", "displayOrder")}
        changed = kept | _definition(self.attribute)
        offered = changed.get("allowedValues", [])
        known = self.attribute.get(RENAMED_VALUES, attribute.get(RENAMED_VALUES, {}))
        renames = {new: old for new, old in known.items() if new in offered and new != old}
        changed |= {RENAMED_VALUES: renames} if renames else {}
        gone = self.attribute.get(MERGED_VALUES, attribute.get(MERGED_VALUES, {}))
        merges = {old: into for old, into in gone.items() if into in offered and old not in offered}
        changed |= {MERGED_VALUES: merges} if merges else {}
        return _replace(levels, level, changed, f"Changed the attribute {quote(changed['name'])}")


@dataclass(frozen=True, slots=True)
class MoveAttribute:
    """Move an attribute within its level. `position` counts from 0 among the level's other attributes."""

    level_id: str
    attribute_id: str
    position: int

    def apply(self, levels: FlatLevels) -> Outcome:
        level, attribute = _find(levels, self.level_id, self.attribute_id)
        label = f"Moved the attribute {quote(attribute['name'])}"
        others = [found for found in level["attributes"] if found["attributeId"] != self.attribute_id]
        position = max(0, min(self.position, len(others)))
        if level["attributes"].index(attribute) == position:
            return Outcome(levels, label, self.level_id)
        order = between([found["displayOrder"] for found in others], position)
        if order is None:
            others = [found | {"displayOrder": 2 * place} for place, found in enumerate(others)]
            order = 2 * position - 1
        return _with_attributes(levels, level, [*others, attribute | {"displayOrder": order}], label)


@dataclass(frozen=True, slots=True)
class DeleteAttribute:
    level_id: str
    attribute_id: str

    def apply(self, levels: FlatLevels) -> Outcome:
        level, attribute = _find(levels, self.level_id, self.attribute_id)
        kept = [found for found in level["attributes"] if found is not attribute]
        return _with_attributes(levels, level, kept, f"Deleted the attribute {quote(attribute['name'])}")


@dataclass(frozen=True, slots=True)
class RenameValue:
    level_id: str
    attribute_id: str
    value: str
    renamed: str

    def apply(self, levels: FlatLevels) -> Outcome:
        level, attribute = _find(levels, self.level_id, self.attribute_id)
        values, renamed = attribute.get("allowedValues", []), value_line(self.renamed)
        _check_rename(values, self.value, renamed)
        changed = attribute | {"allowedValues": [renamed if value == self.value else value for value in values]}
        changed.pop(RENAMED_VALUES, None)
        if renames := _add_rename(attribute, self.value, renamed):
            changed[RENAMED_VALUES] = renames
        if merges := attribute.get(MERGED_VALUES):
            changed[MERGED_VALUES] = {old: renamed if into == self.value else into for old, into in merges.items()}
        label = f"Renamed the value {quote(self.value)} of {quote(attribute['name'])} to {quote(renamed)}"
        return _replace(levels, level, changed, label)


@dataclass(frozen=True, slots=True)
class RenameElsewhere:
    """Rename a value on all other levels that define the attribute, as it was renamed on one."""

    level_id: str
    attribute_id: str
    value: str
    renamed: str

    def apply(self, levels: FlatLevels) -> Outcome:
        """Rename the value on every other level that has it. Levels that offer both names already stay as they are.
        Raises Invalid like RenameValue, and where no other level has the value any more."""
        wanted = levels_with_old_name(levels, self.level_id, self.attribute_id, self.value, self.renamed)
        if not wanted:
            raise Invalid.one("unknown_value", f"No other level says {quote(self.value)} any more.")
        for level_id in wanted:
            levels = RenameValue(level_id, self.attribute_id, self.value, self.renamed).apply(levels).levels
        number = "1 other level" if len(wanted) == 1 else f"{len(wanted):,} other levels"
        label = f"Renamed the value {quote(self.value)} to {quote(self.renamed)} on {number}"
        return Outcome(levels, label, self.level_id)


@dataclass(frozen=True, slots=True)
class OverrideAttribute:
    """Gives the level a definition of its own, which begins as a copy of the inherited one: values that were renamed
    there are renamed here as well."""

    level_id: str
    attribute_id: str

    def apply(self, levels: FlatLevels) -> Outcome:
        level = level_of(levels, self.level_id)
        for above in path(levels, self.level_id)[-2::-1]:
            if inherited := attribute_of(levels[above], self.attribute_id):
                label = f"Gave {quote(level['name'])} a definition of {quote(inherited['name'])} of its own"
                return _append(levels, level, inherited, label)
        raise Invalid.one("unknown_attribute", f"{quote(level['name'])} inherits no such attribute.")


def _append(levels: FlatLevels, level: Record, attribute: Record, label: str) -> Outcome:
    if attribute_of(level, attribute["attributeId"]):
        message = f"{quote(level['name'])} has an attribute with the id “{attribute['attributeId'][:80]}” already."
        raise Invalid.one("duplicate_attribute_id", message, "#/attributeId")
    orders = [found["displayOrder"] for found in level["attributes"]]
    placed = attribute | {"displayOrder": between(orders, len(orders))}
    return _with_attributes(levels, level, [*level["attributes"], placed], label)


def _free_id(levels: FlatLevels) -> str:
    taken = {attribute["attributeId"] for level in levels.values() for attribute in level["attributes"]}
    number = 1
    while f"new-a{number}" in taken:
        number += 1
    return f"new-a{number}"


def levels_with_old_name(levels: FlatLevels, level_id: str, attribute_id: str, value: str, renamed: str) -> list[str]:
    """Return the ids of the other levels whose definition of the attribute has the value and none of the new name,
    whatever its case."""
    found = []
    for other_id, level in levels.items():
        attribute = attribute_of(level, attribute_id) if other_id != level_id else None
        values = attribute.get("allowedValues") or () if attribute else ()
        if value in values and renamed.casefold() not in {str(one).casefold() for one in values if one != value}:
            found.append(other_id)
    return found


def _check_rename(values: Sequence[Any], value: str, renamed: str) -> None:
    if value not in values:
        raise Invalid.one("unknown_value", f"There is no value {quote(value)} any more.")
    if not renamed:
        raise Invalid.one("blank_value", "A value needs a name.", "#/renamed")
    if "," in renamed:
        raise Invalid.one("comma_in_value", f"{quote(renamed)} contains a comma.", "#/renamed")
    others = {other.casefold() for other in values if isinstance(other, str) and other != value}
    if renamed.casefold() in others:
        raise Invalid.one("duplicate_value", f"There is a value {quote(renamed)} already.", "#/renamed")


def _add_rename(attribute: Record, value: str, renamed: str) -> dict[str, str]:
    """Return the renames of an attribute with one more. Of several renames of one value in a row only the first name
    and the last count. A stored value is renamed once: one that was added again under its old name is a new value."""
    renames = dict(attribute.get(RENAMED_VALUES, {}))
    stored = renames.pop(value, value)
    if stored != renamed and stored not in renames.values() and not attribute["attributeId"].startswith("new-"):
        renames[renamed] = stored
    return renames


def _find(levels: FlatLevels, level_id: str, attribute_id: str) -> tuple[Record, Record]:
    level = level_of(levels, level_id)
    attribute = attribute_of(level, attribute_id)
    if attribute is None:
        raise Invalid.one("unknown_attribute", f"{quote(level['name'])} has no such attribute any more.")
    return level, attribute


def _replace(levels: FlatLevels, level: Record, changed: Record, label: str) -> Outcome:
    attribute_id = changed["attributeId"]
    attributes = [changed if found["attributeId"] == attribute_id else found for found in level["attributes"]]
    return _with_attributes(levels, level, attributes, label)


def _with_attributes(levels: FlatLevels, level: Record, attributes: Sequence[Record], label: str) -> Outcome:
    changed = level | {"attributes": by_place(attributes)}
    return Outcome(levels | {level["levelId"]: changed}, label, level["levelId"])


def _definition(given: Mapping[str, Any]) -> Record:
    """Return the definition of an attribute without its empty fields; texts trimmed, values once each. Raises Invalid
    for what cannot be stored in a draft; other problems, such as blank values, are left to validation."""
    names = [name for name in ATTRIBUTE.fields if name not in ("attributeId", "displayOrder") and name in given]
    definition = {name: _trim(given[name], block) for name in names}
    values = definition.get("allowedValues") or []
    definition["allowedValues"] = list(
        dict.fromkeys(value if isinstance(value, str) else str(value) for value in values)
    )
    kept = {name: value for name, value in definition.items() if value not in (None, "", [], {})}
    return {"name": line(str(given.get("name") or "")), "type": "STRING"} | kept


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
