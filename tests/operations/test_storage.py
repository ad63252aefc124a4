"""A database that is busy or away is waited for; one that cannot do what it was told is a fault of ours."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import psycopg
import pytest
from flask import Flask
from psycopg import errors
from sqlalchemy import create_engine, text
from sqlalchemy.exc import OperationalError

from app.operations.storage import is_busy_or_away


def failure_of(path: Path, statement: str) -> OperationalError:
    with pytest.raises(OperationalError) as failed, create_engine(f"sqlite:///{path}").connect() as connection:
        connection.exec_driver_sql("PRAGMA busy_timeout=1")
        connection.execute(text(statement))
    return failed.value


def test_a_locked_or_missing_sqlite_is_waited_for_and_nothing_else(tmp_path: Path) -> None:
    shop = tmp_path / "shop.db"
    other = sqlite3.connect(shop, isolation_level=None)
    other.execute("CREATE TABLE t (a)")
    assert not is_busy_or_away(failure_of(shop, "SELECT nothing FROM t"))
    assert not is_busy_or_away(failure_of(shop, "SELECT a FROM missing"))
    other.execute("BEGIN EXCLUSIVE")
    assert is_busy_or_away(failure_of(shop, "SELECT a FROM t"))
    other.close()
    assert is_busy_or_away(failure_of(tmp_path / "nowhere" / "shop.db", "SELECT 1"))


@pytest.mark.parametrize(
    ("cause", "waits"),
    [
        (psycopg.OperationalError("server closed the connection unexpectedly"), True),
        (errors.AdminShutdown(), True),
        (errors.TooManyConnections(), True),
        (errors.LockNotAvailable(), True),
        (errors.DeadlockDetected(), True),
        (errors.DiskFull(), False),
        (errors.OutOfMemory(), False),
        (errors.StatementTooComplex(), False),
    ],
)
def test_of_postgresql_connections_and_locks_are_waited_for(cause: Exception, waits: bool) -> None:
    assert is_busy_or_away(OperationalError("SELECT", {}, cause)) is waits


@pytest.mark.parametrize(
    ("cause", "status"),
    [(sqlite3.OperationalError("no such table"), 500), (psycopg.OperationalError("the server went away"), 503)],
)
def test_only_what_passes_is_called_busy(app: Flask, cause: Exception, status: int) -> None:
    with app.test_request_context("/v1/anything"):
        answer = app.make_response(app.handle_user_exception(OperationalError("SELECT", {}, cause)))
    assert (answer.status_code, "Retry-After" in answer.headers) == (status, status == 503)
