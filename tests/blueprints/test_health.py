"""Who runs the shop can see whether it works and what it counts."""

import dataclasses
import shutil
from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import event, select
from sqlalchemy.exc import OperationalError

from app.domain.alerts.alerts import open_alerts, unwritten_alerts
from app.domain.alerts.causes import Cause
from app.domain.search.engine import SearchContext
from app.domain.search.index.rebuild import rebuild
from app.domain.search.models import JobSlot
from app.extensions import db
from app.transaction import transaction
from tests.fakes.clock import StoppedClock
from tests.searching import add_product, add_site, request
from tests.statements import statements

HOSTS = ("shop.test", "other.test", "127.0.0.1:8000")  # The last is no shop's.


def test_the_process_is_up(client) -> None:
    assert client.get("/healthz").data == b"ok\n"


def test_the_parts_are_named_when_all_work(client) -> None:
    answer = client.get("/readyz")
    assert answer.status_code == 200
    assert answer.json == {"status": "ok", "checks": {"database": "ok", "queue": "ok", "index": "ok"}}


def test_a_queue_that_is_down_is_named(client, queue) -> None:
    queue.down = True
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert answer.json["status"] == "down"
    assert answer.json["checks"]["queue"] == "down: the queue does not answer"
    assert answer.json["checks"]["database"] == "ok"


def test_what_all_machines_share_is_no_reason_to_send_requests_elsewhere(client, queue) -> None:
    queue.down = True
    answer = client.get("/readyz?scope=machine")
    assert answer.status_code == 200
    assert answer.json == {"status": "ok", "checks": {"database": "ok"}}


def test_a_machine_that_does_not_reach_the_database_is_not_ready(app: Flask, client: FlaskClient) -> None:
    def refuse(*_connection: object) -> None:
        raise OperationalError("", None, OSError("no route to host"))

    with app.app_context():
        event.listen(db.engine, "before_cursor_execute", refuse)
        answer = client.get("/readyz?scope=machine")
        event.remove(db.engine, "before_cursor_execute", refuse)
    assert (answer.status_code, answer.json["checks"]) == (503, {"database": "down: the database does not answer"})


def test_an_unknown_scope_is_refused(client) -> None:
    assert client.get("/readyz?scope=everything").status_code == 400


@pytest.fixture
def read_only(app: Flask) -> None:
    """The database's pooled connection only reads, as one does that was opened while nothing could be written."""
    with app.app_context():
        is_sqlite = db.engine.dialect.name == "sqlite"
        read_only = "PRAGMA query_only=ON" if is_sqlite else "SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY"
        with db.engine.connect() as connection:
            connection.exec_driver_sql(read_only)
            connection.commit()


@pytest.mark.usefixtures("read_only")
def test_a_machine_whose_database_only_reads_is_sent_requests(client: FlaskClient) -> None:
    assert client.get("/readyz?scope=machine").status_code == 200


@pytest.mark.usefixtures("read_only")
def test_a_database_that_takes_no_writes_is_named_until_one_succeeds(
    app: Flask, client: FlaskClient, clock: StoppedClock
) -> None:
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert answer.json["checks"]["database"] == "down: the database cannot be written to"
    clock.move(hours=1)
    with app.app_context():
        assert [alert.cause for alert in unwritten_alerts(clock)] == [Cause.DATABASE_IO_ERROR]
        if db.engine.dialect.name != "sqlite":
            db.engine.dispose()  # The server is one that takes writes again.
    assert client.get("/readyz").json["checks"]["database"] == "ok", "the connection that only reads was dropped"
    with app.app_context():
        assert [alert.cause for alert in open_alerts(None)] == ["database_io_error"]
        assert unwritten_alerts(clock) == []


def test_however_often_readiness_is_asked_for_there_is_one_write_a_second_and_no_row(
    app: Flask, client: FlaskClient, clock: StoppedClock
) -> None:
    with statements(app) as seen:
        for second in range(1, 4):
            for _ in range(20):
                assert client.get("/readyz").status_code == 200
            assert sum(statement.startswith("INSERT INTO job_slots") for statement in seen) == second
            clock.move(seconds=1)
    with app.app_context():
        assert db.session.scalars(select(JobSlot)).all() == []


@pytest.fixture
def site_id(indexing: SearchContext) -> int:
    with transaction():
        site_id = add_site().id
        add_product(site_id, "tent")
    rebuild(indexing, request(indexing, site_id))
    return site_id


@pytest.mark.usefixtures("context")
@pytest.mark.parametrize(
    ("name", "named"),
    [("products", "products"), ("content", "pages and collections")],
)
def test_an_index_that_is_damaged_or_lost_is_named_though_another_shop_can_be_searched(
    client, indexing: SearchContext, site_id: int, tmp_path: Path, name: str, named: str
) -> None:
    with transaction():
        other = add_site("other.test").id
    rebuild(indexing, request(indexing, other))
    assert client.get("/readyz").json["checks"]["index"] == "ok"
    shutil.rmtree(tmp_path / "index" / str(site_id) / name)
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert answer.json["checks"]["index"] == f"down: the index of {named} cannot be read"
    statuses = {host: client.get("/readyz", base_url=f"http://{host}").status_code for host in HOSTS}
    assert statuses == {"shop.test": 503, "other.test": 200, "127.0.0.1:8000": 503}


@pytest.mark.usefixtures("context")
def test_a_new_shop_that_waits_for_its_first_rebuild_takes_no_other_out_of_service(client, site_id: int) -> None:
    with transaction():
        add_site("new.test")
    assert client.get("/readyz").status_code == 200


@pytest.fixture
def with_token(app: Flask):
    app.config["SHOP"] = dataclasses.replace(app.config["SHOP"], metrics_token="a token")
    return app.test_client()


def test_figures_are_off_without_a_token(client) -> None:
    assert client.get("/metrics").status_code == 404


def test_figures_want_the_token(with_token) -> None:
    assert with_token.get("/metrics").status_code == 401
    assert with_token.get("/metrics", headers={"Authorization": "Bearer another"}).status_code == 401


def test_figures_count_requests_by_endpoint_and_never_by_address(with_token) -> None:
    with_token.get("/healthz")
    with_token.get("/made-up-address")
    text = with_token.get("/metrics", headers={"Authorization": "Bearer a token"}).text
    assert 'shop_http_requests_total{endpoint="health.alive",method="GET",status="200"}' in text
    assert "made-up-address" not in text
