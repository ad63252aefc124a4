"""Stored records: column types and conditions that mean the same on every database, the one way to look up a record of
a site, inserts that may meet another."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Protocol, TypeVar

from sqlalchemy import (
    JSON,
    Boolean,
    ColumnElement,
    DateTime,
    Dialect,
    Select,
    func,
    literal,
    literal_column,
    or_,
    select,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.orm import InstrumentedAttribute
from sqlalchemy.orm.interfaces import ORMOption
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.sql.selectable import TableValuedAlias
from sqlalchemy.types import TypeDecorator

from app.domain.shared.problems import Conflict, NotFound
from app.extensions import Base, db

JsonValue = JSON(none_as_null=True).with_variant(JSONB(none_as_null=True), "postgresql")
# By default SQLite gives the id of a deleted record to the next one; the activity log names records by it.
NEVER_REUSED = {"sqlite_autoincrement": True}
ESCAPE = "/"


class OfSite(Protocol):
    """A table whose records belong to sites."""

    id: Any
    site_id: Any


Model = TypeVar("Model", bound=OfSite)
T = TypeVar("T")


class UtcDateTime(TypeDecorator[datetime]):
    """An aware datetime in UTC. SQLite keeps no zone, so it goes in naive and comes out aware."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("A time without a zone cannot be stored.")
        in_utc = value.astimezone(UTC)
        return in_utc.replace(tzinfo=None) if dialect.name == "sqlite" else in_utc

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


def find_record(
    model: type[Model], site_id: int, record_id: int | str, to_change: bool = False, options: Sequence[ORMOption] = ()
) -> Model | None:
    """Return the record of the site, None where it has none of this id. `to_change` locks its row until the end of the
    transaction, and reads it anew."""
    query = select(model).where(model.site_id == site_id, model.id == record_id).options(*options)
    if to_change:
        query = query.with_for_update().execution_options(populate_existing=True)
    return db.session.scalar(query)


def existing(record: T | None, missing: str) -> T:
    """Return the record. Raises NotFound with the sentence `missing` where there is none."""
    if record is None:
        raise NotFound(missing)
    return record


def upsert(model: type[Base]) -> Any:
    """An insert into the model's table that has `on_conflict_do_nothing` and `on_conflict_do_update`."""
    on_postgresql = db.session.get_bind().dialect.name == "postgresql"
    return (postgresql if on_postgresql else sqlite).insert(model)


def flush_or_conflict(message: str) -> None:
    """Flush the session. Raises Conflict with the message where a constraint refuses a record, as for the second of two
    savers that found the same name free."""
    try:
        db.session.flush()
    except IntegrityError as error:
        raise Conflict(message) from error


MOST_COUNTED = 100_000


def count_rows(query: Select[Any], most: int = MOST_COUNTED) -> int:
    """Return how many rows a query has, and `most` + 1 for any more: counting ends there, so that a page takes no
    longer the more records there are."""
    rows = query.with_only_columns(literal_column("1")).order_by(None).limit(most + 1).subquery()
    return db.session.scalar(select(func.count()).select_from(rows)) or 0


def distinct_values(column: InstrumentedAttribute[T], *which: ColumnElement[bool]) -> Select[T]:
    """Return the query of the different values of a column, in order, None left out, among the rows that the conditions
    name. An index that begins with these and goes on with the column is read once for each value, instead of once for
    each row."""
    step = select(column).where(column.is_not(None), *which).order_by(column).limit(1)
    found = select(step.scalar_subquery().label("value")).cte("distinct_values", recursive=True)
    following = step.where(column > found.c.value).correlate(found).scalar_subquery()
    found = found.union_all(select(following).where(found.c.value.is_not(None)))
    return select(found.c.value).where(found.c.value.is_not(None))


class _Like(FunctionElement[bool]):
    """A LIKE without case: LIKE itself on SQLite, ILIKE on PostgreSQL. lower() on both sides would make a scan twice as
    slow."""

    name = "contains_text"
    type = Boolean()
    inherit_cache = True


def containing(column: ColumnElement[str] | InstrumentedAttribute[str], text: str) -> ColumnElement[bool]:
    """Return the condition that the column contains the text, whatever the case of ASCII letters; `%` and `_` have no
    special meaning."""
    escaped = text.replace(ESCAPE, ESCAPE * 2).replace("%", f"{ESCAPE}%").replace("_", f"{ESCAPE}_")
    return _Like(column, literal(f"%{escaped}%"))


def contains(column: ColumnElement[str] | InstrumentedAttribute[str], text: str) -> ColumnElement[bool]:
    """Return the condition that the column contains the text, whatever its case. SQLite knows the case of ASCII letters
    only, so other letters are looked for in their usual spellings."""
    spellings = {text} if text.isascii() else {text, text.lower(), text.upper(), text.capitalize()}
    return or_(*(containing(column, spelling) for spelling in sorted(spellings)))


@compiles(_Like)
def _compile_like(element: _Like, compiler: SQLCompiler, **options: Any) -> str:
    return _format_like(element, compiler, "LIKE", options)


@compiles(_Like, "postgresql")
def _compile_ilike(element: _Like, compiler: SQLCompiler, **options: Any) -> str:
    return _format_like(element, compiler, "ILIKE", options)


def _format_like(element: _Like, compiler: SQLCompiler, operator: str, options: dict[str, Any]) -> str:
    column, pattern = (compiler.process(clause, **options) for clause in element.clauses)
    return f"({column} {operator} {pattern} ESCAPE '{ESCAPE}')"


class _Elements(FunctionElement[Any]):
    name = "list_elements"
    inherit_cache = True


def elements(column: InstrumentedAttribute[list[str]]) -> TableValuedAlias:
    """Return the texts of a list as rows with one column, `value`."""
    return _Elements(column).table_valued("value")


def value_of(rows: TableValuedAlias) -> ColumnElement[str]:
    return rows.c.value


@compiles(_Elements)
def _compile_elements(element: _Elements, compiler: SQLCompiler, **options: Any) -> str:
    return f"json_each({compiler.process(element.clauses, **options)})"


@compiles(_Elements, "postgresql")
def _compile_elements_on_postgresql(element: _Elements, compiler: SQLCompiler, **options: Any) -> str:
    return f"jsonb_array_elements_text({compiler.process(element.clauses, **options)})"
