"""Machines that share a PostgreSQL go by its clock, however wrong their own are."""

from __future__ import annotations

from datetime import timedelta

import pytest
from flask import Flask
from sqlalchemy import func, select, text

from app.adapters.clock import ServerClock, SystemClock
from app.extensions import db
from tests.fakes.clock import StoppedClock


@pytest.fixture
def postgresql(app: Flask, database_kind: str) -> Flask:
    if database_kind != "postgresql":
        pytest.skip("SQLite has no clock but the machine's")
    return app


def test_two_machines_whose_clocks_are_an_hour_apart_say_the_same(postgresql: Flask) -> None:
    right = SystemClock().now()
    machines = [ServerClock(StoppedClock(right + timedelta(hours=hours))) for hours in (1, -1)]
    with postgresql.app_context():
        for machine in machines:
            assert abs(machine.now() - right) >= timedelta(minutes=59), "nothing is known of the server yet"
            machine.follow(db.engine)
            db.session.execute(text("SELECT 1"))
            db.session.rollback()
            assert abs(machine.now() - right) < timedelta(seconds=30)


def test_between_readings_it_goes_on_by_measure(postgresql: Flask) -> None:
    own = StoppedClock()
    machine = ServerClock(own)
    with postgresql.app_context():
        machine.follow(db.engine)
        db.session.execute(text("SELECT 1"))
        before = machine.now()
        own.jump(days=400)
        own.move(seconds=1)
        assert machine.now() == before + timedelta(seconds=1)


def test_it_is_read_anew_with_a_later_connection(postgresql: Flask) -> None:
    own = StoppedClock()
    machine = ServerClock(own)
    with postgresql.app_context():
        machine.follow(db.engine)
        db.session.execute(text("SELECT 1"))
        db.session.rollback()
        own.move(days=3)  # As its own measure says.
        server = db.session.scalar(select(func.clock_timestamp()))
        assert abs(machine.now() - server) < timedelta(seconds=30)


def test_a_connection_that_the_server_closed_is_replaced(postgresql: Flask) -> None:
    """F29."""
    own = StoppedClock()
    machine = ServerClock(own)
    with postgresql.app_context():
        machine.follow(db.engine)
        with db.engine.connect() as other:
            with db.engine.connect() as connection:
                backend = connection.scalar(select(func.pg_backend_pid()))
            other.execute(select(func.pg_terminate_backend(backend)))
            own.move(seconds=10)
            assert db.session.scalar(select(func.pg_backend_pid())) != backend
