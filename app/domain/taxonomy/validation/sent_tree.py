"""A tree as a client sent it, read strictly: what has the wrong type in JSON is reported at its place, by JSON pointer.

Reading stops below the deepest level that is allowed, and where there are more records or problems than can be
reviewed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from app.domain.shared.problems import Problem
from app.domain.shared.schema import Flag, Items, Number, One, Record, Text, Whole
from app.domain.taxonomy.tree import Attribute, Level, TaxonomyTree

ROOT_LEVELS = "#/rootLevels"
DEEPEST = 8
MOST_RECORDS = 50_000  # Levels and attributes of a taxonomy.
MOST_VALUES_IN_ALL = 300_000  # Allowed values of all its attributes.
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
            raise _TooLarge(f"A taxonomy has at most {MOST_VALUES_IN_ALL:,} allowed values; these are more.")
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
            raise _TooLarge(f"A taxonomy has at most {MOST_RECORDS:,} levels and attributes; these are more.")

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
