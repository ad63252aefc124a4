"""Rows for every table of the shop, made from what its model says, with values that databases store differently."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any

from sqlalchemy import JSON, CheckConstraint, Column, Connection, Table, insert
from sqlalchemy.types import BigInteger, Boolean, Date, DateTime, Float, Integer, LargeBinary, TypeDecorator, TypeEngine

from app.extensions import db

ROWS = 3
CHOICES = re.compile(r"(\w+) in \(([^)]*)\)")
RANGE = re.compile(r"(\w+) between (\d+) and (\d+)")
TEXT = 'Zoë’s “tea” 茶 😀 \\N \\ \t\n %s {"a": 1}'
JSON_VALUE = {"z": 1, "a": [1.5, True, None, "é\u2028😀"], "": {}, "1000": 1e3, "big": 2**60, "small": 1e-7}


def fill(connection: Connection) -> None:
    """Insert ROWS rows into every table, the nth of them referring to the nth of others."""
    for table in db.metadata.sorted_tables:
        connection.execute(insert(table), [row_of(table, number) for number in range(1, ROWS + 1)])


def row_of(table: Table, number: int) -> Mapping[str, Any]:
    return {column.name: _value(table, column, number) for column in table.columns}


def _value(table: Table, column: Column[Any], number: int) -> Any:
    others = [key.column for key in column.foreign_keys if key.column.table is not table]
    if others:
        return _value(others[0].table, others[0], number)
    if column.nullable and number == 2:
        return None
    if any(key.column.table is table for key in column.foreign_keys):
        return None  # A tree, which a test makes for itself.
    choices, ranges = _choices(table).get(column.name), _ranges(table)
    if column.name in ranges:
        return ranges[column.name][number % len(ranges[column.name])]
    return choices[0] if choices else _of_type(column, number)


def _choices(table: Table) -> dict[str, list[str]]:
    """Return the values that the constraints of a table allow, the last one first: work that is over."""
    found = CHOICES.findall(_checks(table))
    return {name: re.findall(r"'(\w+)'", values)[::-1] for name, values in found}


def _ranges(table: Table) -> dict[str, range]:
    """Return the numbers that the constraints of a table allow."""
    return {name: range(int(low), int(high) + 1) for name, low, high in RANGE.findall(_checks(table))}


def _checks(table: Table) -> str:
    return "\n".join(str(check.sqltext) for check in table.constraints if isinstance(check, CheckConstraint))


def _of_type(column: Column[Any], number: int) -> Any:
    kind = column.type.impl_instance if isinstance(column.type, TypeDecorator) else column.type
    for type, value in _values(number):
        if isinstance(kind, type):
            return value
    return f"{number}{TEXT}"[: getattr(kind, "length", None)]


def _values(number: int) -> list[tuple[type[TypeEngine[Any]], Any]]:
    """The nth value of each type but texts; those that are special kinds of others come first."""
    return [
        (JSON, [JSON_VALUE, {"id": str(number)}]),
        (DateTime, datetime(2026, 3, 29, 1, 30, 0, 999_999, tzinfo=UTC) + timedelta(days=number)),
        (Date, date(2024, 2, 28) + timedelta(days=number)),
        (Boolean, number == 1),
        (BigInteger, 2**53 + number),
        (Integer, 4 + number),
        (Float, number / 7),
        (LargeBinary, bytes(range(256)) + bytes([number])),
    ]
