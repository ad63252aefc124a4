"""The fields of a record, each declared once, on the attribute of a value: `note: Annotated[str, BlockField("note")]`.

By the declaration the record is read from JSON, forms, cells of a table and its row in the database, written to them,
checked, and shown in the history. A kind of field that one record alone has is declared beside that record. Pure.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass, field, fields, replace
from datetime import UTC, datetime
from functools import cache
from io import StringIO
from typing import Any, ClassVar, Literal, Self, get_args, get_type_hints
from zoneinfo import ZoneInfo

from app.domain.shared.clock import format_moment
from app.domain.shared.problems import Invalid, Problem
from app.domain.shared.schema import Choice, Flag, Moment, Object, Record, Strict, Text, Texts
from app.domain.shared.text import block_problems, line_problems, one_line
from app.domain.shared.typed_times import local_text, moment_of, moment_with_zone

YES = frozenset(("", "yes", "true", "1"))
NO = frozenset(("no", "false", "0"))
UTC_ZONE = ZoneInfo("UTC")
Cells = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class TypedForm:
    """The texts of a form by their names; times are in the zone of the shop. `stored` is the value that the form edits.
    `takes_zone`: a time that names its zone is taken too. What cannot be read is added to `problems`."""

    texts: Mapping[str, str]
    zone: ZoneInfo = UTC_ZONE
    problems: list[Problem] = field(default_factory=list)
    stored: object = None
    takes_zone: bool = False


@dataclass(frozen=True, slots=True)
class RecordField:
    """A field whose value is the same in JSON and in the database. `label` names it in the history, `help` describes it
    to programs that read it, `argument` to those that set it. `is_served`: shoppers' searches depend on it; another is
    for the shop's staff alone. `name` is its attribute, and its column in the database."""

    json_type: ClassVar[Any] = None  # For programs.
    is_typed: ClassVar[bool] = False  # Whether a form has it as texts, under the names of its columns.

    label: str = ""
    key: str = ""
    help: str = ""
    argument: str = ""
    is_required: bool = False
    is_served: bool = True
    name: str = ""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of a table, and the texts of a form."""
        return (self.key,)

    @property
    def types(self) -> tuple[Any, Any]:
        """The types of the field in an answer and in arguments."""
        return self.json_type, self.json_type

    def schema(self) -> Strict:
        raise NotImplementedError

    def of_json(self, raw: Any) -> Any:
        return raw

    def as_json(self, value: Any) -> Any:
        return value

    def of_row(self, row: object) -> Any:
        return getattr(row, self.name)

    def as_columns(self, value: Any) -> dict[str, Any]:
        return {self.name: value}

    def tidy(self, value: Any) -> Any:
        return value

    def problems(self, value: Any) -> list[Problem]:
        return []

    def searched(self, value: Any) -> Iterable[str | None]:
        """Return the texts by which lists find the record."""
        return ()

    def describe(self, raw: Any, zone: ZoneInfo) -> dict[str, Any]:
        return {self.label: raw}

    def cells(self, raw: Any) -> tuple[str, ...]:
        return (raw or "",)

    def read_cells(self, cells: Cells, sent: dict[str, Any]) -> None:
        """Put what the cells say into `sent`, the fields by their names in JSON. Raises Invalid."""
        if self.key in cells:
            sent[self.key] = one_line(cells[self.key]) or None

    def as_typed(self, value: Any, zone: ZoneInfo) -> tuple[str, ...]:
        return (value or "",)

    def of_typed(self, form: TypedForm) -> Any:
        return form.texts[self.key]


@dataclass(frozen=True, slots=True)
class TextField(RecordField):
    """A text of one line; an empty one is "", or None with `is_nullable`. One without `longest` is checked by its
    record."""

    is_typed: ClassVar[bool] = True
    longest: int = 0
    is_nullable: bool = False

    @property
    def types(self) -> tuple[Any, Any]:
        return (str | None, str | None) if self.is_nullable else (str, str)

    def schema(self) -> Strict:
        return Text(required=True) if self.is_required else Text(allow_none=True)

    def tidy(self, value: str | None) -> str | None:
        line = one_line(value or "")
        return line or None if self.is_nullable else line

    def problems(self, value: str | None) -> list[Problem]:
        label, pointer = f"The {self.label}", f"#/{self.key}"
        return line_problems(value or "", label, self.longest, pointer, self.is_required) if self.longest else []

    def searched(self, value: str | None) -> Iterable[str | None]:
        return (value,)

    def read_cells(self, cells: Cells, sent: dict[str, Any]) -> None:
        if self.key in cells or self.is_required:
            sent[self.key] = one_line(cells.get(self.key, ""))


@dataclass(frozen=True, slots=True)
class BlockField(TextField):
    """A text of several lines."""

    def tidy(self, value: str | None) -> str:
        return (value or "").replace("\r\n", "\n").strip()

    def problems(self, value: str | None) -> list[Problem]:
        return block_problems(value or "", f"The {self.label}", self.longest, f"#/{self.key}")

    def read_cells(self, cells: Cells, sent: dict[str, Any]) -> None:
        if self.key in cells:
            sent[self.key] = cells[self.key]


@dataclass(frozen=True, slots=True)
class PathField(TextField):
    """The path of a page, None without one; its record checks it."""

    is_nullable: bool = True

    def tidy(self, value: str | None) -> str | None:
        return (value or "").strip() or None

    def problems(self, value: str | None) -> list[Problem]:
        return []

    def read_cells(self, cells: Cells, sent: dict[str, Any]) -> None:
        RecordField.read_cells(self, cells, sent)


@dataclass(frozen=True, slots=True)
class ListField(RecordField):
    """A list of short texts, such as SKUs."""

    json_type: ClassVar[Any] = list[str]

    def schema(self) -> Strict:
        return Texts(required=self.is_required)

    def of_json(self, raw: Iterable[str]) -> tuple[str, ...]:
        return tuple(raw)

    def as_json(self, value: tuple[str, ...]) -> list[str]:
        return list(value)

    def of_row(self, row: object) -> tuple[str, ...]:
        return tuple(getattr(row, self.name))

    def as_columns(self, value: tuple[str, ...]) -> dict[str, Any]:
        return {self.name: list(value)}

    def tidy(self, value: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(text.strip() for text in value)

    def searched(self, value: tuple[str, ...]) -> Iterable[str | None]:
        return value

    def cells(self, raw: Iterable[str]) -> tuple[str, ...]:
        return (join_texts(raw),)

    def read_cells(self, cells: Cells, sent: dict[str, Any]) -> None:
        if self.key in cells:
            sent[self.key] = split_texts(cells[self.key])


@dataclass(frozen=True, slots=True)
class MomentField(RecordField):
    """A time with its zone, to the second once it is tidy; None without one."""

    json_type: ClassVar[Any] = str | None
    is_typed: ClassVar[bool] = True

    def schema(self) -> Strict:
        return Moment(allow_none=True)

    def of_json(self, raw: str) -> datetime | None:
        return datetime.fromisoformat(raw).astimezone(UTC) if raw else None

    def as_json(self, value: datetime | None) -> str | None:
        """Return a time in UTC as RFC 3339, without loss: one that is only proposed may be at any microsecond."""
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z") if value else None

    def tidy(self, value: datetime | None) -> datetime | None:
        return value and value.replace(microsecond=0)

    def describe(self, raw: str | None, zone: ZoneInfo) -> dict[str, Any]:
        return {self.label: format_moment(datetime.fromisoformat(raw), zone.key) if raw else ""}

    def as_typed(self, value: datetime | None, zone: ZoneInfo) -> tuple[str, ...]:
        return (local_text(value, zone),)

    def of_typed(self, form: TypedForm) -> datetime | None:
        text = form.texts[self.key]
        if form.takes_zone and (moment := moment_with_zone(text.strip())):
            return moment
        was = getattr(form.stored, self.name) if form.stored is not None else None
        return moment_of(text, form.zone, f"#/{self.key}", form.problems, was)


@dataclass(frozen=True, slots=True)
class SwitchField(RecordField):
    """True or false. `label` says what it means to be off."""

    json_type: ClassVar[Any] = bool

    def schema(self) -> Strict:
        return Flag()

    def describe(self, raw: bool | None, zone: ZoneInfo) -> dict[str, Any]:
        return {self.label: "yes" if raw is False else "no"}

    def cells(self, raw: bool) -> tuple[str, ...]:
        return ("yes" if raw else "no",)

    def read_cells(self, cells: Cells, sent: dict[str, Any]) -> None:
        if self.key not in cells:
            return
        flag = one_line(cells[self.key])
        if flag.casefold() not in YES | NO:
            raise Invalid.one("invalid_flag", f"“{flag[:40]}” under {self.key} must be yes or no.")
        sent[self.key] = flag.casefold() in YES


@dataclass(frozen=True, slots=True)
class ChoiceField(RecordField):
    """One of some texts. `shown` are their names in the history, `kind` makes the value of one."""

    choices: tuple[str, ...] = ()
    shown: Mapping[str, str] | None = None
    kind: type[str] = str

    @property
    def types(self) -> tuple[Any, Any]:
        return str, Literal.__getitem__(tuple(str(choice) for choice in self.choices))

    def schema(self) -> Strict:
        return Choice(self.choices, required=self.is_required)

    def of_json(self, raw: str) -> str:
        return self.kind(raw)

    def as_json(self, value: str) -> str:
        return str(value)

    def of_row(self, row: object) -> str:
        return self.kind(getattr(row, self.name))

    def as_columns(self, value: str) -> dict[str, Any]:
        return {self.name: str(value)}

    def describe(self, raw: str | None, zone: ZoneInfo) -> dict[str, Any]:
        return {self.label: (self.shown or {}).get(raw or "", raw)}


@dataclass(frozen=True, slots=True)
class ObjectField(RecordField):
    """An object of any fields; an empty one is None."""

    json_type: ClassVar[Any] = dict[str, Any] | None

    def schema(self) -> Strict:
        return Object(allow_none=True)

    def of_json(self, raw: dict[str, Any]) -> dict[str, Any] | None:
        return raw or None


def _read_declarations(value: type) -> tuple[RecordField, ...]:
    found = []
    for name, hint in get_type_hints(value, include_extras=True).items():
        declared = next((each for each in get_args(hint) if isinstance(each, RecordField)), None)
        if declared is not None:
            first, *others = name.split("_")
            key = declared.key or first + "".join(map(str.capitalize, others))
            found.append(replace(declared, name=name, key=key))
    return tuple(found)


def _read_defaults(value: type) -> Mapping[str, Any]:
    names = {each.name for each in fields_of(value)}
    return {each.name: each.default for each in fields(value) if each.name in names and each.default is not MISSING}


# The declared fields of a record in their order.
fields_of: Callable[[type], tuple[RecordField, ...]] = cache(_read_declarations)
# The values that they have in a new record, by their attributes; without those that each record must have.
defaults_of: Callable[[type], Mapping[str, Any]] = cache(_read_defaults)


class DeclaredRecord:
    """A value whose fields are declared; a frozen dataclass."""

    __slots__ = ()

    @classmethod
    def schema(cls) -> Record:
        return Record(**{each.key: each.schema() for each in fields_of(cls)})

    @classmethod
    def of_json(cls, sent: Mapping[str, Any], id: int | None = None) -> Self:
        """Make a record of what its schema accepts; a field that is left out, or null, is as in a new record."""
        defaults = defaults_of(cls)
        named: dict[str, Any] = {} if id is None else {"id": id}
        for each in fields_of(cls):
            raw = sent.get(each.key)
            if raw is not None or each.name not in defaults:
                named[each.name] = each.of_json(raw)
        return cls(**named)

    def as_json(self, for_shoppers: bool = False) -> dict[str, Any]:
        """Return the record as `of_json` reads it, without its id. Records that differ in nothing else have equal JSON.
        `for_shoppers`: what is for the shop's staff alone is as in a new record."""
        declared = fields_of(type(self))
        written = {each.key: each.as_json(getattr(self, each.name)) for each in declared}
        if for_shoppers:
            defaults = defaults_of(type(self))
            written |= {each.key: each.as_json(defaults[each.name]) for each in declared if not each.is_served}
        return written

    @classmethod
    def of_row(cls, row: object, **more: Any) -> Self:
        return cls(**{each.name: each.of_row(row) for each in fields_of(cls)}, **more)

    def write_row(self, row: object) -> None:
        for each in fields_of(type(self)):
            for column, stored in each.as_columns(getattr(self, each.name)).items():
                setattr(row, column, stored)

    def tidied(self) -> Self:
        """Return the record as it is stored: texts trimmed, times to the second."""
        tidy = {each.name: each.tidy(getattr(self, each.name)) for each in fields_of(type(self))}
        return replace(self, **tidy)  # type: ignore[type-var]

    @property
    def searched_texts(self) -> list[str]:
        """The texts by which lists find the record."""
        declared = fields_of(type(self))
        return [text for each in declared for text in each.searched(getattr(self, each.name)) if text]

    @classmethod
    def describe(cls, state: Mapping[str, Any], zone: ZoneInfo = UTC_ZONE) -> dict[str, Any]:
        """Return the fields of a stored state, in its JSON, under the labels of the history."""
        shown: dict[str, Any] = {}
        for each in fields_of(cls):
            shown |= each.describe(state.get(each.key), zone)
        return shown

    @classmethod
    def columns(cls) -> tuple[str, ...]:
        """Return the columns of a table of such records."""
        return tuple(column for each in fields_of(cls) for column in each.columns)

    def cells(self) -> tuple[str, ...]:
        """Return the cells of the record, one for each of the columns."""
        written = self.as_json()
        return tuple(cell for each in fields_of(type(self)) for cell in each.cells(written[each.key]))

    @classmethod
    def text_names(cls) -> tuple[str, ...]:
        """Return the names of the texts that a form of the record sends."""
        return tuple(name for each in fields_of(cls) if each.is_typed for name in each.columns)

    def as_typed(self, zone: ZoneInfo = UTC_ZONE) -> dict[str, str]:
        """Return the texts of the record's form."""
        texts: dict[str, str] = {}
        for each in fields_of(type(self)):
            if each.is_typed:
                texts |= zip(each.columns, each.as_typed(getattr(self, each.name), zone), strict=True)
        return texts

    @classmethod
    def read_typed(cls, form: TypedForm) -> dict[str, Any]:
        """Return the fields of a form's texts, as they were typed, by the names of their attributes."""
        return {each.name: each.of_typed(form) for each in fields_of(cls) if each.is_typed}


def join_texts(texts: Iterable[str]) -> str:
    """Return texts with semicolons between; each that has a semicolon of its own is in quotation marks."""
    made = StringIO()
    csv.writer(made, delimiter=";", lineterminator="").writerow(texts)
    return made.getvalue()


def split_texts(text: str) -> list[str]:
    parts = next(csv.reader([one_line(text)], delimiter=";"), [])
    return [part.strip() for part in parts if part.strip()]
