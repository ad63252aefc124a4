"""A taxonomy as the shop queries it: levels by id, the path to each, and the typed attributes that hold there. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from typing import Any

from app.domain.taxonomy.renames import Renames
from app.domain.taxonomy.stored_tree import made_once

MOST_SHOWN = 20


class AttributeType(StrEnum):
    STRING = "STRING"
    NUMBER = "NUMBER"
    BOOLEAN = "BOOLEAN"
    SINGLE_SELECT = "SINGLE_SELECT"
    MULTI_SELECT = "MULTI_SELECT"

    @property
    def is_choice(self) -> bool:
        return self in (AttributeType.SINGLE_SELECT, AttributeType.MULTI_SELECT)

    @property
    def has_named_values(self) -> bool:
        """Whether the values are names that a page can be about, which yes, no and numbers are not."""
        return self not in (AttributeType.BOOLEAN, AttributeType.NUMBER)


@dataclass(frozen=True, slots=True)
class Validation:
    """Bounds of a value. Lengths count code points; `pattern` (RE2) must match the whole value."""

    mandatory: bool = False
    min_length: int | None = None
    max_length: int | None = None
    min_value: float | None = None
    max_value: float | None = None
    pattern: str | None = None
    error_message: str | None = None

    @classmethod
    def read(cls, stored: Mapping[str, Any]) -> Validation:
        return cls(
            mandatory=bool(stored.get("mandatory")),
            min_length=stored.get("minLength"),
            max_length=stored.get("maxLength"),
            min_value=stored.get("minValue"),
            max_value=stored.get("maxValue"),
            pattern=stored.get("pattern"),
            error_message=stored.get("errorMessage"),
        )


NO_RULES = Validation()


@dataclass(frozen=True, slots=True)
class Attribute:
    """A typed attribute. `allowed_values` holds the choices of a choice attribute in their order and is empty for the
    others. `display_label` takes the place of the name on product pages, `unit` is that of a number. `former` maps
    former words of its choices to the present ones; only a tree for classifying has it
    (app/domain/taxonomy/taxonomies.py)."""

    id: str
    name: str
    type: AttributeType
    allowed_values: tuple[str, ...] = ()
    validation: Validation = NO_RULES
    display_on_product_page: bool = False
    display_label: str | None = None
    display_order: int = 0
    help_text: str | None = None
    unit: str | None = None
    former: Mapping[str, str] = field(default_factory=dict, compare=False)

    @property
    def label(self) -> str:
        return self.display_label or self.name

    @property
    def mandatory(self) -> bool:
        return self.validation.mandatory

    def choice(self, text: str) -> str | None:
        """Return the allowed value that a text means, in its own spelling; None for no allowed value. An allowed value
        means itself, even where it was the former word of another."""
        if text in self.allowed_values:
            return text
        return self._spell_like(text, self.allowed_values) or self._choice_by_former_word(text)

    def _choice_by_former_word(self, text: str) -> str | None:
        if not self.former:
            return None
        former = text if text in self.former else self._spell_like(text, self.former)
        renamed = self.former[former] if former is not None else None
        return renamed if renamed in self.allowed_values else None

    @staticmethod
    def _spell_like(text: str, words: Iterable[str]) -> str | None:
        folded = text.casefold()
        return next((word for word in words if word.casefold() == folded), None)

    @classmethod
    def read(cls, stored: Mapping[str, Any]) -> Attribute:
        """Read an attribute from the stored form, which has the specification's field names."""
        return cls(
            id=stored["attributeId"],
            name=stored["name"],
            type=AttributeType(stored["type"]),
            allowed_values=tuple(stored.get("allowedValues") or ()),
            validation=Validation.read(rules) if (rules := stored.get("validation")) else NO_RULES,
            display_on_product_page=bool(stored.get("displayOnProductPage")),
            display_label=stored.get("displayLabel"),
            display_order=stored.get("displayOrder") or 0,
            help_text=stored.get("helpText"),
            unit=stored.get("unit"),
        )


@dataclass(frozen=True, slots=True)
class Level:
    """A kind of product. `attributes` are its own; those of the levels above hold as well. `other_names` are what else
    people call it."""

    id: str
    name: str
    parent_id: str | None = None
    description: str = ""
    attributes: tuple[Attribute, ...] = ()
    children: tuple[Level, ...] = ()
    display_order: int = 0
    other_names: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Every name, its own first."""
        return self.name, *self.other_names


class TaxonomyTree:
    """The tree of a taxonomy. `levels` come in tree order, every level before those below it. `former_words` are by the
    ids of a product's level and of an attribute."""

    def __init__(self, roots: Sequence[Level] = (), former_words: Renames | None = None) -> None:
        self.roots = tuple(roots)
        self.levels: dict[str, Level] = {level.id: level for root in roots for level in _with_those_below(root)}
        self._applicable: dict[str, Mapping[str, Attribute]] = {}
        self._former_words = former_words or {}

    @staticmethod
    def parse(root_levels: Sequence[Mapping[str, Any]]) -> TaxonomyTree:
        """Parse a tree from the stored form, which app/domain/taxonomy/validation/structure.py has checked."""
        return _tree(root_levels)

    def knowing(self, former_words: Renames) -> TaxonomyTree:
        """The same tree, whose attributes know these former words of their values and no others."""
        return TaxonomyTree(self.roots, former_words)

    def path(self, level_id: str) -> list[Level]:
        """The levels from the root down to this one; empty for an unknown level."""
        found: list[Level] = []
        level = self.levels.get(level_id)
        while level is not None:
            found.append(level)
            level = self.levels.get(level.parent_id) if level.parent_id is not None else None
        return found[::-1]

    def path_ids(self, level_id: str) -> list[str]:
        return [level.id for level in self.path(level_id)]

    def below(self, level_id: str) -> list[str]:
        """The ids of a level and of all below it; empty for an unknown level."""
        level = self.levels.get(level_id)
        return [] if level is None else [found.id for found in _with_those_below(level)]

    def applicable_attributes(self, level_id: str) -> Mapping[str, Attribute]:
        """Return the attributes by id, those of every level from the root down; the nearest definition of an id wins
        and takes its place in the order. Empty for an unknown level."""
        known = self._applicable.get(level_id)
        if known is None:
            nearest = {attribute.id: attribute for level in self.path(level_id) for attribute in level.attributes}
            known = {key: self._with_former_words(level_id, attribute) for key, attribute in nearest.items()}
            self._applicable[level_id] = known
        return known

    def rolled_up(self, direct: Mapping[str, int] | Mapping[str | None, int]) -> dict[str, int]:
        """Return for each level the sum of its own number and those of all levels below; numbers of unknown levels do
        not count."""
        sums = {level_id: direct.get(level_id, 0) for level_id in self.levels}
        for level in reversed(self.levels.values()):
            if level.parent_id is not None:
                sums[level.parent_id] += sums[level.id]
        return sums

    def attributes_by_id(self) -> Mapping[str, Sequence[Attribute]]:
        """Every definition of every attribute id, in tree order: the same id on several levels is one facet."""
        return self._definitions

    def attribute_names(self) -> dict[str, str]:
        """Return the name of every attribute id, that of its first definition."""
        return {attribute_id: definitions[0].name for attribute_id, definitions in self._definitions.items()}

    @cached_property
    def _definitions(self) -> Mapping[str, Sequence[Attribute]]:
        found: dict[str, list[Attribute]] = {}
        for level in self.levels.values():
            for attribute in level.attributes:
                found.setdefault(attribute.id, []).append(self._with_former_words(level.id, attribute))
        return found

    def governed(self, level_id: str, attribute_id: str) -> list[str]:
        """The ids of the levels for which the definition on one level is the nearest; empty for an unknown level."""
        found: list[str] = []
        waiting = [self.levels[level_id]] if level_id in self.levels else []
        while waiting:
            level = waiting.pop()
            found.append(level.id)
            waiting += [child for child in level.children if all(own.id != attribute_id for own in child.attributes)]
        return found

    def _with_former_words(self, level_id: str, attribute: Attribute) -> Attribute:
        words = self._former_words.get((level_id, attribute.id))
        return replace(attribute, former=words) if words else attribute


@made_once
def _tree(root_levels: Sequence[Mapping[str, Any]]) -> TaxonomyTree:
    return TaxonomyTree([_level(stored, None, order) for order, stored in enumerate(root_levels)])


def _level(stored: Mapping[str, Any], parent_id: str | None, order: int) -> Level:
    level_id = stored["levelId"]
    return Level(
        id=level_id,
        name=stored["name"],
        parent_id=parent_id,
        description=stored.get("description") or "",
        attributes=tuple(Attribute.read(attribute) for attribute in stored.get("attributes") or ()),
        children=tuple(_level(child, level_id, place) for place, child in enumerate(stored.get("children") or ())),
        display_order=order,
        other_names=tuple(stored.get("otherNames") or ()),
    )


def _with_those_below(level: Level) -> Iterator[Level]:
    yield level
    for child in level.children:
        yield from _with_those_below(child)


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
