"""A taxonomy as somebody sent it: levels and attributes with the place each was read from, not yet checked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from app.domain.shared.problems import Problem
from app.domain.shared.shapes import Field, Kind, Shape, read_fields
from app.domain.taxonomy.attribute import AttributeType

LEVEL: Shape = {
    "levelId": Field(Kind.TEXT, nullable=True),
    "name": Field(Kind.TEXT, nullable=True),
    "description": Field(Kind.TEXT, nullable=True),
    "parentLevelId": Field(Kind.TEXT, nullable=True),
    "displayOrder": Field(Kind.NUMBER, nullable=True),
    "attributes": Field(Kind.LIST, nullable=True),
    "children": Field(Kind.LIST, nullable=True),
}
ATTRIBUTE: Shape = {
    "attributeId": Field(Kind.TEXT, nullable=True),
    "name": Field(Kind.TEXT, nullable=True),
    "helpText": Field(Kind.TEXT, nullable=True),
    "type": Field(Kind.TEXT, required=True),
    "allowedValues": Field(Kind.LIST, nullable=True),
    "validation": Field(Kind.OBJECT, nullable=True),
    "displayOnProductPage": Field(Kind.FLAG, nullable=True),
    "displayLabel": Field(Kind.TEXT, nullable=True),
    "displayOrder": Field(Kind.NUMBER, nullable=True),
}
VALIDATION: Shape = {
    "mandatory": Field(Kind.FLAG, nullable=True),
    "minLength": Field(Kind.WHOLE, nullable=True),
    "maxLength": Field(Kind.WHOLE, nullable=True),
    "minValue": Field(Kind.NUMBER, nullable=True),
    "maxValue": Field(Kind.NUMBER, nullable=True),
    "pattern": Field(Kind.TEXT, nullable=True),
    "errorMessage": Field(Kind.TEXT, nullable=True),
}


@dataclass(frozen=True, slots=True)
class StructureProblem(Problem):
    """A problem of a tree. `record` points to the smallest level, attribute or allowed value that holds it."""

    level_id: str | None = None
    attribute_id: str | None = None
    record: str = "#"

    def as_json(self) -> dict[str, str]:
        """Names the row to mark as well."""
        rows = {"levelId": self.level_id, "attributeId": self.attribute_id}
        return Problem.as_json(self) | {name: row for name, row in rows.items() if row is not None}


@dataclass(slots=True)
class AllowedValue:
    at: str
    value: Any


@dataclass(slots=True)
class AttributeDraft:
    at: str
    id: str
    name: str
    type: str
    allowed_values: list[AllowedValue]
    fields: dict[str, Any]
    validation: dict[str, Any]

    @property
    def known_type(self) -> AttributeType | None:
        return AttributeType(self.type) if self.type in AttributeType.__members__ else None

    @property
    def has_generated_id(self) -> bool:
        return _is_blank(self.id)


@dataclass(slots=True)
class LevelDraft:
    at: str
    id: str
    name: str
    description: str
    parent_id: str
    attributes: list[AttributeDraft] = field(default_factory=list)
    children: list[LevelDraft] = field(default_factory=list)

    @property
    def has_generated_id(self) -> bool:
        return _is_blank(self.id)


def _is_blank(record_id: str) -> bool:
    return not record_id or record_id.startswith("new-")


def every_level(levels: list[LevelDraft]) -> Iterator[LevelDraft]:
    """In tree order."""
    for level in levels:
        yield level
        yield from every_level(level.children)


def read_levels(raw: list[Any], pointer: str = "#/rootLevels") -> tuple[list[LevelDraft], list[StructureProblem]]:
    """The drafts, and what cannot be a level or an attribute at all."""
    problems: list[StructureProblem] = []
    return [_level(item, f"{pointer}/{index}", problems) for index, item in enumerate(raw)], problems


def _level(raw: Any, at: str, problems: list[StructureProblem]) -> LevelDraft:
    found: list[Problem] = []
    fields = read_fields(raw, LEVEL, at, found)
    level = LevelDraft(
        at=at,
        id=_text(fields, "levelId"),
        name=_text(fields, "name"),
        description=_text(fields, "description"),
        parent_id=_text(fields, "parentLevelId"),
    )
    problems += [StructureProblem(p.code, p.message, p.pointer, level.id or None, None, at) for p in found]
    for index, item in enumerate(fields.get("attributes") or []):
        level.attributes.append(_attribute(item, f"{at}/attributes/{index}", level.id, problems))
    for index, item in enumerate(fields.get("children") or []):
        level.children.append(_level(item, f"{at}/children/{index}", problems))
    return level


def _attribute(raw: Any, at: str, level_id: str, problems: list[StructureProblem]) -> AttributeDraft:
    found: list[Problem] = []
    fields = read_fields(raw, ATTRIBUTE, at, found)
    validation = read_fields(fields.get("validation") or {}, VALIDATION, f"{at}/validation", found)
    allowed = fields.get("allowedValues") or []
    draft = AttributeDraft(
        at=at,
        id=_text(fields, "attributeId"),
        name=_text(fields, "name"),
        type=_text(fields, "type"),
        allowed_values=[AllowedValue(f"{at}/allowedValues/{index}", value) for index, value in enumerate(allowed)],
        fields=fields,
        validation={name: value for name, value in validation.items() if value not in (None, "", False)},
    )
    problems += [StructureProblem(p.code, p.message, p.pointer, level_id or None, draft.id or None, at) for p in found]
    return draft


def _text(fields: Mapping[str, Any], name: str) -> str:
    return (fields.get(name) or "").strip()
