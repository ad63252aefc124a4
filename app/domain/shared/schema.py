"""JSON from outside, read against a schema: marshmallow with strict types, every problem at its JSON pointer."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import islice
from types import NoneType
from typing import Any

from marshmallow import Schema, ValidationError, fields

from app.domain.shared.problems import Invalid, Problem

LONGEST_SHOWN_NAME = 80
YEARS = range(2000, 2200)
MOST_UNKNOWN = 100  # Unknown fields of one object that are named.
WHOLE_OBJECT = "_schema"  # Where marshmallow keeps what is wrong with an object as a whole.
UNKNOWN = Schema().error_messages["unknown"]
MISSING = fields.Field.default_error_messages["required"]
NULL = fields.Field.default_error_messages["null"]
CODE = re.compile(r"`([^`]+)`")
JSON_TYPES = {bool: "true or false", int: "a whole number", float: "a number", str: "a text", list: "a list"}


class Strict(fields.Field[Any]):
    """A value that has its JSON type already and is taken as it is: marshmallow's own fields turn "yes" into true and
    2.5 into 2. `label` is what pages call the field, where that is not its name in JSON; `meaning` what programs read
    of it, and `for_agents` what agents read, where they need more."""

    kind = "a value"
    types: tuple[type, ...] = ()
    wrong_type_code = null_code = "wrong_type"

    def __init__(self, *, label: str = "", meaning: str = "", for_agents: str = "", **more: Any) -> None:
        super().__init__(**more)
        self.label, self.meaning = label, meaning
        self.for_agents = for_agents or quoted(meaning)
        self._accepted = frozenset((*self.types, NoneType) if self.allow_none else self.types)

    def accepts(self, value: object) -> bool:
        return type(value) in self._accepted

    def problems(self, value: object) -> list[Problem]:
        """Return the problems of a value; pointers begin at the value itself."""
        if self.accepts(value):
            return []
        name = self.data_key or self.name
        code = self.null_code if value is None else self.wrong_type_code
        return [Problem(code, f"“{name}” must be {self.kind}, not {type_name(value)}.")]

    def deserialize(self, value: Any, attr: str | None = None, data: Any = None, **more: Any) -> Any:
        is_sent = (self.data_key or self.name) in (data or ())
        if is_sent and (problems := self.problems(value)):
            raise ValidationError(problems)
        return super().deserialize(value, attr, data, **more)

    def _deserialize(self, value: Any, *args: Any, **more: Any) -> Any:
        return value


class Text(Strict, fields.String):
    """A text. `longest` bounds its characters where a rule does not say more; `tidy` trims it."""

    kind, types = "a text", (str,)

    def __init__(self, *, longest: int | None = None, tidy: Callable[[str], str] = str.strip, **more: Any) -> None:
        super().__init__(**more)
        self.longest, self.tidy = longest, tidy


class Whole(Strict, fields.Integer):
    """A whole number, written as one: 3.0, which JSON Schema would take, is refused."""

    kind, types = "a whole number", (int,)


class Number(Strict, fields.Float):
    kind, types = "a number", (int, float)


class Flag(Strict, fields.Boolean):
    kind, types = "true or false", (bool,)


class Items(Strict):
    """A list of anything. `of` is the record of its items, and `most` how many there may be, where those who read them
    look further."""

    kind, types = "a list", (list,)

    def __init__(self, *, of: Record | None = None, most: int | None = None, **more: Any) -> None:
        super().__init__(**more)
        self.of, self.most = of, most


class Texts(Items):
    kind = "a list of texts"

    def accepts(self, value: object) -> bool:
        return super().accepts(value) and all(type(item) is str for item in value or ())  # type: ignore[attr-defined]


class Anything(Strict):
    def accepts(self, value: object) -> bool:
        return True


class Object(Strict):
    kind, types = "an object", (dict,)


class TextsByName(Object):
    kind = "an object whose values are texts"

    def accepts(self, value: object) -> bool:
        return super().accepts(value) and all(type(item) is str for item in dict(value or {}).values())  # type: ignore[call-overload]


class One(Object):
    """An object with the fields of a record."""

    def __init__(self, record: Record, **more: Any) -> None:
        super().__init__(**more)
        self._record = record

    def accepts(self, value: object) -> bool:
        return (isinstance(value, dict) and self._record.is_sound(value)) or (value is None and self.allow_none)

    def problems(self, value: object) -> list[Problem]:
        if not isinstance(value, dict):
            return super().problems(value)
        found: list[Problem] = []
        self._record.read(value, "#", found)
        return found


class Many(Items):
    """A list of at most so many records."""

    def __init__(self, record: Record, most: int, **more: Any) -> None:
        super().__init__(of=record, most=most, **more)
        self._record = record
        self._most = most

    def accepts(self, value: object) -> bool:
        if not isinstance(value, list) or len(value) > self._most:
            return value is None and self.allow_none
        return all(isinstance(item, dict) and self._record.is_sound(item) for item in value)

    def problems(self, value: object) -> list[Problem]:
        if not isinstance(value, list):
            return super().problems(value)
        if len(value) > self._most:
            return [Problem("too_many", f"“{self.data_key or self.name}” holds more than {self._most:,}.")]
        found: list[Problem] = []
        for index, item in enumerate(value):
            self._record.read(item, f"#/{index}", found)
        return found


class Choice(Text):
    """One of some texts."""

    def __init__(self, choices: tuple[str, ...], **more: Any) -> None:
        super().__init__(**more)
        self.choices = choices

    def accepts(self, value: object) -> bool:
        return value in self.choices or (value is None and self.allow_none)

    def problems(self, value: object) -> list[Problem]:
        if self.accepts(value) or not isinstance(value, str):
            return super().problems(value)
        name = self.data_key or self.name
        given = f", not “{value[:40]}”" if value else ""
        message = f"“{self.label or name}” must be {one_of(self.choices)}{given}."
        return [Problem(f"unknown_{name}", message)]


class Moment(Text):
    """A time with its zone, in years that every time zone and database can represent."""

    def accepts(self, value: object) -> bool:
        return super().accepts(value) and (value is None or _moment(str(value)) is not None)

    def problems(self, value: object) -> list[Problem]:
        if self.accepts(value) or not isinstance(value, str):
            return super().problems(value)
        name = self.data_key or self.name
        message = f"“{name}” must be a time such as 2026-11-20T21:04:05Z, not “{value[:40]}”."
        return [Problem("invalid_time", message)]


def _moment(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text)
        moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return moment if moment.tzinfo is not None and moment.year in YEARS else None


class Record:
    """An object of strict fields by their names in JSON, and no others."""

    def __init__(self, **named: Strict) -> None:
        self.fields: Mapping[str, Strict] = named
        self._required = {name for name, field in named.items() if field.required}
        self._is_plain = not any(field.validators for field in named.values())
        self._schema = Schema.from_dict(dict(named))()

    def read(self, raw: object, pointer: str, problems: list[Problem]) -> dict[str, Any]:
        """Return the fields of `raw` that have the right type, and add the problems of the others to `problems`, each
        at its place. A field that `raw` leaves out is left out."""
        if not isinstance(raw, dict):
            problems.append(Problem("wrong_type", f"Here must be an object, not {type_name(raw)}.", pointer))
            return {}
        if self.is_sound(raw):
            return dict(raw)
        named = self.fields
        unknown = islice((name for name in raw if name not in named), MOST_UNKNOWN)
        problems += (_problem(UNKNOWN, f"{pointer}/{token(name)}") for name in unknown)
        known = {name: value for name, value in raw.items() if name in named}
        try:
            found: dict[str, Any] = self._schema.load(known)
        except ValidationError as error:
            problems += problems_of(error.messages_dict, pointer)
            found = dict(error.valid_data or {})
        return found

    def is_sound(self, raw: dict[str, Any]) -> bool:
        """Whether a record is known to have no problem, without marshmallow, which takes six times as long
        (docs/adr/0022)."""
        named = self.fields
        return (
            self._is_plain
            and self._required <= raw.keys()
            and all(name in named and named[name].accepts(value) for name, value in raw.items())
        )

    def load(self, raw: object, pointer: str = "#") -> dict[str, Any]:
        """Return the fields of `raw`. Raises Invalid with every problem."""
        problems: list[Problem] = []
        found = self.read(raw, pointer, problems)
        if problems:
            raise Invalid(problems)
        return found


def problems_of(messages: Mapping[Any, Any] | Sequence[Any], at: str = "#") -> Iterator[Problem]:
    """Yield marshmallow's messages, which are nested like the data that was sent, as problems with JSON pointers."""
    if isinstance(messages, Mapping):
        for name, inner in messages.items():
            yield from problems_of(inner, at if name == WHOLE_OBJECT else f"{at}/{token(str(name))}")
    else:
        yield from (_problem(message, at) for message in messages)


def _problem(message: str | Problem, at: str) -> Problem:
    if isinstance(message, Problem):
        return Problem(message.code, message.message, at + message.pointer.removeprefix("#"))
    name = at.rpartition("/")[2].replace("~1", "/").replace("~0", "~")[:LONGEST_SHOWN_NAME]
    if message == UNKNOWN:
        return Problem("unknown_field", f"There is no field “{name}” here.", at)
    if message in (MISSING, NULL):
        return Problem("required", f"The field “{name}” is missing.", at)
    return Problem("invalid", message, at)


def token(name: str) -> str:
    """A name as a step of a JSON pointer (RFC 6901)."""
    return name.replace("~", "~0").replace("/", "~1")


def one_of(choices: Sequence[str]) -> str:
    """Format at least two choices as people list them, such as "as-is, last or hidden"."""
    return f"{', '.join(choices[:-1])} or {choices[-1]}"


def camel_case(name: str) -> str:
    """Return the name of a field or parameter in JSON and in addresses."""
    first, *others = name.split("_")
    return first + "".join(word.title() for word in others)


def quoted(text: str) -> str:
    """Return a text with what is marked as code, such as `price`, in quotation marks."""
    return CODE.sub(r"“\1”", text)


def type_name(value: object) -> str:
    return "null" if value is None else JSON_TYPES.get(type(value), "an object")
