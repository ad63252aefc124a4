"""What is said to PostgreSQL about a server that goes silent."""

from __future__ import annotations

import pytest
from flask import Flask
from sqlalchemy import text
from sqlalchemy.exc import OperationalError

from app.adapters.postgresql import connection_limits
from app.extensions import db

URL = "postgresql+psycopg://shop@db/shop"


def test_a_connection_is_made_or_given_up_within_seconds_unless_the_url_says_otherwise() -> None:
    limits = connection_limits(URL)
    assert (limits["connect_timeout"], limits["tcp_user_timeout"], limits["keepalives"]) == (4, 10_000, 1)
    assert "connect_timeout" not in connection_limits(f"{URL}?connect_timeout=30")
    assert connection_limits("sqlite:///shop.db") == {}


@pytest.mark.parametrize("database_kind", ["postgresql"], indirect=True)
def test_only_a_statement_that_says_so_is_given_up(app: Flask) -> None:
    slow = text("SELECT pg_sleep(0.5)")
    with app.app_context():
        for options in ({}, {"answers_within": 30.0}):
            db.session.execute(slow, execution_options=options)
        with pytest.raises(OperationalError) as failed:
            db.session.execute(slow, execution_options={"answers_within": 0.1})
        assert failed.value.connection_invalidated
        db.session.rollback()
        assert db.session.scalar(text("SELECT 1")) == 1, "on a new connection"
