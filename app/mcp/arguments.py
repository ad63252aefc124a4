"""The arguments and answers of tools: records with strict types, whose schemas agents read. What is wrong with
arguments becomes problems in the shop's words, each at its place."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model
from pydantic.alias_generators import to_camel, to_snake

from app.domain.shared import strict_json
from app.domain.shared.paging import Paged
from app.domain.shared.problems import Invalid, Malformed, Problem
from app.domain.shared.schema import Choice, Record, Strict, one_of, token, type_name

MOST_PROBLEMS = 100
LONGEST_SHOWN = 80
KINDS = {
    "string": "a text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "list": "a list",
    "dict": "an object",
    "model": "an object",
}
BOUNDS = {
    "string_too_long": ("too_long", "“{name}” has at most {max_length} characters."),
    "string_too_short": ("too_short", "“{name}” must not be empty."),
    "too_long": ("too_many", "“{name}” has at most {max_length} entries."),
    "too_short": ("too_few", "“{name}” must not be empty."),
    "greater_than_equal": ("out_of_range", "“{name}” is {ge} or more."),
    "less_than_equal": ("out_of_range", "“{name}” is {le} or less."),
    "greater_than": ("out_of_range", "“{name}” is more than {gt}."),
    "less_than": ("out_of_range", "“{name}” is less than {lt}."),
}
LAST_PAGE = 1_000_000
LARGEST_PAGE = 100

PageNumber = Annotated[int, Field(ge=1, le=LAST_PAGE, description="Which page of the list, from 1.")]
PageSize = Annotated[int, Field(ge=1, le=LARGEST_PAGE, description=f"How many a page has, {LARGEST_PAGE} at most.")]


class Arguments(BaseModel):
    """The arguments of a tool, by camelCase names in JSON; no others are taken, and no value is turned into another."""

    model_config = ConfigDict(
        strict=True, extra="forbid", frozen=True, alias_generator=to_camel, allow_inf_nan=False, title=None
    )


class WriteArguments(Arguments):
    """Those of a tool that changes something."""

    dry_run: bool = Field(
        default=False,
        description=(
            "True checks everything and answers what would change, without changing anything. "
            "Use it before a change that you are not sure of."
        ),
    )


class Answer(BaseModel):
    """What a tool answers, by camelCase names in JSON. Tools name its fields as they are written here."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="forbid")

    def as_json(self) -> dict[str, Any]:
        return self.model_dump(mode="json", by_alias=True)


def answer_of(record: Record, **items: type[Answer]) -> type[Any]:
    """Return the answer that describes a record; `items` are the answers that its lists hold, by name."""
    named = {to_snake(name): _answered(field, items.get(name)) for name, field in record.fields.items()}
    return create_model("AnswerOfRecord", __base__=Answer, **named)  # type: ignore[call-overload,no-any-return]


def _answered(field: Strict, item: type[Answer] | None) -> tuple[Any, Any]:
    """The type of a record's field and what agents read of it; one that may be left out has its default."""
    kind: Any = list[item] if item is not None else field.types[0]  # type: ignore[valid-type]
    meaning = f"{one_of(field.choices)}." if isinstance(field, Choice) else field.for_agents
    described: dict[str, Any] = {"description": meaning} if meaning else {}
    if not field.required:
        described["default"] = False if kind is bool else None
    return (kind if field.required or kind is bool else kind | None), Field(**described)


def arguments_of(record: Record, action: type[Arguments], prefix: str) -> type[Any]:
    """Return the arguments of `action` with those that may name each field of a record; `prefix` begins what agents
    read of them."""
    named = {
        to_snake(name): (
            (Literal[field.choices] if isinstance(field, Choice) else field.types[0]) | None,
            Field(default=None, description=f"{prefix}{field.for_agents}"),
        )
        for name, field in record.fields.items()
    }
    return create_model("ArgumentsOfRecord", __base__=action, **named)  # type: ignore[call-overload,no-any-return]


DryRun = Annotated[bool, Field(description="True where dryRun was sent, so that nothing was written.")]
Read = TypeVar("Read", bound=Arguments)


def read_arguments(record: type[Read], sent: Mapping[str, Any], further: Iterable[Problem] = ()) -> Read:
    """Return the sent arguments as a record. Raises Invalid with every problem, `further` ones included, and Malformed
    for what no JSON should hold."""
    text = _check_json(sent)
    others = list(further)
    try:
        read = record.model_validate_json(text)
    except ValidationError as error:
        raise Invalid(_join_problems(list(_read_problems(error)), others)) from None
    if others:
        raise Invalid(others)
    return read


def _join_problems(problems: list[Problem], others: list[Problem]) -> list[Problem]:
    """Return the problems of both lists; one that is in both, such as a missing field, once."""
    reported = {(problem.code, problem.pointer) for problem in problems}
    return problems + [problem for problem in others if (problem.code, problem.pointer) not in reported]


def _check_json(sent: Mapping[str, Any]) -> str:
    """Return the arguments as JSON. Raises Malformed for lone surrogates, NUL, NaN and endless nesting, which the
    readers of the transports let pass."""
    try:
        text = json.dumps(sent)
        strict_json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Malformed.one("malformed_json", f"These arguments are no valid JSON: {error}") from None
    return text


def _read_problems(error: ValidationError) -> Iterator[Problem]:
    for found in error.errors(include_url=False)[:MOST_PROBLEMS]:
        place = found["loc"]
        name = str(place[-1])[:LONGEST_SHOWN] if place else "arguments"
        pointer = "#" + "".join(f"/{token(str(step)[:LONGEST_SHOWN])}" for step in place)
        yield Problem(
            *_describe_problem(name, found["type"], found["input"], found.get("ctx", {}), found["msg"]), pointer
        )


def _describe_problem(name: str, kind: str, given: object, context: Mapping[str, Any], message: str) -> tuple[str, str]:
    """The code and the sentence of one of pydantic's errors."""
    if kind == "missing":
        return "required", f"The field “{name}” is missing."
    if kind == "extra_forbidden":
        return "unknown_field", f"There is no field “{name}” here."
    if kind in ("literal_error", "enum"):
        choices = str(context["expected"]).replace("'", "")
        return f"unknown_{name}", f"“{name}” must be {choices}, not {_format_value(given)}."
    if kind.endswith("_type") and (wanted := KINDS.get(kind.removesuffix("_type"))):
        return "wrong_type", f"“{name}” must be {wanted}, not {type_name(given)}."
    if kind in BOUNDS:
        code, sentence = BOUNDS[kind]
        return code, sentence.format(name=name, **context)
    return "invalid", f"“{name}”: {message}."


def _format_value(given: object) -> str:
    if isinstance(given, str):
        return f"“{given[:LONGEST_SHOWN]}”"
    is_number = isinstance(given, int | float) and not isinstance(given, bool)
    return str(given)[:LONGEST_SHOWN] if is_number else type_name(given)


class PagingShape(Answer):
    page_number: int
    page_size: int
    total_items: int
    total_pages: int


def paging_of(page: Paged[Any]) -> PagingShape:
    return PagingShape(
        page_number=page.page_number,
        page_size=page.page_size,
        total_items=page.total_items,
        total_pages=page.total_pages,
    )
