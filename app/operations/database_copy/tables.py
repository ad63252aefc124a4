"""The tables of a database that is copied: read in batches, written, compared by their checksums, and the counters from
which new ids come. A table is never in memory as a whole."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import psycopg
from sqlalchemy import JSON, ColumnElement, Connection, Row, Table, func, insert, inspect, literal, select, text
from sqlalchemy import type_coerce as typed
from sqlalchemy.exc import DBAPIError
from sqlalchemy.types import TypeDecorator

from app.domain.shared.problems import DomainError
from app.domain.shared.records import JsonValue
from app.extensions import db
from app.operations.database_copy.checksum import TableSum

AT_ONCE = 100  # Rows: some hold megabytes.
PLACE = re.compile(r"COPY \w+, line (?P<line>\d+)(?:, column (?P<column>\w+))?")
Rows = Sequence[Row[Any]]


class CopyRefused(DomainError):
    """The database was not copied; the message says why, or that it is not known whether it was."""

    code = "database_copy"


def all_tables() -> list[Table]:
    """Return the tables of the shop, each after those that it refers to."""
    return list(db.metadata.sorted_tables)


def filled_tables(connection: Connection) -> list[str]:
    """Return the names of the shop's tables that have rows, of those that are there."""
    there = set(inspect(connection).get_table_names())
    return [table.name for table in all_tables() if table.name in there and _has_rows(connection, table)]


def _has_rows(connection: Connection, table: Table) -> bool:
    return connection.scalar(select(literal(1)).select_from(table).limit(1)) is not None


def read_rows(connection: Connection, table: Table) -> Iterator[Rows]:
    """Yield the rows of a table in batches, in the order of its key."""
    query = select(*map(_readable, table.columns)).order_by(*table.primary_key.columns)
    result = connection.execute(query, execution_options={"stream_results": True, "max_row_buffer": AT_ONCE})
    yield from result.partitions(AT_ONCE)


def _readable(column: ColumnElement[Any]) -> ColumnElement[Any]:
    """Return a column whose JSON is decoded, also where the shop reads it as text."""
    kind = column.type
    is_json = isinstance(kind, TypeDecorator) and isinstance(kind.impl_instance, JSON)
    return typed(column, JsonValue) if is_json else column


def sum_of(connection: Connection, table: Table) -> TableSum:
    """Return the number of rows and the checksum of a table."""
    total = TableSum()
    for _ in _added(total, read_rows(connection, table)):
        pass
    return total


def copy_table(source: Connection, target: Connection, table: Table) -> TableSum:
    """Copy the rows of a table into an empty one, and return the sum of what was read. Raises CopyRefused for what the
    other database does not take."""
    total = TableSum()
    batches = _added(total, read_rows(source, table))
    if target.dialect.name == "postgresql":
        _copy_in(target, table, batches)
    else:
        for batch in batches:
            _insert(target, table, batch)
    return total


def _added(total: TableSum, batches: Iterable[Rows]) -> Iterator[Rows]:
    for batch in batches:
        for row in batch:
            total.add(row)
        yield batch


def _insert(target: Connection, table: Table, batch: Rows) -> None:
    try:
        target.execute(insert(table), [dict(row._mapping) for row in batch])
    except (DBAPIError, ValueError) as error:
        raise CopyRefused(f"{table.name} cannot be copied: {getattr(error, 'orig', error)}.") from error


def _copy_in(target: Connection, table: Table, batches: Iterable[Rows]) -> None:
    """Write rows by COPY: one statement, after which PostgreSQL looks at foreign keys, so that rows of a tree may come
    before those above them."""
    kinds = [column.type.dialect_impl(target.dialect) for column in table.columns]
    processors = [kind.bind_processor(target.dialect) for kind in kinds]
    quote = target.dialect.identifier_preparer.quote
    names = ", ".join(quote(column.name) for column in table.columns)
    driver: Any = target.connection.driver_connection
    row: Row[Any] | None = None
    try:
        with driver.cursor().copy(f"COPY {quote(table.name)} ({names}) FROM STDIN") as copy:
            for batch in batches:
                for row in batch:
                    values = zip(row, processors, strict=True)
                    copy.write_row([process(value) if process else value for value, process in values])
    except psycopg.Error as error:
        raise _refusal(table, error, row) from error


def _refusal(table: Table, error: psycopg.Error, row: Row[Any] | None) -> CopyRefused:
    """Return the error with its place, but without the value, which may be personal. `row` is the last one that was
    sent: the one that the driver refused, where the server did not see it."""
    reason = error.diag.message_primary or str(error)
    place = PLACE.match(error.diag.context or "")
    if place is not None:
        column = f", its {place['column']}" if place["column"] else ""
        where = f" It is row {int(place['line']):,} by the key{column}."
    elif row is not None and not error.diag.sqlstate:
        where = f" It has the key {', '.join(str(row._mapping[column]) for column in table.primary_key.columns)}."
    else:
        where = ""
    return CopyRefused(f"{table.name} cannot be copied: {reason}.{where}")


def read_counters(connection: Connection) -> Mapping[str, int]:
    """Return, by table, the highest id that was ever given, where the database counts it: a deleted one may have had
    it, and names it in the activity log."""
    if connection.dialect.name == "postgresql":
        query = text(
            "SELECT t.relname, s.last_value FROM pg_sequences s "
            "JOIN pg_depend d ON d.objid = format('%I.%I', s.schemaname, s.sequencename)::regclass AND d.deptype = 'a' "
            "JOIN pg_class t ON t.oid = d.refobjid "
            "WHERE s.schemaname = current_schema() AND s.last_value IS NOT NULL"
        )
    elif inspect(connection).dialect.has_table(connection, "sqlite_sequence"):
        query = text("SELECT name, seq FROM sqlite_sequence")
    else:
        return {}
    return {str(name): int(number) for name, number in connection.execute(query)}


def write_counters(connection: Connection, counters: Mapping[str, int]) -> None:
    """Let new ids come after all that were ever given, and after those that are there."""
    for table in all_tables():
        column = table.autoincrement_column
        if column is None:
            continue
        highest = max(connection.scalar(select(func.max(column))) or 0, counters.get(table.name, 0))
        if highest:
            _set_counter(connection, table, column.name, highest)


def _set_counter(connection: Connection, table: Table, column: str, highest: int) -> None:
    values = {"table": table.name, "column": column, "highest": highest}
    if connection.dialect.name == "postgresql":
        sequence = "pg_get_serial_sequence(quote_ident(:table), :column)"
        connection.execute(text(f"SELECT setval({sequence}, :highest) WHERE {sequence} IS NOT NULL"), values)
    elif table.dialect_options["sqlite"]["autoincrement"]:
        connection.execute(text("DELETE FROM sqlite_sequence WHERE name = :table"), values)
        connection.execute(text("INSERT INTO sqlite_sequence (name, seq) VALUES (:table, :highest)"), values)
