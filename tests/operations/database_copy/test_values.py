"""Values are the same in every database, and their checksum says so."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some
from sqlalchemy import Connection, insert, select

from app.domain.catalogue.models import Product
from app.domain.sites.models import AuditEntry, Site
from app.extensions import db
from app.operations.database_copy.checksum import TableSum
from app.operations.database_copy.tables import copy_table, sum_of
from tests.examples import examples
from tests.operations.database_copy.every_table import row_of
from tests.operations.database_copy.shops import written

TEXTS = some.text(some.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=20)
LEAVES = some.none() | some.booleans() | some.integers(-(2**60), 2**60) | some.floats(-1e15, 1e15) | TEXTS
VALUES = some.recursive(
    LEAVES, lambda inner: some.lists(inner, max_size=3) | some.dictionaries(TEXTS, inner, max_size=3), max_leaves=8
)
TIMES = some.datetimes(datetime(1970, 1, 1), datetime(9999, 12, 31), timezones=some.just(UTC))
Databases = tuple[Connection, Connection]


@pytest.fixture
def both(own_database_url: str, tmp_path: Path) -> Iterator[Databases]:
    """SQLite, and a database of each kind, each with one site."""
    with written(f"sqlite:///{tmp_path / 'one.db'}") as one, written(own_database_url) as other:
        for connection in (one, other):
            db.metadata.create_all(connection)
            connection.execute(insert(Site), row_of(Site.__table__, 1))
        yield one, other


@settings(max_examples=examples(60), suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(entries=some.lists(some.tuples(TEXTS, VALUES, TIMES), min_size=1, max_size=20))
def test_whatever_is_stored_is_the_same_in_the_copy_and_in_its_copy(both: Databases, entries: list[Any]) -> None:
    one, other = both
    table = AuditEntry.__table__
    with one.begin_nested() as here, other.begin_nested() as there:
        rows = [
            {**row_of(table, 1), "id": number, "summary": text, "before": value, "at": at}
            for number, (text, value, at) in enumerate(entries, 1)
        ]
        one.execute(insert(table), rows)
        stored = _entries(one)
        copied = copy_table(one, other, table)
        assert copied.rows == len(rows) and copied == sum_of(one, table) == sum_of(other, table)
        assert _entries(other) == stored
        one.execute(table.delete())
        assert copy_table(other, one, table) == copied
        assert _entries(one) == stored
        here.rollback()
        there.rollback()


def _entries(connection: Connection) -> Sequence[Any]:
    columns = (AuditEntry.id, AuditEntry.summary, AuditEntry.before, AuditEntry.at)
    return connection.execute(select(*columns).order_by(AuditEntry.id)).all()


def test_a_value_that_was_changed_on_its_way_shows(both: Databases) -> None:
    one, other = both
    table = Product.__table__
    one.execute(insert(table), row_of(table, 1))
    other.execute(insert(table), {**row_of(table, 1), "price": 6})
    assert sum_of(one, table) != sum_of(other, table)


@given(rows=some.lists(VALUES, min_size=1, max_size=6))
def test_the_checksum_does_not_depend_on_the_order_of_rows(rows: Sequence[object]) -> None:
    assert summed(rows) == summed(rows[::-1])


@given(rows=some.lists(some.integers() | some.text() | some.none(), min_size=1, max_size=6), place=some.integers(0, 5))
def test_another_value_is_another_checksum(rows: list[object], place: int) -> None:
    changed = [*rows]
    changed[place % len(rows)] = ("another", rows[place % len(rows)])
    assert summed(rows) != summed(changed)


def test_the_checksum_of_json_is_that_of_its_values_and_not_of_its_spelling() -> None:
    assert summed([{"b": 1e3, "a": [1]}]) == summed([{"a": [1], "b": 1000}])
    assert summed([{"a": 1}]) != summed([{"a": "1"}]) and summed(["1"]) != summed([1])


def summed(rows: Sequence[object]) -> TableSum:
    total = TableSum()
    for row in rows:
        total.add([row])
    return total
