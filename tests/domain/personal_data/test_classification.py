"""No table can be added without saying what it holds of people."""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy import Boolean, Date, Float, Integer

import app.blueprints  # noqa: F401  Every model is loaded.
from app.domain.personal_data.classification import COLUMNS
from app.domain.personal_data.holdings import HOLDINGS
from app.domain.personal_data.people import Account, Person
from app.domain.shared.records import UtcDateTime
from app.extensions import Base

NO_TEXT = (Integer, Boolean, Date, Float, UtcDateTime)
KEPT_FOR_A_DAY = {("pos_idempotency_keys", "key"), ("pos_idempotency_keys", "request_hash")}  # Hashes alone.
PERSON = Person(
    1, "sam@home.test", None, datetime(2026, 11, 1, tzinfo=UTC), Account(12, frozenset(), frozenset(), frozenset())
)


def test_every_table_with_every_text_is_classified() -> None:
    found = {
        name: {column.name for column in table.c if not isinstance(column.type, NO_TEXT)}
        for name, table in Base.metadata.tables.items()
    }
    said = {name: set(columns.names) for name, columns in COLUMNS.items()}
    assert said == found, "say in app/domain/personal_data/classification.py what the table holds of people"
    assert all(len(columns.names) == len(set(columns.names)) for columns in COLUMNS.values()), "in one class alone"


def test_all_that_is_personal_is_written_over_or_removed() -> None:
    person_columns = {
        (name, column) for name, columns in COLUMNS.items() for column in columns.cleared
    } - KEPT_FOR_A_DAY
    removed = {holding.model.__tablename__ for holding in HOLDINGS if holding.erased is None}
    written = {
        (holding.model.__tablename__, column)
        for holding in HOLDINGS
        if holding.erased is not None
        for column in holding.erased(PERSON)
    }
    assert {(table, column) for table, column in person_columns if table not in removed} <= written


def test_no_secret_is_exported() -> None:
    for holding in HOLDINGS:
        secrets = COLUMNS[holding.model.__tablename__].secret.split()
        assert not set(secrets) & set(holding.columns), holding.name
