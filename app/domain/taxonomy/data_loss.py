"""Data loss of products by a changed tree, worked out from the two trees alone: products of which levels lose which
attribute or value. Counting them is impact.py's part."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from app.domain.taxonomy.renames import ValueRename, words_by_definition
from app.domain.taxonomy.tree import Attribute, AttributeType, TaxonomyTree, Validation
from app.domain.taxonomy.values import check_values

AttributeAt = tuple[str, str]  # A level's id and an attribute's.
ValueAt = tuple[str, str, str]  # And a value of it.
K = TypeVar("K", AttributeAt, ValueAt)


@dataclass(slots=True)
class DataLoss:
    """The ids of the levels whose products lose something, by what they lose: attributes that their level no longer
    defines, attributes that a moved level no longer inherits (by the id of the moved level), and values that are no
    longer allowed (by the level whose definition allowed them). `renamed` are values that were renamed, which products
    follow. For three kinds of attribute, by the level of the new definition, the trees alone do not show which values
    are lost: `narrowed` are those that were no choice and get another type or other rules, `one_of_several` those that
    took several values and take one now, `required` those that become mandatory."""

    removed: dict[AttributeAt, list[str]] = field(default_factory=dict)
    not_inherited: dict[AttributeAt, list[str]] = field(default_factory=dict)
    values: dict[ValueAt, list[str]] = field(default_factory=dict)
    renamed: dict[ValueAt, list[str]] = field(default_factory=dict)
    narrowed: dict[AttributeAt, list[str]] = field(default_factory=dict)
    one_of_several: dict[AttributeAt, list[str]] = field(default_factory=dict)
    required: dict[AttributeAt, list[str]] = field(default_factory=dict)


def data_loss(
    before: TaxonomyTree,
    after: TaxonomyTree,
    moved: Collection[str],
    level_ids: Iterable[str],
    renames: Iterable[ValueRename] = (),
) -> DataLoss:
    """Return the data loss for the products of the levels `level_ids`; those of removed levels keep nothing and are
    reported otherwise. An attribute or value is lost only when the nearest definition that is left does without it.
    `moved` are the levels that have another parent in the tree `after`."""
    renames = list(renames)
    finder = _Finder(before, after, moved, renames)
    changed = redefined(before, after, {rename.level_id for rename in renames})
    for level_id in level_ids:
        if level_id in changed:
            finder.look_at(level_id)
    return finder.found


def redefined(before: TaxonomyTree, after: TaxonomyTree, renaming: Collection[str]) -> set[str]:
    """Return the ids of the levels in both trees whose parent or attributes changed, or those of a level above.
    `renaming` are levels with renamed values, which count as changed."""
    found: set[str] = set()
    for level in after.levels.values():  # Every level before those below it.
        stored = before.levels.get(level.id)
        is_same = stored and stored.parent_id == level.parent_id and stored.attributes == level.attributes
        if not is_same or level.parent_id in found or level.id in renaming:
            found.add(level.id)
    return found & before.levels.keys()


class _Finder:
    def __init__(
        self, before: TaxonomyTree, after: TaxonomyTree, moved: Collection[str], renames: Iterable[ValueRename]
    ) -> None:
        self.found = DataLoss()
        self._before = before
        self._after = after
        self._moved = moved
        self._renames = words_by_definition(renames)
        self._lost_values: dict[tuple[str, str, str], list[str]] = {}

    def look_at(self, level_id: str) -> None:
        old, new = _definitions(self._before, level_id), _definitions(self._after, level_id)
        for attribute_id, (old_level, attribute) in old.items():
            if attribute_id not in new:
                self._look_at_attribute(level_id, old_level, attribute_id)
                continue
            new_level, definition = new[attribute_id]
            self._look_at_renames(level_id, new_level, attribute_id)
            if attribute.type.is_choice and definition != attribute:
                self._look_at_values(level_id, old_level, attribute, new_level, definition)
            self._look_at_rules(level_id, attribute, new_level, definition)
        for attribute_id, (new_level, definition) in new.items():
            if definition.mandatory and not (attribute_id in old and old[attribute_id][1].mandatory):
                _note(self.found.required, (new_level, attribute_id), level_id)

    def _look_at_rules(self, level_id: str, attribute: Attribute, new_level: str, definition: Attribute) -> None:
        key = (new_level, attribute.id)
        if (attribute.type, attribute.validation) == (definition.type, definition.validation):
            return
        if not attribute.type.is_choice and _rules(attribute) != _rules(definition):
            _note(self.found.narrowed, key, level_id)
        several = AttributeType.MULTI_SELECT
        if attribute.type is several and definition.type is not several:
            _note(self.found.one_of_several, key, level_id)

    def _look_at_attribute(self, level_id: str, old_level: str, attribute_id: str) -> None:
        if old_level in self._after.levels and all(
            own.id != attribute_id for own in self._after.levels[old_level].attributes
        ):
            _note(self.found.removed, (old_level, attribute_id), level_id)
        else:
            _note(self.found.not_inherited, (self._moved_above(level_id), attribute_id), level_id)

    def _moved_above(self, level_id: str) -> str:
        """Return the nearest moved level from this one upwards, up to which its path is the same in both trees; the
        level itself where none was moved."""
        way = reversed(self._after.path_ids(level_id))
        return next((above for above in way if above in self._moved), level_id)

    def _look_at_renames(self, level_id: str, new_level: str, attribute_id: str) -> None:
        for value in self._renames.get((new_level, attribute_id), ()):
            _note(self.found.renamed, (new_level, attribute_id, value), level_id)

    def _look_at_values(
        self, level_id: str, old_level: str, attribute: Attribute, new_level: str, definition: Attribute
    ) -> None:
        key = (old_level, attribute.id, new_level)
        if key not in self._lost_values:
            renamed = self._renames.get((new_level, attribute.id), {})
            offered = [value for value in attribute.allowed_values if value not in renamed]
            self._lost_values[key] = _values_not_allowed(definition, attribute.type, offered)
        for value in self._lost_values[key]:
            _note(self.found.values, (old_level, attribute.id, value), level_id)


def _definitions(tree: TaxonomyTree, level_id: str) -> Mapping[str, tuple[str, Attribute]]:
    """Return the attributes that hold at a level, by id: the nearest definition of each, after the id of its level."""
    return {attribute.id: (level.id, attribute) for level in tree.path(level_id) for attribute in level.attributes}


def _rules(attribute: Attribute) -> tuple[AttributeType, Validation]:
    """Return the type and the rules of a value, apart from whether one must be there."""
    return attribute.type, replace(attribute.validation, mandatory=False, error_message=None)


def _values_not_allowed(definition: Attribute, held_as: AttributeType, values: Collection[str]) -> list[str]:
    """Return the values that a definition does not allow, in their order. In a choice the case does not matter."""
    if definition.type.is_choice:
        taken = {value.casefold() for value in definition.allowed_values}
        return [value for value in values if value.casefold() not in taken]
    attributes = {definition.id: definition}
    held = {value: [value] if held_as is AttributeType.MULTI_SELECT else value for value in values}
    return [value for value, raw in held.items() if check_values(attributes, {definition.id: raw})[1]]


def _note(found: dict[K, list[str]], key: K, level_id: str) -> None:
    found.setdefault(key, []).append(level_id)
