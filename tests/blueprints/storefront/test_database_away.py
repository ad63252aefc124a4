"""The shop while the database does not answer."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

import pytest
from flask import Flask
from sqlalchemy import event
from sqlalchemy.exc import OperationalError

from app.extensions import db
from tests.blueprints.storefront.conftest import Get
from tests.fakes.clock import StoppedClock


@pytest.fixture
def database_is_away(app: Flask, get: Get, clock: StoppedClock) -> Iterator[None]:
    get("/c/camping")
    clock.move(seconds=5)

    def refuse(*_: object) -> None:
        away = sqlite3.OperationalError("unable to open database file")
        away.sqlite_errorcode = sqlite3.SQLITE_CANTOPEN
        raise OperationalError("SELECT", {}, away)

    with app.app_context():
        engine = db.engine
    event.listen(engine, "before_cursor_execute", refuse)
    yield
    event.remove(engine, "before_cursor_execute", refuse)


@pytest.mark.usefixtures("database_is_away")
@pytest.mark.parametrize("path", ["/", "/c/camping", "/c/camping?colour=Fern", "/search?q=tent"])
def test_listings_need_no_database(get: Get, path: str):
    assert get(path).status_code == 200


@pytest.mark.usefixtures("database_is_away")
@pytest.mark.parametrize("path", ["/p/tent-5", "/pages/delivery", "/collections/best"])
def test_other_pages_ask_for_patience(get: Get, path: str):
    page = get(path)
    assert page.status_code == 503
    assert "Retry-After" in page.headers
    assert 'href="/c/camping"' in page.text


def test_a_process_that_has_seen_no_shop_asks_for_patience_too(app: Flask, site_id: int):
    def refuse(*_: object) -> None:
        away = sqlite3.OperationalError("unable to open database file")
        away.sqlite_errorcode = sqlite3.SQLITE_CANTOPEN
        raise OperationalError("SELECT", {}, away)

    with app.app_context():
        event.listen(db.engine, "before_cursor_execute", refuse)
    page = app.test_client().get("/", base_url="http://shop.test")
    assert page.status_code == 503
    assert "Temporarily unavailable" in page.text
