"""The description of the API as a page to read, made on the server from the same document that programs read: chapters
by tag, operations, bodies, fields.

Swagger UI 5 was tried and runs under our content policy, but brings 1.9 MB, shows nothing without JavaScript, and
has no anchor for each kind of problem, to which the `type` of an error leads.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from flask import Blueprint, current_app, render_template
from markupsafe import Markup, escape

from app.blueprints.v1.description import api_description, type_of
from app.web.permissions import public

Json = dict[str, Any]
METHODS = ("get", "post", "put", "patch", "delete")
# The rules of a schema for its values, in the words of the page.
RULES = {
    "minimum": "from {}",
    "maximum": "to {}",
    "exclusiveMinimum": "more than {}",
    "maxLength": "at most {} characters",
    "minItems": "at least {} items",
    "maxItems": "at most {} items",
    "default": "default {}",
}
bp = Blueprint("v1_reader", __name__, url_prefix="/v1")
PAGE = "shop-api-page"
CODE = re.compile(r"`([^`]+)`")


@dataclass(frozen=True, slots=True)
class FieldType:
    """The type of a field. `shape` names the schema that the label links to."""

    label: str
    shape: str | None = None


@dataclass(frozen=True, slots=True)
class DescribedField:
    """A field of a body, or a parameter, which has a `place`."""

    name: str
    type: FieldType
    is_required: bool
    description: str
    rules: tuple[str, ...]
    place: str = ""


@dataclass(frozen=True, slots=True)
class DescribedBody:
    """A body of a request or an answer. `fields` are those of its shape, where it is an object of one."""

    kind: str
    type: FieldType
    fields: tuple[DescribedField, ...]
    example: str | None


@dataclass(frozen=True, slots=True)
class Answer:
    status: str
    description: str
    headers: tuple[DescribedField, ...]
    body: DescribedBody | None


@dataclass(frozen=True, slots=True)
class Operation:
    name: str
    method: str
    path: str
    summary: str
    description: str
    security: str
    parameters: tuple[DescribedField, ...]
    bodies: tuple[DescribedBody, ...]
    answers: tuple[Answer, ...]
    problems: tuple[str, ...]

    @property
    def words(self) -> str:
        """The text that a search looks in."""
        return f"{self.method} {self.path} {self.name} {self.summary}".lower()


@dataclass(frozen=True, slots=True)
class Chapter:
    tag: str
    description: str
    operations: tuple[Operation, ...]

    @property
    def anchor(self) -> str:
        return f"tag-{self.tag.lower()}"


@dataclass(frozen=True, slots=True)
class DescribedShape:
    name: str
    fields: tuple[DescribedField, ...]
    is_open: bool


@dataclass(frozen=True, slots=True)
class Scheme:
    name: str
    description: str


@dataclass(frozen=True, slots=True)
class Page:
    title: str
    version: str
    introduction: str
    schemes: tuple[Scheme, ...]
    chapters: tuple[Chapter, ...]
    problems: tuple[Answer, ...]
    shapes: tuple[DescribedShape, ...]


def read_page(description: Json) -> Page:
    components = description["components"]
    operations = list(_operations(description))
    chapters = (
        Chapter(tag["name"], tag["description"], tuple(one for of, one in operations if of == tag["name"]))
        for tag in description["tags"]
    )
    problems = (_answer(_status(one), one) for one in components["responses"].values())
    return Page(
        title=description["info"]["title"],
        version=description["info"]["version"],
        introduction=description["info"]["description"],
        schemes=tuple(
            Scheme(name, scheme.get("description", "")) for name, scheme in components["securitySchemes"].items()
        ),
        chapters=tuple(chapter for chapter in chapters if chapter.operations),
        problems=tuple(sorted(problems, key=lambda problem: problem.status)),
        shapes=tuple(_shape(name, schema) for name, schema in sorted(components["schemas"].items())),
    )


def _operations(description: Json) -> Iterator[tuple[str, Operation]]:
    """Yield each operation with its tag."""
    components = description["components"]
    shared, schemas = components.get("parameters", {}), components["schemas"]
    for path, item in description["paths"].items():
        for method in METHODS:
            if method in item:
                parameters = [*item.get("parameters", []), *item[method].get("parameters", [])]
                resolved = [shared[_name_of_reference(one["$ref"])] if "$ref" in one else one for one in parameters]
                security = item[method].get("security", description["security"])
                yield item[method]["tags"][0], _operation(method, path, item[method], resolved, security, schemas)


def _operation(
    method: str, path: str, operation: Json, parameters: list[Json], security: list[Json], schemas: Json
) -> Operation:
    answers = operation["responses"]
    return Operation(
        name=operation["operationId"],
        method=method.upper(),
        path=path,
        summary=operation["summary"],
        description=operation.get("description", ""),
        security=next((name for scheme in security for name in scheme), ""),
        parameters=tuple(_parameter(one) for one in parameters),
        bodies=tuple(_bodies(operation.get("requestBody", {}), schemas)),
        answers=tuple(_answer(str(status), one) for status, one in sorted(answers.items()) if "$ref" not in one),
        problems=tuple(str(status) for status, one in sorted(answers.items()) if "$ref" in one),
    )


def _parameter(parameter: Json) -> DescribedField:
    schema = parameter.get("schema", {})
    said = parameter.get("description") or schema.get("description", "")
    required = parameter.get("required", False)
    return DescribedField(parameter["name"], _type(schema), required, said, _rules(schema), parameter["in"])


def _answer(status: str, answer: Json) -> Answer:
    headers = tuple(
        DescribedField(name, _type(header["schema"]), False, header.get("description", ""), ())
        for name, header in answer.get("headers", {}).items()
    )
    return Answer(status, answer.get("description", ""), headers, next(_bodies(answer, {}), None))


def _bodies(described: Json, schemas: Json) -> Iterator[DescribedBody]:
    """Yield the bodies, with the fields of those that are of one of the schemas."""
    for kind, content in described.get("content", {}).items():
        examples = [content["example"]] if "example" in content else []
        examples += [one["value"] for one in content.get("examples", {}).values()]
        text = json.dumps(examples[0], indent=2, ensure_ascii=False) if examples else None
        of = _type(content.get("schema", {}))
        yield DescribedBody(kind, of, _fields(schemas.get(of.shape or "", {})), text)


def _status(problem: Json) -> str:
    """Return the status of a problem, which its example names."""
    return str(next(iter(problem["content"].values()))["example"]["status"])


def _shape(name: str, schema: Json) -> DescribedShape:
    return DescribedShape(name, _fields(schema), bool(schema.get("additionalProperties", True)))


def _fields(schema: Json) -> tuple[DescribedField, ...]:
    required = schema.get("required", ())
    return tuple(
        DescribedField(field, _type(part), field in required, part.get("description", ""), _rules(part))
        for field, part in schema.get("properties", {}).items()
    )


def _type(schema: Json) -> FieldType:
    if "$ref" in schema:
        return FieldType(_name_of_reference(schema["$ref"]), _name_of_reference(schema["$ref"]))
    for parts in ("allOf", "anyOf", "oneOf"):
        if parts in schema:
            return _either([_type(part) for part in schema[parts]])
    kind = type_of(schema)
    if kind == "array":
        item = _type(schema.get("items", {}))
        label = f"list of {item.label}"
        return FieldType(label + _or_null(schema), item.shape)
    return FieldType((schema.get("format") or kind or "anything") + _or_null(schema))


def _either(types: list[FieldType]) -> FieldType:
    shape = next((one.shape for one in types if one.shape), None)
    return FieldType(" or ".join(one.label for one in types), shape)


def _or_null(schema: Json) -> str:
    kinds = schema.get("type")
    return " or null" if isinstance(kinds, list) and "null" in kinds else ""


def _rules(schema: Mapping[str, Any]) -> tuple[str, ...]:
    said = [words.format(json.dumps(schema[rule])) for rule, words in RULES.items() if schema.get(rule) is not None]
    values = [f"one of {', '.join(map(str, schema['enum']))}"] if "enum" in schema else []
    return (*values, *said)


def _name_of_reference(reference: str) -> str:
    return reference.rpartition("/")[2]


@bp.get("/docs")
@public
def docs() -> str:
    """Show the page. The description is read once, since it does not change while the process runs."""
    page: Page | None = current_app.extensions.get(PAGE)
    if page is None:
        page = current_app.extensions[PAGE] = read_page(api_description())
    return render_template("v1/docs.html", page=page, prose=prose)


def prose(text: str) -> Markup:
    """Return a text as paragraphs, with what stands between backticks as code."""
    paragraphs = [" ".join(part.split()) for part in text.split("\n\n") if part.strip()]
    return Markup("").join(Markup("<p>{}</p>").format(_with_code(part)) for part in paragraphs)


def _with_code(text: str) -> Markup:
    return Markup(CODE.sub(r"<code>\1</code>", str(escape(text))))
