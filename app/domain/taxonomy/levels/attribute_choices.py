"""The attributes and values by which products of certain levels can be filtered. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from app.domain.taxonomy.levels.attribute import Attribute, AttributeType
from app.domain.taxonomy.levels.tree import TaxonomyTree


@dataclass(frozen=True, slots=True)
class AttributeChoice:
    """An attribute to choose. `name` has the id with it where several attributes have the same name; `mandatory`: it is
    so on any level."""

    id: str
    name: str
    mandatory: bool


@dataclass(frozen=True, slots=True)
class AttributeChoices:
    """The attributes to choose from, sorted by name: `here` are those that hold for the products in question, own or
    inherited, `others` the rest."""

    here: Sequence[AttributeChoice] = ()
    others: Sequence[AttributeChoice] = ()

    @property
    def ids(self) -> set[str]:
        return {choice.id for choice in (*self.here, *self.others)}


def attribute_choices(tree: TaxonomyTree, level_ids: Collection[str] | None = None) -> AttributeChoices:
    """Return every attribute once. All are `here` where no levels are given, or no attribute holds at them."""
    by_id = tree.attributes_by_id()
    times = Counter(definitions[0].name for definitions in by_id.values())
    choices = []
    for attribute_id, definitions in by_id.items():
        name = definitions[0].name
        label = name if times[name] == 1 else f"{name} ({attribute_id})"
        choices.append(AttributeChoice(attribute_id, label, any(definition.mandatory for definition in definitions)))
    choices.sort(key=lambda choice: (choice.name.casefold(), choice.id))
    hold = _holding(tree, level_ids) if level_ids is not None else set()
    if not hold:
        return AttributeChoices(here=choices)
    return AttributeChoices(
        here=[choice for choice in choices if choice.id in hold],
        others=[choice for choice in choices if choice.id not in hold],
    )


def _holding(tree: TaxonomyTree, level_ids: Collection[str]) -> set[str]:
    levels = {level.id: level for level_id in level_ids for level in tree.path(level_id)}
    return {attribute.id for level in levels.values() for attribute in level.attributes}


def governing(tree: TaxonomyTree, attribute_id: str, level_ids: Collection[str] | None = None) -> list[Attribute]:
    """The definitions of an attribute that hold at these levels; all of them without levels, or where none holds.
    Empty for an unknown one."""
    found: list[Attribute] = []
    for level_id in level_ids or ():
        definition = tree.applicable_attributes(level_id).get(attribute_id)
        if definition is not None and not any(known is definition for known in found):
            found.append(definition)
    return found or list(tree.attributes_by_id().get(attribute_id, ()))


def value_choices(definitions: Sequence[Attribute]) -> list[tuple[str, str]]:
    """Return the values to choose from, each as products hold it and as it is shown; none where any value is
    allowed."""
    if any(definition.type is AttributeType.BOOLEAN for definition in definitions):
        return [("true", "Yes"), ("false", "No")]
    if not all(definition.type.is_choice for definition in definitions):
        return []
    values = dict.fromkeys(value for definition in definitions for value in definition.allowed_values)
    return [(value, value) for value in values]
