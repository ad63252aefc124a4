"""Machines that share a database migrate it one after the other, and are seen meanwhile."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest
from flask import Flask

from app.domain.machines import machines
from app.extensions import db
from app.operations.machine import facts_of
from app.operations.supervisor.migration_turn import LOCK, turn_to_migrate
from app.operations.supervisor.parts import PREPARED
from app.ports import machine_id
from app.transaction import transaction
from tests.databases import PostgresqlDatabases
from tests.fakes.clock import StoppedClock
from tests.processes import plain_environment
from tests.surroundings import ROOT
from tests.waiting import until

PREPARE = ("-m", "app.operations.supervisor.preparation", "production")


class Database:
    def __init__(self, url: str) -> None:
        self.url = url
        self._connection = psycopg.connect(url.replace("+psycopg", ""), autocommit=True)

    def value(self, statement: str) -> object:
        row = self._connection.execute(statement).fetchone()  # type: ignore[arg-type]
        return row and row[0]

    def do(self, statement: str) -> None:
        self._connection.execute(statement)  # type: ignore[arg-type]

    def close(self) -> None:
        self._connection.close()


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresqlDatabases]:
    made = PostgresqlDatabases(lambda _url: None)
    yield made
    made.close()


@pytest.fixture
def database(server: PostgresqlDatabases) -> Iterator[Database]:
    """A database without a table."""
    with server.own() as url:
        made = Database(url)
        yield made
        made.close()


class Machine:
    """A machine that shares everything with others."""

    def __init__(self, folder: Path, database: Database) -> None:
        folder.mkdir()
        self.log = folder / "log"
        self._environment = plain_environment() | {
            "SHOP_ENV": "testing",
            "SECRET_KEY": "for tests",
            "INSTANCE_DIR": str(folder),
            "DATABASE_URL": database.url,
            "SEARCH_ENGINE": "none",
            "PICTURES": "s3",
            "S3_BUCKET": "pictures",
            "S3_ENDPOINT": "http://127.0.0.1:9",
            "S3_ACCESS_KEY": "key",
            "S3_SECRET_KEY": "secret",
        }

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        with self.log.open("ab") as log:
            command = [sys.executable, *arguments]
            return subprocess.Popen(command, cwd=ROOT, env=self._environment, stdout=log, stderr=log)


def test_two_machines_that_start_at_once_migrate_one_after_the_other(database: Database, tmp_path: Path) -> None:
    database.do(f"SELECT pg_advisory_lock({LOCK})")
    left, right = (Machine(tmp_path / name, database) for name in ("left", "right"))
    preparing = [left.start(*PREPARE), right.start(*PREPARE)]
    until(lambda: database.value("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted") == 2)
    assert database.value("SELECT to_regclass('alembic_version')") is None
    database.do(f"SELECT pg_advisory_unlock({LOCK})")
    statuses = [process.wait(120) for process in preparing]
    assert statuses == [PREPARED] * 2, left.log.read_text() + right.log.read_text()
    assert database.value("SELECT count(*) FROM machines") == 2


@pytest.mark.parametrize("database_kind", ["postgresql"], indirect=True)
def test_a_machine_is_seen_as_long_as_it_migrates(app: Flask, clock: StoppedClock) -> None:
    with app.app_context():
        with transaction():
            machines.register(clock, machine_id(), replace(facts_of(app.config["SHOP"]), name="left"))
        started = clock.now()
        clock.move(minutes=3)
        with turn_to_migrate(app, db.engine, between_beats=0.01):
            until(lambda: last_seen() == started + timedelta(minutes=3))
        seen = last_seen()
        clock.move(minutes=1)
        assert last_seen() == seen, "the beats have ended"


def last_seen() -> object:
    db.session.rollback()
    return machines.last_seen(machine_id())
