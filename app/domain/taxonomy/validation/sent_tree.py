"""A tree as a client sent it: read strictly, and the ids that its new records get.

What has the wrong type in JSON is reported at its place, by JSON pointer. Reading stops below the deepest level that is
allowed, and where there are more records or problems than can be reviewed. Blank ids and `new-…` become slugs of the
names; no new record gets the id of one that is left out and that products still name.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from app.domain.shared.addresses import slug
from app.domain.shared.problems import Problem
from app.domain.shared.schema import Flag, Items, Number, One, Record, Text, Whole
from app.domain.taxonomy.tree import Attribute, Level, TaxonomyTree

ROOT_LEVELS = "#/rootLevels"
DEEPEST = 8
MOST_RECORDS = 50_000  # Levels and attributes of a taxonomy.
MOST_VALUES_IN_ALL = 300_000  # Allowed values of all its attributes.
TOO_MANY_RECORDS = f"A taxonomy has at most {MOST_RECORDS:,} levels and attributes; these are more."
TOO_MANY_VALUES = f"A taxonomy has at most {MOST_VALUES_IN_ALL:,} allowed values; these are more."
MOST_PROBLEMS = 1_000  # Listed at once.
TOO_MANY_PROBLEMS = f"More than {MOST_PROBLEMS:,} things are not as they must be; the rest was not looked at."

LEVEL = Record(
    levelId=Text(allow_none=True),
    name=Text(allow_none=True),
    otherNames=Items(allow_none=True),
    description=Text(allow_none=True),
    parentLevelId=Text(allow_none=True),
    displayOrder=Number(allow_none=True),
    attributes=Items(allow_none=True),
    children=Items(allow_none=True),
)
VALIDATION = Record(
    mandatory=Flag(allow_none=True),
    minLength=Whole(allow_none=True),
    maxLength=Whole(allow_none=True),
    minValue=Number(allow_none=True),
    maxValue=Number(allow_none=True),
    pattern=Text(allow_none=True),
    errorMessage=Text(allow_none=True),
)
ATTRIBUTE = Record(
    attributeId=Text(allow_none=True),
    name=Text(allow_none=True),
    helpText=Text(allow_none=True),
    type=Text(required=True),
    unit=Text(allow_none=True),
    allowedValues=Items(allow_none=True),
    validation=One(VALIDATION, allow_none=True),
    displayOnProductPage=Flag(allow_none=True),
    displayLabel=Text(allow_none=True),
    displayOrder=Number(allow_none=True),
)
PLACES = ("parentLevelId", "displayOrder")
PARAMETERS = ("p", "q", "sort", "pageSizeOverride", "price_min", "price_max")
BUILT_IN_FACETS = ("manufacturer", "price", "rating", "onSale", "inStock", "featured")
INDEX_NAMES = ("category", "level", "collection", "sku", "createdAt")
TRACKING = ("gclid", "gbraid", "wbraid", "dclid", "fbclid", "msclkid", "mc_cid", "mc_eid", "_gl", "_ga")
RESERVED = frozenset(name.casefold() for name in (*PARAMETERS, *BUILT_IN_FACETS, *INDEX_NAMES, *TRACKING))
LONGEST_GENERATED_ID = 50
NEW = "new-"
InUse = Mapping[str, Collection[str]]  # By the id of a level that products may name, the attribute ids they may hold.
NOTHING_IN_USE: InUse = {}


@dataclass(frozen=True, slots=True)
class StructureProblem(Problem):
    """A problem of a tree. `record` points to the smallest level, attribute, allowed value or other name that holds
    it; it is "#" for a problem of the whole tree."""

    level_id: str | None = None
    attribute_id: str | None = None
    record: str = "#"

    def as_json(self) -> dict[str, str]:
        """Return the problem as JSON, with the row to mark."""
        rows = {"levelId": self.level_id, "attributeId": self.attribute_id}
        return Problem.as_json(self) | {name: row for name, row in rows.items() if row is not None}


@dataclass(frozen=True, slots=True)
class SentTree:
    """A tree with the places at which it was sent, by which its levels go: their ids may be blank, or twice there.
    `parents` are the ids that levels name as their parents, by place. `no_texts` are the places of allowed values and
    other names that are no texts, for which the tree has blank ones. `problems` are those of reading it; where one
    concerns the whole tree, there are no levels."""

    tree: TaxonomyTree
    parents: Mapping[str, str] = field(default_factory=dict)
    no_texts: frozenset[str] = frozenset()
    problems: Sequence[StructureProblem] = ()


def attribute_place(level_place: str, number: int) -> str:
    return f"{level_place}/attributes/{number}"


def value_place(attribute_place: str, number: int) -> str:
    return f"{attribute_place}/allowedValues/{number}"


def other_name_place(level_place: str, number: int) -> str:
    return f"{level_place}/otherNames/{number}"


def with_places(tree: TaxonomyTree) -> SentTree:
    """Return the tree with the places that its records would have in the stored form."""
    places: dict[str | None, str] = {}
    counts: dict[str | None, int] = {}
    levels: dict[str, Level] = {}
    for level in tree.levels.values():
        above = None if level.parent_id is None else places[level.parent_id]
        number = counts[level.parent_id] = counts.get(level.parent_id, -1) + 1
        place = f"{ROOT_LEVELS}/{number}" if above is None else f"{above}/children/{number}"
        places[level.id] = place
        levels[place] = level if above is None else replace(level, parent_id=above)
    return SentTree(TaxonomyTree(levels))


def read_sent_tree(raw: Sequence[Any], pointer: str = ROOT_LEVELS, is_placed: bool = True) -> SentTree:
    """Read a tree. Where it is not `is_placed`, parents and order that levels name are ignored."""
    reader = _Reader(is_placed)
    try:
        for number, item in enumerate(raw):
            reader.read_level(item, f"{pointer}/{number}", None, 1, number)
    except _TooLarge as too_large:
        refusal = StructureProblem("too_large", str(too_large), pointer, record="#")
        return SentTree(TaxonomyTree(), problems=[*reader.problems[:MOST_PROBLEMS], refusal])
    return SentTree(TaxonomyTree(reader.levels), reader.parents, frozenset(reader.no_texts), reader.problems)


def too_many_problems() -> StructureProblem:
    """Return the problem that stands for those that are not listed."""
    return StructureProblem("too_many_problems", TOO_MANY_PROBLEMS, ROOT_LEVELS, record="#")


class _TooLarge(Exception):
    """The error of a tree that is too large to read; its message is for people."""


class _Reader:
    def __init__(self, is_placed: bool) -> None:
        self.levels: dict[str, Level] = {}
        self.parents: dict[str, str] = {}
        self.no_texts: set[str] = set()
        self.problems: list[StructureProblem] = []
        self._is_placed = is_placed
        self._records = 0
        self._values = 0

    def read_level(self, raw: Any, place: str, above: str | None, depth: int, order: int) -> None:
        """Read a level with those below it. Of one that is too deep nothing below is read; validation refuses it."""
        self._count_record()
        if not self._is_placed and isinstance(raw, dict):
            raw = {name: value for name, value in raw.items() if name not in PLACES}
        found: list[Problem] = []
        fields = LEVEL.read(raw, place, found)
        level_id = _read_id(fields, "levelId")
        if found:
            self._note(found, level_id, "", place)
        if parent_id := _read_id(fields, "parentLevelId"):
            self.parents[place] = parent_id
        attributes = fields.get("attributes") or ()
        self.levels[place] = Level(
            id=level_id,
            name=_read_text(fields, "name"),
            parent_id=above,
            description=_read_text(fields, "description"),
            attributes=tuple(
                self._read_attribute(item, attribute_place(place, number), level_id, number)
                for number, item in enumerate(attributes)
            ),
            display_order=order,
            other_names=self._read_texts(fields.get("otherNames") or (), f"{place}/otherNames"),
        )
        for number, item in enumerate((fields.get("children") or ()) if depth <= DEEPEST else ()):
            self.read_level(item, f"{place}/children/{number}", place, depth + 1, number)

    def _read_attribute(self, raw: Any, place: str, level_id: str, order: int) -> Attribute:
        self._count_record()
        found: list[Problem] = []
        fields = ATTRIBUTE.read(raw, place, found)
        values = fields.get("allowedValues") or ()
        self._values += len(values)
        if self._values > MOST_VALUES_IN_ALL:
            raise _TooLarge(TOO_MANY_VALUES)
        attribute_id = _read_id(fields, "attributeId")
        if found:
            self._note(found, level_id, attribute_id, place)
        fields["attributeId"], fields["displayOrder"] = attribute_id, order
        fields["name"], fields["type"] = _read_text(fields, "name"), _read_text(fields, "type")
        fields["allowedValues"] = self._read_texts(values, f"{place}/allowedValues") if values else ()
        return Attribute.read(fields)

    def _read_texts(self, items: Sequence[Any], place: str) -> tuple[str, ...]:
        try:
            "".join(items)
        except TypeError:
            wrong = {number for number, item in enumerate(items) if not isinstance(item, str)}
            self.no_texts.update(f"{place}/{number}" for number in wrong)
            return tuple("" if number in wrong else item for number, item in enumerate(items))
        return tuple(items)

    def _count_record(self) -> None:
        self._records += 1
        if self._records > MOST_RECORDS:
            raise _TooLarge(TOO_MANY_RECORDS)

    def _note(self, found: Sequence[Problem], level_id: str, attribute_id: str, place: str) -> None:
        self.problems += [
            StructureProblem(p.code, p.message, p.pointer, level_id or None, attribute_id or None, place) for p in found
        ]
        if len(self.problems) > MOST_PROBLEMS:
            raise _TooLarge(TOO_MANY_PROBLEMS)


def _read_text(fields: Mapping[str, Any], name: str) -> str:
    return (fields.get(name) or "").strip()


def _read_id(fields: Mapping[str, Any], name: str) -> str:
    """Return an id as it was sent, "" for a blank one. White space around it stays, for validation to refuse."""
    sent: str = fields.get(name) or ""
    return sent if sent.strip() else ""


def is_reserved(attribute_id: str) -> bool:
    """Whether an attribute cannot have the id, since addresses and the index use it for something else."""
    folded = attribute_id.casefold()
    return folded in RESERVED or folded.startswith("utm_")


@dataclass(frozen=True, slots=True)
class NewIds:
    """The ids that new records of a sent tree get: of levels by their places, of attributes by the place of their level
    and their number on it. `replaced` are the new ids by the `new-…` ids that they replace."""

    levels: Mapping[str, str] = field(default_factory=dict)
    attributes: Mapping[tuple[str, int], str] = field(default_factory=dict)
    replaced: Mapping[str, str] = field(default_factory=dict)

    def of_level(self, place: str, level: Level) -> str:
        return self.levels.get(place, level.id)

    def of_attribute(self, level_place: str, number: int, attribute: Attribute) -> str:
        return self.attributes.get((level_place, number), attribute.id) if self.attributes else attribute.id


NO_NEW_IDS = NewIds()


def new_ids(tree: TaxonomyTree, existing: frozenset[str], in_use: InUse = NOTHING_IN_USE) -> NewIds:
    """Return the ids of the new records of a tree whose levels go by their places. `existing` ids are no new ones,
    whatever their form."""
    every = tree.levels.values()
    sent = {level.id for level in every}.union(attribute.id for level in every for attribute in level.attributes)
    if not any(_is_new(record_id, existing) for record_id in sent):
        return NO_NEW_IDS
    return _Naming(tree, existing, in_use).run()


def _is_new(record_id: str, existing: Collection[str]) -> bool:
    return not record_id or (record_id.startswith(NEW) and record_id not in existing)


class _TakenIds:
    """Ids that new records cannot get. A generated one never begins like the id of a new record."""

    def __init__(self, taken: Collection[str], avoids_reserved: bool = False) -> None:
        self._all = set(taken)
        self._avoids_reserved = avoids_reserved
        self._numbers: dict[str, int] = {}

    def fresh(self, name: str, fallback: str) -> str:
        """The name as an id, with the first number that makes it a free one."""
        wanted = slug(name, fallback)[:LONGEST_GENERATED_ID].rstrip("-")
        if wanted.startswith(NEW):
            wanted = "new_" + wanted.removeprefix(NEW)
        number = self._numbers.get(wanted, 1)
        joint = "_" if f"{wanted}-" == NEW else "-"
        while self._is_taken(found := wanted if number == 1 else f"{wanted}{joint}{number}"):
            number += 1
        self._numbers[wanted] = number
        self._all.add(found)
        return found

    def _is_taken(self, record_id: str) -> bool:
        return record_id in self._all or (self._avoids_reserved and is_reserved(record_id))


@dataclass(frozen=True, slots=True)
class _IdsAbove:
    """The attribute ids of the levels above, and those of new attributes among them by the `new-…` ids that they
    replaced."""

    ids: frozenset[str] = frozenset()
    replaced: Mapping[str, str] = field(default_factory=dict)


class _Naming:
    def __init__(self, tree: TaxonomyTree, existing: frozenset[str], in_use: InUse) -> None:
        self._tree = tree
        self._existing = existing
        self._in_use = in_use
        self._levels: dict[str, str] = {}
        self._attributes: dict[tuple[str, int], str] = {}
        self._replaced: dict[str, str] = {}
        self._left_behind: dict[str, set[str]] = {}

    def run(self) -> NewIds:
        taken = _TakenIds({level.id for level in self._tree.levels.values()} | self._in_use.keys())
        for place, level in self._tree.levels.items():
            if _is_new(level.id, self._existing):
                self._levels[place] = fresh = taken.fresh(level.name, "level")
                if level.id:
                    self._replaced[level.id] = fresh
        roots = self._tree.siblings(None)
        for place in roots if self._in_use else ():
            self._find_left_behind(place, frozenset())
        for place in roots:
            self._name_attributes_of_branch(place, _IdsAbove())
        return NewIds(self._levels, self._attributes, self._replaced)

    def _find_left_behind(self, place: str, above: frozenset[str]) -> set[str]:
        """Note, for a level and those below it, the attribute ids that products there may hold values of and that
        nothing defines there any more."""
        level = self._tree.levels[place]
        here = above | {one.id for one in level.attributes if not _is_new(one.id, self._existing)}
        left = set(self._in_use.get(self._levels.get(place, level.id), ())) - here
        for child in self._tree.siblings(place):
            left |= self._find_left_behind(child, here)
        self._left_behind[place] = left
        return left

    def _name_attributes_of_branch(self, place: str, above: _IdsAbove) -> None:
        if self._tree.levels[place].attributes:
            above = self._name_attributes(place, above)
            self._replaced.update(above.replaced)
        for child in self._tree.siblings(place):
            self._name_attributes_of_branch(child, above)

    def _name_attributes(self, place: str, above: _IdsAbove) -> _IdsAbove:
        """Give the new attributes of a level their ids, and return the ids for the levels below. One that was sent with
        the same id as a new attribute above overrides that."""
        attributes = self._tree.levels[place].attributes
        own = {attribute.id for attribute in attributes if not _is_new(attribute.id, self._existing)}
        taken = _TakenIds(above.ids.union(own, self._left_behind.get(place, ())), avoids_reserved=True)
        replaced: dict[str, str] = {}
        for number, attribute in enumerate(attributes):
            if not _is_new(attribute.id, self._existing):
                continue
            named = above.replaced.get(attribute.id)
            if named is None or named in own:
                named = taken.fresh(attribute.name, "attribute")
            own.add(named)
            self._attributes[place, number] = named
            if attribute.id:
                replaced[attribute.id] = named
        return _IdsAbove(above.ids | own, {**above.replaced, **replaced})
