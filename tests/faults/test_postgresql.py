"""F24, F29 and F34 on PostgreSQL: its sessions are ended, it stops and crashes under writes, and machines whose clocks
are an hour apart share it."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest
from flask import Flask, Response, current_app
from sqlalchemy import event, func, make_url, select

from app import create_app
from app.domain.alerts.alerts import open_alerts
from app.domain.catalogue.models import Product
from app.domain.search.index import outbox
from app.domain.search.models import OutboxEntry
from app.domain.sites.models import SignInFailure
from app.domain.sites.throttle import account_key
from app.extensions import db
from tests.databases import PostgresqlDatabases
from tests.fakes.chat import chat_server
from tests.fakes.clock import SetClock
from tests.faults.deeds import Deed
from tests.faults.shops import Shop, check, make_shop
from tests.injected_faults import injected
from tests.ready_app import config_for
from tests.waiting import until


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PostgresqlDatabases]:
    folder = tmp_path_factory.mktemp("schema")

    def create_schema(url: str) -> None:
        app = create_app(config_for(url, folder))
        with app.app_context():
            db.create_all()
            db.engine.dispose()

    made = PostgresqlDatabases(create_schema)
    yield made
    made.close()


@pytest.fixture
def shop(server: PostgresqlDatabases, tmp_path: Path) -> Iterator[Shop]:
    """One whose database loses nothing that was committed when its server crashes."""
    with server.own() as url:
        with psycopg.connect(plain(url), autocommit=True) as connection:
            connection.execute(f"ALTER DATABASE {make_url(url).database} SET synchronous_commit = on")  # type: ignore[arg-type]
        made = make_shop(tmp_path, url)
        yield made
        made.end_all()


@pytest.fixture
def app(shop: Shop) -> Iterator[Flask]:
    """The application, with no context open, so that each request has a session of its own."""
    with shop.opened():
        app: Flask = current_app._get_current_object()  # type: ignore[attr-defined]
    yield app
    with app.app_context():
        db.engine.dispose()


def plain(url: str) -> str:
    return url.replace("+psycopg", "")


@pytest.mark.fault("F29")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGQUIT], ids=["stopped", "crashed"])
def test_a_server_that_is_restarted_under_writes_loses_nothing(
    shop: Shop, server: PostgresqlDatabases, how: signal.Signals
) -> None:
    scheduler, savers = shop.do("eager_scheduler"), [shop.do("save", "0") for _ in range(2)]
    for _ in range(2):
        until_more_is_saved(savers)
        server.stop(how)
        injected()
        until(lambda: all(any(line.startswith("refused") for line in saver.said[-50:]) for saver in savers))
        server.start()
        until_more_is_saved(savers)
    assert scheduler.is_running
    for deed in (*savers, scheduler):
        deed.signal("KILL")
        deed.finish()
    check(shop, [line for saver in savers for line in saver.said if " new-" in line])


def test_a_database_that_is_gone_is_sent_without_it_and_over_when_it_is_back(
    shop: Shop, server: PostgresqlDatabases
) -> None:
    def open_causes() -> list[str]:
        with shop.opened():
            return [alert.cause for alert in open_alerts(None)]

    with chat_server() as hooks:
        hooks.fails(200)
        scheduler = shop.do("watch_machine", ALERT_WEBHOOK_URL=hooks.base_url)
        until(lambda: open_causes() == [])
        server.stop(signal.SIGQUIT)
        try:
            until(lambda: hooks.requests)
        finally:
            server.start()
        until(lambda: open_causes() == [])
    assert scheduler.is_running
    assert [(body["event"], body["cause"]) for body in hooks.requests] == [("alert_raised", "database_gone")]


def until_more_is_saved(savers: list[Deed]) -> None:
    wanted = [len(saved(saver)) + 10 for saver in savers]
    until(lambda: all(len(saved(saver)) >= count for saver, count in zip(savers, wanted, strict=True)))


def saved(saver: Deed) -> list[str]:
    return [line for line in saver.said if line.startswith("saved")]


@pytest.mark.fault("F29")
def test_a_request_whose_session_the_server_ends_is_asked_to_come_back_and_leaves_nothing(shop: Shop) -> None:
    """F29: at each statement of the transaction that notes a sign-in that fails."""
    for statement in range(1, 4):
        with shop.opened():
            client = current_app.test_client()
            form = client.get("/admin/login", base_url="http://shop.test").text
            token = re.search(r'name="csrf_token"[^>]*value="([^"]+)"', form)
            assert token
            sent = {"csrf_token": token[1], "email": f"nobody{statement}@shop.test", "password": "wrong"}
            end_session_at(statement, plain(shop.config.database_url))
            answer = client.post("/admin/login", data=sent, base_url="http://shop.test")
            assert (answer.status_code, int(answer.headers.get("Retry-After", 0)) > 0) == (503, True)
            assert attempts(sent["email"]) == 0
            assert "is not right" in client.post("/admin/login", data=sent, base_url="http://shop.test").text
            assert attempts(sent["email"]) == 1


@pytest.mark.fault("F29")
@pytest.mark.parametrize("path", ["/", "/v1/product", "/admin/login"])
def test_a_session_that_the_server_ends_after_the_view_has_answered_is_a_503(app: Flask, path: str) -> None:
    """F29: the page is made, and the transaction that read it not yet ended."""
    client = app.test_client()
    app.after_request_funcs[None].append(end_session_of_request)  # The last one is called first.
    answer = client.get(path, base_url="http://shop.test")
    assert (answer.status_code, answer.headers.get("Retry-After")) == (503, "5")
    assert "The database is busy. Try again in a moment." in answer.text
    app.after_request_funcs[None].remove(end_session_of_request)
    assert client.get(path, base_url="http://shop.test").status_code == 200


@pytest.mark.fault("F29")
def test_a_save_whose_session_the_server_ends_afterwards_is_answered_as_saved(app: Flask) -> None:
    """F29: whoever heard that it failed would send it again."""
    client = app.test_client()
    form = client.get("/admin/login", base_url="http://shop.test").text
    token = re.search(r'name="csrf_token"[^>]*value="([^"]+)"', form)
    assert token
    sent = {"csrf_token": token[1], "email": "nobody@shop.test", "password": "wrong"}
    app.after_request_funcs[None].append(end_session_of_request)
    answer = client.post("/admin/login", data=sent, base_url="http://shop.test")
    assert "is not right" in answer.text
    with app.app_context():
        assert attempts(sent["email"]) == 1


@pytest.mark.fault("F29")
def test_a_session_that_the_server_ends_right_before_its_teardown_costs_no_answer(app: Flask) -> None:
    app.after_request_funcs[None].insert(0, end_session_of_request)  # The first one is called last.
    client = app.test_client()
    for _ in range(2):
        assert client.get("/", base_url="http://shop.test").status_code == 200


def end_session_of_request(response: Response) -> Response:
    db.session.execute(select(1))
    own = db.session.connection().connection.dbapi_connection
    with psycopg.connect(plain(db.engine.url.render_as_string(False)), autocommit=True) as other:
        injected()
        other.execute("SELECT pg_terminate_backend(%s, 5000)", [own.info.backend_pid])  # type: ignore[union-attr]
    return response


@pytest.mark.fault("F24")
def test_a_save_that_commits_after_later_ones_were_applied_and_built_is_found(shop: Shop) -> None:
    """Its entry has a lower number than those that another process applied, and than those that a rebuild read."""
    for make_durable in ("apply", "rebuild"):
        name = f"late for {make_durable}"
        with shop.opened():
            slow = db.session.scalars(select(Product).where(Product.sku == "sku-1")).one()
            slow.name = name
            db.session.flush()
            numbers = [entry_number()]
            said = saved_by_another(shop)
            numbers.append(entry_number())
            assert shop.do(make_durable).finish() == 0
            db.session.commit()
            injected()
        assert numbers[0] < numbers[1]
        assert shop.do("apply").finish() == 0
        assert shop.found()["sku-1"] == name
        check(shop, said)


def saved_by_another(shop: Shop) -> list[str]:
    saver = shop.do("create", "3")
    assert saver.finish() == 0
    return saver.said


def entry_number() -> int:
    """The highest number of an outbox entry that this session sees."""
    return db.session.scalar(select(func.max(OutboxEntry.id))) or 0


def attempts(email: str) -> int:
    return len(db.session.scalars(select(SignInFailure).where(SignInFailure.key == account_key(email))).all())


def end_session_at(statement: int, url: str) -> None:
    """By the server, right before that statement from here."""
    left = iter([False] * (statement - 1) + [True])

    def end(connection: object, cursor: psycopg.Cursor, *_: object) -> None:
        if next(left, False):
            with psycopg.connect(url, autocommit=True) as other:
                injected()
                other.execute("SELECT pg_terminate_backend(%s)", [cursor.connection.info.backend_pid])

    event.listen(db.engine, "before_cursor_execute", end)


@pytest.mark.fault("F34")
@pytest.mark.parametrize("hours", [1, -1])
def test_a_build_is_not_given_up_by_a_machine_whose_clock_is_an_hour_off(shop: Shop, hours: int) -> None:
    """F34: all go by the clock of the server."""
    builder = shop.do("rebuild", fault="sealed:STOP")
    builder.until_stopped()
    shop.clock_file = shop.folder / "clock"
    SetClock.set(shop.clock_file, timedelta(hours=hours))
    shop.do("eager_scheduler")
    shop.do("save", "3").finish()
    until(lambda: not waiting(shop))
    builder.signal("CONT")
    assert builder.finish() == 0
    assert shop.run() == ("done", None)


def waiting(shop: Shop) -> bool:
    """Whether the other machine's scheduler has not yet applied what was saved."""
    with shop.opened():
        return bool(outbox.oldest_by_site())
