"""What forms offer to choose from a tree: levels found by words, attributes and the values of one. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from app.domain.taxonomy.tree import Attribute, AttributeType, Level, TaxonomyTree

MOST_SHOWN = 20
MOST_NAMED = 2  # Levels with which an attribute is named.


@dataclass(frozen=True, slots=True)
class FoundLevel:
    """A level that was found. `above` is the path to it, without its own name."""

    id: str
    name: str
    above: str


@dataclass(frozen=True, slots=True)
class LevelsFound:
    """The levels that were found. `more` counts those beyond the ones shown."""

    levels: Sequence[FoundLevel]
    more: int


def find_levels(tree: TaxonomyTree, words: str) -> LevelsFound:
    """Return the levels whose path contains every word, whatever the case: first those whose name begins with all the
    words, then those whose name contains one of them. Without words these are the first levels in tree order."""
    wanted = words.casefold().split()
    whole = " ".join(wanted)
    found = [
        (_rank(level, wanted, whole), level)
        for level, way in _paths_in_words(tree)
        if all(word in way for word in wanted)
    ]
    ranked = [level for _, level in sorted(found, key=lambda pair: pair[0])]
    shown = [
        FoundLevel(level.id, level.name, " › ".join(above.name for above in tree.path(level.id)[:-1]))
        for level in ranked[:MOST_SHOWN]
    ]
    return LevelsFound(shown, max(0, len(ranked) - MOST_SHOWN))


def _paths_in_words(tree: TaxonomyTree) -> list[tuple[Level, str]]:
    """Every level with the names on the way to it, in tree order."""
    ways: dict[str, str] = {}
    for level in tree.levels.values():
        ways[level.id] = f"{ways.get(level.parent_id or '', '')} {level.name.casefold()}"
    return [(tree.levels[level_id], way) for level_id, way in ways.items()]


def _rank(level: Level, wanted: Sequence[str], whole: str) -> int:
    name = level.name.casefold()
    if name.startswith(whole):
        return 0
    return 1 if any(word in name for word in wanted) else 2


def level_paths(tree: TaxonomyTree) -> dict[str, str]:
    """Return the path of each level by its id, “Camping › Tents”, in tree order."""
    return {level_id: " › ".join(level.name for level in tree.path(level_id)) for level_id in tree.levels}


def meant_level(tree: TaxonomyTree, text: str) -> str | None:
    """Return the id of the level that a text means, as its id, its path or its name; None where no level or more than
    one is meant."""
    names = {level.id: level.name for level in tree.levels.values()}
    return meant_id(level_paths(tree), text) or meant_id(names, text)


def meant_id(labels: Mapping[str, str], text: str) -> str | None:
    """Return the id that a text means, as the id itself or as the label of one alone, whatever its case."""
    if text in labels:
        return text
    meant = [id for id, label in labels.items() if label.casefold() == text.casefold()]
    return meant[0] if len(meant) == 1 else None


def distinct_names(tree: TaxonomyTree, names: Mapping[str, str]) -> dict[str, str]:
    """Return the names of attributes by their ids, with the levels where several have the same one: “Material, of
    Tents”; with the id as well where the levels say nothing either. Ids that the tree does not have keep their
    names."""
    levels = _levels_by_attribute(tree, _repeated(names))
    with_levels = {id: f"{name}, of {levels[id]}" if id in levels else name for id, name in names.items()}
    still_same = _repeated(with_levels) & levels.keys()
    return {id: f"{name} ({id})" if id in still_same else name for id, name in with_levels.items()}


def _repeated(names: Mapping[str, str]) -> set[str]:
    """Return the ids whose name another id has, too, whatever its case."""
    times = Counter(name.casefold() for name in names.values())
    return {id for id, name in names.items() if times[name.casefold()] > 1}


def _levels_by_attribute(tree: TaxonomyTree, attribute_ids: Collection[str]) -> dict[str, str]:
    """Return the names of the levels that define each of the attributes, those further down left out by number."""
    found: dict[str, list[str]] = {}
    for level in tree.levels.values():
        for attribute in level.attributes:
            if attribute.id in attribute_ids:
                found.setdefault(attribute.id, []).append(level.name)
    return {id: _listed(list(dict.fromkeys(levels))) for id, levels in found.items()}


def _listed(names: Sequence[str]) -> str:
    if len(names) <= MOST_NAMED:
        return " and ".join(names)
    return f"{names[0]} and {len(names) - 1} further levels"


@dataclass(frozen=True, slots=True)
class AttributeChoice:
    """An attribute to choose. `name` has the levels with it where several attributes have the same name; `mandatory`:
    it is so on any level."""

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
    definitions = tree.attributes_by_id()
    names = distinct_names(tree, tree.attribute_names())
    choices = [
        AttributeChoice(id, name, any(definition.mandatory for definition in definitions[id]))
        for id, name in names.items()
    ]
    choices.sort(key=lambda choice: (choice.name.casefold(), choice.id))
    hold = _attribute_ids_at(tree, level_ids) if level_ids is not None else set()
    if not hold:
        return AttributeChoices(here=choices)
    return AttributeChoices(
        here=[choice for choice in choices if choice.id in hold],
        others=[choice for choice in choices if choice.id not in hold],
    )


def _attribute_ids_at(tree: TaxonomyTree, level_ids: Collection[str]) -> set[str]:
    levels = {level.id: level for level_id in level_ids for level in tree.path(level_id)}
    return {attribute.id for level in levels.values() for attribute in level.attributes}


def governing_definitions(
    tree: TaxonomyTree, attribute_id: str, level_ids: Collection[str] | None = None
) -> list[Attribute]:
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
