"""The tree of a taxonomy: its levels by id, the typed attributes of each, and its stored form (JSON), in and out. Pure.

There is one form of a tree. The shop queries it, editors change it (each edit returns a new tree), saves compare and
check it. So it also holds what is not valid yet, such as a name that is missing: whether a tree can be stored is for
app/domain/taxonomy/validation to say.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property

from app.domain.taxonomy.stored_tree import Levels, Record, StoredLevels, made_once

Words = Mapping[str, str]  # Other words by value.
Renames = Mapping[tuple[str, str], Words]  # By the id of a product's level and that of an attribute.
RENAMED_VALUES = "renamedValues"
MERGED_VALUES = "mergedValues"


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


TYPES = {kind.value: kind for kind in AttributeType}


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
    def read(cls, stored: Record) -> Validation:
        if stored == {"mandatory": True}:
            return MANDATORY  # As most have it.
        return cls(
            mandatory=bool(stored.get("mandatory")),
            min_length=stored.get("minLength"),
            max_length=stored.get("maxLength"),
            min_value=stored.get("minValue"),
            max_value=stored.get("maxValue"),
            pattern=stored.get("pattern") or None,
            error_message=stored.get("errorMessage") or None,
        )

    def as_json(self) -> Record:
        """Return the rules that are set."""
        bounds = {
            "minLength": self.min_length,
            "maxLength": self.max_length,
            "minValue": self.min_value,
            "maxValue": self.max_value,
            "pattern": self.pattern,
            "errorMessage": self.error_message,
        }
        return ({"mandatory": True} if self.mandatory else {}) | {
            name: bound for name, bound in bounds.items() if bound is not None
        }


NO_RULES = Validation()
MANDATORY = Validation(mandatory=True)


@dataclass(frozen=True, slots=True)
class Attribute:
    """A typed attribute. `allowed_values` holds the choices of a choice attribute in their order and is empty for the
    others. `display_label` takes the place of the name on product pages, `unit` is that of a number. `unknown_type` is
    what stands in place of a type where that is none; `type` is STRING then.

    Of a draft, `renamed_values` maps new values to the stored ones that they replace, and `merged_values` stored ones
    to the values that they become. `former` maps former words of the choices to the present ones; only a tree for
    classifying has it (app/domain/taxonomy/taxonomies.py)."""

    id: str
    name: str
    type: AttributeType
    allowed_values: tuple[str, ...] = ()
    validation: Validation = NO_RULES
    display_on_product_page: bool = False
    display_label: str | None = None
    display_order: float = 0
    help_text: str | None = None
    unit: str | None = None
    unknown_type: str | None = None
    renamed_values: Words = field(default_factory=dict, hash=False)
    merged_values: Words = field(default_factory=dict, hash=False)
    former: Words = field(default_factory=dict, compare=False)

    @property
    def label(self) -> str:
        return self.display_label or self.name

    @property
    def mandatory(self) -> bool:
        return self.validation.mandatory

    @property
    def written_type(self) -> str:
        """The type as JSON has it, also where there is none of that name."""
        return self.type.value if self.unknown_type is None else self.unknown_type

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
    def read(cls, stored: Record, place: float = 0) -> Attribute:
        """Read an attribute from JSON with the specification's field names. `place` is that of one that names none."""
        get = stored.get
        kind, order, rules = TYPES.get(stored["type"]), get("displayOrder"), get("validation")
        return cls(
            id=stored["attributeId"],
            name=stored["name"],
            type=kind or AttributeType.STRING,
            allowed_values=tuple(get("allowedValues") or ()),
            validation=Validation.read(rules) if rules else NO_RULES,
            display_on_product_page=bool(get("displayOnProductPage")),
            display_label=get("displayLabel"),
            display_order=place if order is None else order,
            help_text=get("helpText"),
            unit=get("unit"),
            unknown_type=None if kind else stored["type"],
            renamed_values=get(RENAMED_VALUES) or {},
            merged_values=get(MERGED_VALUES) or {},
        )

    def as_json(self) -> Record:
        """Return the attribute as JSON, without what is empty."""
        stored: Record = {
            "attributeId": self.id,
            "name": self.name,
            "type": self.written_type,
            "displayOnProductPage": self.display_on_product_page,
            "displayOrder": self.display_order,
        }
        if self.help_text:
            stored["helpText"] = self.help_text
        if self.unit:
            stored["unit"] = self.unit
        if self.display_label:
            stored["displayLabel"] = self.display_label
        if self.allowed_values:
            stored["allowedValues"] = list(self.allowed_values)
        if self.validation is not NO_RULES and (rules := self.validation.as_json()):
            stored["validation"] = rules
        if self.renamed_values:
            stored[RENAMED_VALUES] = dict(self.renamed_values)
        if self.merged_values:
            stored[MERGED_VALUES] = dict(self.merged_values)
        return stored


def in_place_order(attributes: Iterable[Attribute]) -> tuple[Attribute, ...]:
    """Return attributes of a level in the order of their places."""
    return tuple(sorted(attributes, key=lambda attribute: attribute.display_order))


@dataclass(frozen=True, slots=True)
class Level:
    """A kind of product. `attributes` are its own, in the order of their `display_order`; those of the levels above
    hold as well. `other_names` are what else people call it. Edits put levels and attributes between others by a
    fraction as `display_order`."""

    id: str
    name: str
    parent_id: str | None = None
    description: str = ""
    attributes: tuple[Attribute, ...] = ()
    display_order: float = 0
    other_names: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Every name, its own first."""
        return self.name, *self.other_names

    def attribute(self, attribute_id: str) -> Attribute | None:
        """Return its own attribute with an id."""
        return next((attribute for attribute in self.attributes if attribute.id == attribute_id), None)

    @classmethod
    def read(cls, stored: Record, parent_id: str | None, display_order: float) -> Level:
        """Read a level from JSON. Its place is that in the tree, not in its fields."""
        return cls(
            id=stored["levelId"],
            name=stored["name"],
            parent_id=parent_id,
            description=stored.get("description") or "",
            attributes=tuple(
                Attribute.read(found, place) for place, found in enumerate(stored.get("attributes") or ())
            ),
            display_order=display_order,
            other_names=tuple(stored.get("otherNames") or ()),
        )

    def as_json(self) -> Record:
        """Return the level as JSON, without those below it."""
        return {
            "levelId": self.id,
            "name": self.name,
            "otherNames": list(self.other_names),
            "description": self.description,
            "parentLevelId": self.parent_id,
            "displayOrder": self.display_order,
            "attributes": [attribute.as_json() for attribute in self.attributes],
        }


@dataclass(frozen=True)
class TaxonomyTree:
    """The tree of a taxonomy, which never changes. `levels` are by id, in tree order: every level before those below it
    and siblings by their `display_order`. (As long as a client's tree is checked, they and `parent_id` are by place
    instead: validation/sent_tree.py.) `former_words` are by the ids of a product's level and of an attribute. `made`
    caches what was computed from the tree (`made_once`)."""

    levels: Mapping[str, Level] = field(default_factory=dict)
    former_words: Renames = field(default_factory=dict, compare=False)
    made: dict[object, object] = field(default_factory=dict, init=False, compare=False, repr=False)

    @classmethod
    def of(cls, levels: Iterable[Level]) -> TaxonomyTree:
        """Return the tree of levels that come in tree order."""
        return cls({level.id: level for level in levels})

    @staticmethod
    def parse(root_levels: Levels) -> TaxonomyTree:
        """Parse a tree from the stored form. The nesting says the parents and places."""
        return _parse(root_levels)

    def as_stored(self) -> list[Record]:
        """Return the stored form, in which places are whole numbers."""
        return self._nest(None)

    def _nest(self, parent_id: str | None) -> list[Record]:
        nested = []
        for place, level_id in enumerate(self.children.get(parent_id, ())):
            level = self.levels[level_id].as_json() | {"displayOrder": place}
            if not level["otherNames"]:
                del level["otherNames"]
            for number, attribute in enumerate(level["attributes"]):
                attribute["displayOrder"] = number
            nested.append(level | {"children": self._nest(level_id)})
        return nested

    def with_former_words(self, former_words: Renames) -> TaxonomyTree:
        """The same tree, whose attributes know these former words of their values and no others."""
        return TaxonomyTree(self.levels, former_words)

    def with_level(self, level: Level) -> TaxonomyTree:
        """Return the tree with a level in place of the one with its id; a new one comes last."""
        return TaxonomyTree({**self.levels, level.id: level})

    def in_order(self) -> TaxonomyTree:
        """Return the tree with its levels in tree order, whatever order they are in."""
        by_place = TaxonomyTree.of(sorted(self.levels.values(), key=lambda level: level.display_order))
        ordered: list[Level] = []
        waiting = [*by_place.children.get(None, ())][::-1]
        while waiting:
            level_id = waiting.pop()
            ordered.append(self.levels[level_id])
            waiting += reversed(by_place.children.get(level_id, ()))
        return TaxonomyTree.of(ordered)

    def changed_since(self, base: TaxonomyTree) -> list[Level]:
        """Return the levels that are not the same objects as in `base`, in tree order: those that an edit changed."""
        return [level for level_id, level in self.levels.items() if base.levels.get(level_id) is not level]

    def sharing(self, other: TaxonomyTree) -> TaxonomyTree:
        """Return an equal tree whose levels are the very objects of another tree where they are equal, so that whoever
        compares the two finds most at a glance."""
        known = other.levels
        return TaxonomyTree.of(known[one.id] if known.get(one.id) == one else one for one in self.levels.values())

    @cached_property
    def children(self) -> Mapping[str | None, Sequence[str]]:
        """The ids of the levels directly below each level, in their order, by its id (None for the top)."""
        children: dict[str | None, list[str]] = {}
        for level_id, level in self.levels.items():
            children.setdefault(level.parent_id, []).append(level_id)
        return children

    def siblings(self, parent_id: str | None) -> list[str]:
        """The ids of the levels directly below one, in their order."""
        return list(self.children.get(parent_id, ()))

    def definition(self, level_id: str, attribute_id: str) -> Attribute | None:
        """Return the level's own definition of an attribute; None where there is none, or no such level."""
        level = self.levels.get(level_id)
        return level.attribute(attribute_id) if level else None

    def offered_values(self, level_id: str, attribute_id: str) -> Sequence[str]:
        """Return the allowed values of the level's own definition of an attribute; none where there is no such one."""
        attribute = self.definition(level_id, attribute_id)
        return attribute.allowed_values if attribute else ()

    def path(self, level_id: str | None) -> list[Level]:
        """The levels from the root down to this one; empty for an unknown level and for None."""
        found: list[Level] = []
        level = self.levels.get(level_id) if level_id is not None else None
        while level is not None:
            found.append(level)
            level = self.levels.get(level.parent_id) if level.parent_id is not None else None
        return found[::-1]

    def path_ids(self, level_id: str | None) -> list[str]:
        return [level.id for level in self.path(level_id)]

    def below(self, level_id: str) -> list[str]:
        """The ids of a level and of all below it, in tree order; empty for an unknown level."""
        found: list[str] = []
        waiting = [level_id] if level_id in self.levels else []
        while waiting:
            found.append(waiting.pop())
            waiting += reversed(self.children.get(found[-1], ()))
        return found

    def applicable_attributes(self, level_id: str) -> Mapping[str, Attribute]:
        """Return the attributes by id, those of every level from the root down; the nearest definition of an id wins
        and takes its place in the order. Empty for an unknown level."""
        known = self._applicable.get(level_id)
        if known is None:
            nearest = {attribute.id: attribute for level in self.path(level_id) for attribute in level.attributes}
            known = {key: self._with_former_words(level_id, attribute) for key, attribute in nearest.items()}
            self._applicable[level_id] = known
        return known

    @cached_property
    def _applicable(self) -> dict[str, Mapping[str, Attribute]]:
        return {}

    def rolled_up(self, direct: Mapping[str, int] | Mapping[str | None, int]) -> dict[str, int]:
        """Return for each level the sum of its own number and those of all levels below; numbers of unknown levels do
        not count."""
        sums = {level_id: direct.get(level_id, 0) for level_id in self.levels}
        for level in reversed([*self.levels.values()]):
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

    def governed_levels(self, level_id: str, attribute_id: str) -> list[str]:
        """The ids of the levels for which the definition on one level is the nearest: that level and those below it
        down to the next definition; empty for an unknown level."""
        found: list[str] = []
        waiting = [level_id] if level_id in self.levels else []
        while waiting:
            found.append(waiting.pop())
            below = self.children.get(found[-1], ())
            waiting += [child for child in below if self.levels[child].attribute(attribute_id) is None]
        return found

    def _with_former_words(self, level_id: str, attribute: Attribute) -> Attribute:
        words = self.former_words.get((level_id, attribute.id))
        return replace(attribute, former=words) if words else attribute


@made_once
def _parse(root_levels: Levels) -> TaxonomyTree:
    levels: dict[str, Level] = {}

    def read(siblings: Levels, parent_id: str | None) -> None:
        for place, stored in enumerate(siblings):
            level = Level.read(stored, parent_id, place)
            levels[level.id] = level
            read(stored.get("children") or (), level.id)

    read(root_levels, None)
    return TaxonomyTree(levels)


def stored_levels(tree: TaxonomyTree) -> StoredLevels:
    """Return the stored form of a valid tree, which is parsed to the tree itself."""
    levels = StoredLevels(tree.as_stored())
    levels.made[_parse.__wrapped__] = tree  # type: ignore[attr-defined]
    return levels
