"""A taxonomy as a client sent it: levels and attributes with the place each was read from, not yet checked.

Reading stops below the deepest level that is allowed, and where there are more records or problems than can be
reviewed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from app.domain.shared.problems import Problem
from app.domain.shared.schema import Flag, Items, Number, One, Record, Text, Whole
from app.domain.taxonomy.levels.attribute import AttributeType

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


@dataclass(frozen=True, slots=True)
class StructureProblem(Problem):
    """A problem of a tree. `record` points to the smallest level, attribute, allowed value or other name that holds
    it."""

    level_id: str | None = None
    attribute_id: str | None = None
    record: str = "#"

    def as_json(self) -> dict[str, str]:
        """Return the problem as JSON, with the row to mark."""
        rows = {"levelId": self.level_id, "attributeId": self.attribute_id}
        return Problem.as_json(self) | {name: row for name, row in rows.items() if row is not None}


TYPES = {kind.value: kind for kind in AttributeType}


@dataclass(slots=True)
class AttributeDraft:
    """An attribute as sent. `allowed_values` are by their places in what was sent."""

    at: str
    sent_id: str
    id: str
    name: str
    type: str
    allowed_values: dict[int, Any]
    fields: dict[str, Any]
    validation: dict[str, Any]

    @property
    def known_type(self) -> AttributeType | None:
        return TYPES.get(self.type)

    def value_at(self, place: int) -> str:
        return f"{self.at}/allowedValues/{place}"


@dataclass(slots=True)
class LevelDraft:
    """A level as sent. `sent_id` is its id at the sender; a new one gets another `id`. `other_names` are by their
    places in what was sent."""

    at: str
    sent_id: str
    id: str
    name: str
    description: str
    parent_id: str
    other_names: dict[int, Any] = field(default_factory=dict)
    attributes: list[AttributeDraft] = field(default_factory=list)
    children: list[LevelDraft] = field(default_factory=list)

    def other_name_at(self, place: int) -> str:
        return f"{self.at}/otherNames/{place}"


def every_level(levels: list[LevelDraft]) -> Iterator[LevelDraft]:
    """Yield every level in tree order."""
    for level in levels:
        yield level
        yield from every_level(level.children)


def read_levels(raw: Sequence[Any], pointer: str = "#/rootLevels") -> tuple[list[LevelDraft], list[StructureProblem]]:
    """Return the drafts, and the problems of what is no level or attribute at all. Where there is too much to read,
    there are no drafts, and one of the problems is of the whole tree."""
    reader = _Reader()
    try:
        return [reader.level(item, f"{pointer}/{index}", 1) for index, item in enumerate(raw)], reader.problems
    except _TooMuch as too_much:
        refusal = StructureProblem("too_large", str(too_much), pointer, record="#")
        return [], [*reader.problems[:MOST_PROBLEMS], refusal]


def too_many_problems() -> StructureProblem:
    """Return the problem that stands for those that are not listed."""
    return StructureProblem("too_many_problems", TOO_MANY_PROBLEMS, "#/rootLevels", record="#")


class _TooMuch(Exception):
    """The error of a tree that is too large to read; its message is for people."""


class _Reader:
    def __init__(self) -> None:
        self.problems: list[StructureProblem] = []
        self._records = 0
        self._values = 0

    def level(self, raw: Any, at: str, depth: int) -> LevelDraft:
        """Read a level. Of one that is too deep nothing below is read; validation refuses it."""
        self._count()
        found: list[Problem] = []
        fields = LEVEL.read(raw, at, found)
        level_id = _id(fields, "levelId")
        level = LevelDraft(
            at=at,
            sent_id=level_id,
            id=level_id,
            name=_text(fields, "name"),
            description=_text(fields, "description"),
            parent_id=_id(fields, "parentLevelId"),
            other_names=dict(enumerate(fields.get("otherNames") or ())),
        )
        if found:
            self._note(found, level.id, "", at)
        for index, item in enumerate(fields.get("attributes") or ()):
            level.attributes.append(self._attribute(item, f"{at}/attributes/{index}", level.id))
        for index, item in enumerate((fields.get("children") or ()) if depth <= DEEPEST else ()):
            level.children.append(self.level(item, f"{at}/children/{index}", depth + 1))
        return level

    def _attribute(self, raw: Any, at: str, level_id: str) -> AttributeDraft:
        self._count()
        found: list[Problem] = []
        fields = ATTRIBUTE.read(raw, at, found)
        self._count_values(fields.get("allowedValues") or ())
        attribute_id, rules = _id(fields, "attributeId"), fields.get("validation") or {}
        draft = AttributeDraft(
            at=at,
            sent_id=attribute_id,
            id=attribute_id,
            name=_text(fields, "name"),
            type=_text(fields, "type"),
            allowed_values=dict(enumerate(fields.get("allowedValues") or ())),
            fields=fields,
            validation={name: value for name, value in rules.items() if _says_something(value)},
        )
        if found:
            self._note(found, level_id, draft.id, at)
        return draft

    def _count(self) -> None:
        self._records += 1
        if self._records > MOST_RECORDS:
            raise _TooMuch(f"A taxonomy has at most {MOST_RECORDS:,} levels and attributes; these are more.")

    def _count_values(self, values: Sequence[Any]) -> None:
        self._values += len(values)
        if self._values > MOST_VALUES_IN_ALL:
            raise _TooMuch(f"A taxonomy has at most {MOST_VALUES_IN_ALL:,} allowed values; these are more.")

    def _note(self, found: Sequence[Problem], level_id: str, attribute_id: str, at: str) -> None:
        self.problems += [
            StructureProblem(p.code, p.message, p.pointer, level_id or None, attribute_id or None, at) for p in found
        ]
        if len(self.problems) > MOST_PROBLEMS:
            raise _TooMuch(TOO_MANY_PROBLEMS)


def _says_something(value: Any) -> bool:
    """Whether a value of a rule sets anything: None, False and "" do not, 0 does."""
    return not (value is None or value is False or value == "")


def _text(fields: Mapping[str, Any], name: str) -> str:
    return (fields.get(name) or "").strip()


def _id(fields: Mapping[str, Any], name: str) -> str:
    """Return an id as it was sent, "" for a blank one. White space around it stays, for validation to refuse."""
    sent: str = fields.get(name) or ""
    return sent if sent.strip() else ""
