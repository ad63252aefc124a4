"""The fields of a record in answers and arguments of tools, by their declarations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, Field, create_model
from pydantic.alias_generators import to_snake

from app.domain.shared.record_fields import RecordField

Model = TypeVar("Model", bound=BaseModel)


def answers_fields(fields: Iterable[RecordField], types: Mapping[str, Any] | None = None) -> Callable[..., type[Model]]:
    """Add fields to an answer, behind its own. `types` are those of fields that have a shape of their own, by name."""
    shapes = types or {}
    named = {_attribute(f): (shapes.get(f.name, f.types[0]), Field(description=f.help or None)) for f in fields}
    return lambda model: _extend(model, named)


def takes_fields(fields: Iterable[RecordField]) -> Callable[..., type[Model]]:
    """Add fields to arguments, behind their own. A call may leave each of them out."""
    named = {_attribute(f): (f.types[1] | None, Field(default=None, description=f.argument)) for f in fields}
    return lambda model: _extend(model, named)


def sent_fields(sent: BaseModel, fields: Iterable[RecordField], *further: str) -> dict[str, Any]:
    """Return the sent fields of a record, by their names in its JSON; `further` are other attributes to include."""
    return sent.model_dump(include={*further, *map(_attribute, fields)}, by_alias=True, exclude_none=True)


def _attribute(field: RecordField) -> str:
    """Return the attribute of a model whose name in JSON is the key of the field."""
    return to_snake(field.key)


def _extend(model: type[Model], named: Mapping[str, Any]) -> type[Model]:
    made: type[Model] = create_model(
        model.__name__, __base__=model, __module__=model.__module__, __doc__=model.__doc__, **dict(named)
    )
    return made
