"""Reads a JSON object against the fields it may have: every missing, unknown and ill-typed one is named."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from itertools import islice
from typing import Any

from app.domain.shared.problems import Problem

LONGEST_SHOWN_NAME = 80
MOST_UNKNOWN = 100  # Fields that nobody asked for, named of one object.


class Kind(Enum):
    """The JSON type of a field, with the words for it."""

    TEXT = "a text"
    WHOLE = "a whole number"
    NUMBER = "a number"
    FLAG = "true or false"
    LIST = "a list"
    TEXTS = "a list of texts"
    OBJECT = "an object"
    ANY = "a value"

    __hash__ = object.__hash__  # There is one of each, and every field of every record is asked.

    def accepts(self, value: object) -> bool:
        if self is Kind.WHOLE:
            return isinstance(value, int) and not isinstance(value, bool)
        if self is Kind.NUMBER:
            return isinstance(value, int | float) and not isinstance(value, bool)
        if self is Kind.TEXTS:
            return isinstance(value, list) and all(isinstance(item, str) for item in value)
        return isinstance(value, _TYPES[self])


_TYPES: dict[Kind, type] = {Kind.TEXT: str, Kind.FLAG: bool, Kind.LIST: list, Kind.OBJECT: dict, Kind.ANY: object}


@dataclass(frozen=True, slots=True)
class Field:
    """`nullable` fields may be null, which means "none"; one that is left out is simply not in the answer."""

    kind: Kind
    required: bool = False
    nullable: bool = False


Shape = Mapping[str, Field]


def read_fields(raw: object, shape: Shape, pointer: str, problems: list[Problem]) -> dict[str, Any]:
    """The fields of `raw` that have their type. What is wrong is added to `problems`, each at its place."""
    if not isinstance(raw, dict):
        problems.append(Problem("wrong_type", f"Here must be an object, not {_type_name(raw)}.", pointer))
        return {}
    unknown = () if raw.keys() <= shape.keys() else (name for name in raw if name not in shape)
    for name in islice(unknown, MOST_UNKNOWN):
        shown = name[:LONGEST_SHOWN_NAME]
        problems.append(Problem("unknown_field", f"There is no field “{shown}” here.", f"{pointer}/{token(name)}"))
    found = {}
    for name, field in shape.items():
        if name not in raw:
            if field.required:
                problems.append(Problem("required", f"The field “{name}” is missing.", f"{pointer}/{name}"))
        elif field.kind.accepts(raw[name]) or (raw[name] is None and field.nullable):
            found[name] = raw[name]
        else:
            message = f"“{name}” must be {field.kind.value}, not {_type_name(raw[name])}."
            problems.append(Problem("wrong_type", message, f"{pointer}/{name}"))
    return found


def token(name: str) -> str:
    """A name as a step of a JSON pointer (RFC 6901)."""
    return name.replace("~", "~0").replace("/", "~1")


def _type_name(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    for kind in (Kind.WHOLE, Kind.NUMBER, Kind.TEXT, Kind.LIST):
        if kind.accepts(value):
            return str(kind.value)
    return "an object"
