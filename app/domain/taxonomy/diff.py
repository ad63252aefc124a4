"""Comparison of two trees of a taxonomy by id, for the review before a save and for the change log, and its wording."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import groupby

from app.domain.taxonomy.renames import ValueRename, words_by_definition
from app.domain.taxonomy.tree import Attribute, Level, TaxonomyTree

LONGEST_SHOWN = 60
MOST_SHOWN = 5  # Values named in one sentence.
TYPE = "type"


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
    def placed_level_ids(self) -> list[str]:
        """The ids of the levels that were added, removed or moved."""
        others = (level.level_id for level in (*self.levels_added, *self.levels_removed))
        return list(dict.fromkeys((*others, *(level.level_id for level in self.levels_moved))))

    @property
    def defined_attribute_ids(self) -> list[str]:
        """The ids of the attributes that a level got or lost, or that have another type, those of added and removed
        levels left out."""
        retyped = (attribute for attribute in self.attributes_changed if TYPE in attribute.aspects)
        attributes = (*self.attributes_added, *self.attributes_removed, *retyped)
        return list(dict.fromkeys(attribute.attribute_id for attribute in attributes))

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


def compare(before: TaxonomyTree, after: TaxonomyTree, renames: Iterable[ValueRename] = ()) -> StructureDiff:
    """Return the differences between two trees. A rename counts where the tree before has its stored value and the tree
    after its new one; such values are neither removed nor added."""
    attributes = _AttributeChanges(after, renames)
    both = ((before.levels[level.id], level) for level in after.levels.values() if level.id in before.levels)
    # Two values may have swapped their words, which leaves the level as it was and changes products.
    stay = [(was, now) for was, now in both if now.id in attributes.with_renames or (was is not now and was != now)]
    for was, now in stay:
        attributes.compare(was, now)
    return StructureDiff(
        levels_added=tuple(_whole_level(after, new) for new in after.levels.values() if new.id not in before.levels),
        levels_removed=tuple(_whole_level(before, old) for old in before.levels.values() if old.id not in after.levels),
        levels_moved=tuple(
            MovedLevel(
                now.id,
                now.name,
                was.parent_id,
                _parent_name(before, was),
                now.parent_id,
                _parent_name(after, now),
            )
            for was, now in stay
            if was.parent_id != now.parent_id
        ),
        levels_renamed=tuple(RenamedLevel(now.id, was.name, now.name) for was, now in stay if was.name != now.name),
        levels_other_names=tuple(
            OtherNames(now.id, now.name, now.other_names) for was, now in stay if was.other_names != now.other_names
        ),
        levels_described=tuple(_level_entry(after, now) for was, now in stay if was.description != now.description),
        levels_reordered=tuple(_reordered_parents(before, after)),
        attributes_added=tuple(attributes.added),
        attributes_removed=tuple(attributes.removed),
        attributes_changed=tuple(attributes.changed),
        attributes_reordered=tuple(attributes.reordered),
        values_added=tuple(attributes.values_added),
        values_removed=tuple(attributes.values_removed),
        values_renamed=tuple(attributes.values_renamed),
    )


def _level_entry(tree: TaxonomyTree, level: Level) -> LevelEntry:
    return LevelEntry(level.id, level.name, _parent_name(tree, level))


def _whole_level(tree: TaxonomyTree, level: Level) -> LevelEntry:
    own = tuple((attribute.name, len(attribute.allowed_values)) for attribute in level.attributes)
    return replace(_level_entry(tree, level), attributes=own)


def _parent_name(tree: TaxonomyTree, level: Level) -> str | None:
    return None if level.parent_id is None else tree.levels[level.parent_id].name


def _reordered_parents(before: TaxonomyTree, after: TaxonomyTree) -> Iterator[LevelEntry]:
    """Yield the parents whose levels are in another order. Only those that stood and stand below the same parent can be
    in another order."""
    for parent_id, children in after.children.items():
        old = (after.levels.get(found) for found in before.children.get(parent_id, ()))
        earlier = [level.id for level in old if level is not None and level.parent_id == parent_id]
        known = set(earlier)
        if earlier != [found for found in children if found in known]:
            yield LevelEntry("", "") if parent_id is None else _level_entry(after, after.levels[parent_id])


class _AttributeChanges:
    """A collector of the differences in the attributes of levels that are in both trees."""

    def __init__(self, after: TaxonomyTree, renames: Iterable[ValueRename]) -> None:
        self._after = after
        self._renames = words_by_definition(renames)
        self.with_renames = {level_id for level_id, _ in self._renames}
        self.added: list[AttributeEntry] = []
        self.removed: list[AttributeEntry] = []
        self.changed: list[AttributeEntry] = []
        self.reordered: list[LevelEntry] = []
        self.values_added: list[ValueEntry] = []
        self.values_removed: list[ValueEntry] = []
        self.values_renamed: list[ValueEntry] = []

    def compare(self, was: Level, level: Level) -> None:
        if level.id not in self.with_renames and was.attributes == level.attributes:
            return
        before = {attribute.id: attribute for attribute in was.attributes}
        after = {attribute.id: attribute for attribute in level.attributes}
        self.added += [_attribute_entry(level, found) for key, found in after.items() if key not in before]
        self.removed += [_attribute_entry(level, found) for key, found in before.items() if key not in after]
        stay = [key for key in after if key in before]
        if stay != [key for key in before if key in after]:
            self.reordered.append(_level_entry(self._after, level))
        for key in stay:
            self._compare(level, before[key], after[key])

    def _compare(self, level: Level, before: Attribute, after: Attribute) -> None:
        values = _ValueChanges(before, after, self._renames.get((level.id, after.id), {}))
        aspects = [name for name, differ in ASPECTS if differ(before, after)]
        if values.are_reordered:
            aspects.append("order of values")
        if aspects:
            self.changed.append(_attribute_entry(level, after, tuple(aspects)))
        self.values_added += [_value_entry(level, after, value) for value in values.added]
        self.values_removed += [_value_entry(level, after, value) for value in values.removed]
        self.values_renamed += [
            _value_entry(level, after, old, new, old in values.merged) for old, new in values.renamed.items()
        ]


class _ValueChanges:
    """The differences between the allowed values of an attribute before and after."""

    def __init__(self, before: Attribute, after: Attribute, renames: Mapping[str, str]) -> None:
        self._old = before.allowed_values
        self._new = after.allowed_values
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


def _attribute_entry(level: Level, attribute: Attribute, aspects: tuple[str, ...] = ()) -> AttributeEntry:
    return AttributeEntry(level.id, level.name, attribute.id, attribute.name, aspects)


def _value_entry(level: Level, attribute: Attribute, value: str, renamed: str = "", merged: bool = False) -> ValueEntry:
    return ValueEntry(level.id, level.name, attribute.id, attribute.name, value, renamed, merged)


ASPECTS: tuple[tuple[str, Callable[[Attribute, Attribute], bool]], ...] = (
    ("name", lambda before, after: before.name != after.name),
    (TYPE, lambda before, after: before.written_type != after.written_type),
    ("unit", lambda before, after: before.unit != after.unit),
    ("help text", lambda before, after: before.help_text != after.help_text),
    ("validation", lambda before, after: before.validation != after.validation),
    (
        "display",
        lambda before, after: (
            (before.display_on_product_page, before.display_label)
            != (after.display_on_product_page, after.display_label)
        ),
    ),
)
