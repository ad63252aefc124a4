"""Fixtures that many tests share; one that a single file uses lives in that file."""

from __future__ import annotations

import gc
import logging
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog
from flask import Flask
from structlog.testing import capture_logs
from structlog.typing import EventDict
from xdist.remote import Producer

from app import create_app
from app.adapters.mail import FolderMailer
from app.adapters.whoosh import WhooshEngine
from app.domain.alerts import alerts
from app.domain.search.engine import SearchContext
from app.extensions import db
from app.operations.supervisor import embedded_redis
from app.ports import Ports, machine_id, search_engine, worker_locks
from app.transaction import transaction
from tests.account import Account
from tests.databases import KINDS, NAMED, Databases, PostgresqlDatabases, databases
from tests.examples import ALL, thorough
from tests.fakes.clock import StoppedClock
from tests.fakes.payment_processor import FakeProcessor
from tests.fakes.queue import RecordingQueue
from tests.fault_table import FaultTable
from tests.kinds_of_database import left_out
from tests.ready_app import application, config_for
from tests.scheduling import ByWhatTheyShare, waits
from tests.shared_node import shared_node


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Account())
    config.pluginmanager.register(FaultTable())
    if hasattr(config, "workerinput") or not config.getoption("numprocesses"):  # A controller of workers collects none.
        gc.disable()  # Until all is collected.


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> ByWhatTheyShare:
    return ByWhatTheyShare(config, log)


def pytest_collection_finish() -> None:
    """Thousands of tests and the modules that they import stay: the garbage collector need not walk them every time."""
    gc.collect()
    gc.freeze()
    gc.enable()
    gc.set_threshold(20_000, 20, 20)


def pytest_report_header() -> list[str]:
    return [
        "properties: all examples" if ALL else "properties: a quarter of their examples; no thorough tests",
        f"databases: {NAMED}" if NAMED else "databases: sqlite, and a quarter on postgresql",
    ]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: waits(item.nodeid), reverse=True)
    if needless := left_out(items) | thorough(items):
        config.hook.pytest_deselected(items=list(needless))
        items[:] = [item for item in items if item not in needless]


@pytest.fixture(scope="session", params=KINDS)
def database_kind(request: pytest.FixtureRequest) -> str:
    kind: str = request.param
    return kind


@pytest.fixture(scope="session")
def databases_by_kind() -> Iterator[dict[str, Databases]]:
    """Kept to the end, since pytest ends what has a parameter whenever the next test has another one."""
    made: dict[str, Databases] = {}
    yield made
    for each in made.values():
        if isinstance(each, PostgresqlDatabases):
            each.close()


@pytest.fixture(scope="session")
def all_databases(
    database_kind: str, databases_by_kind: dict[str, Databases], tmp_path_factory: pytest.TempPathFactory
) -> Databases:
    if database_kind not in databases_by_kind:
        folder = tmp_path_factory.mktemp(database_kind)

        def create_schema(url: str) -> None:
            app = create_app(config_for(url, folder))
            with app.app_context():
                db.create_all()
                db.engine.dispose()

        databases_by_kind[database_kind] = databases(database_kind, folder, create_schema)
    return databases_by_kind[database_kind]


@pytest.fixture
def database_url(all_databases: Databases) -> Iterator[str]:
    with all_databases.fresh() as url:
        yield url


@pytest.fixture
def own_database_url(all_databases: Databases) -> Iterator[str]:
    """For tests that change the schema."""
    with all_databases.own() as url:
        yield url


@pytest.fixture
def clock() -> StoppedClock:
    return StoppedClock()


@pytest.fixture
def queue() -> RecordingQueue:
    return RecordingQueue()


@pytest.fixture
def processor(clock: StoppedClock) -> FakeProcessor:
    return FakeProcessor(clock)


@pytest.fixture
def app(
    database_url: str,
    tmp_path: Path,
    clock: StoppedClock,
    queue: RecordingQueue,
    processor: FakeProcessor,
) -> Iterator[Flask]:
    """The application on a fresh database of each kind, with the real search engine."""
    config = config_for(database_url, tmp_path)
    ports = Ports(
        search_engine=WhooshEngine(config.index_dir),
        clock=clock,
        queue=queue,
        payment_processor=processor,
        mailer=FolderMailer(config.mail_folder),
    )
    made = application(config, ports)
    yield made
    with made.app_context():
        db.session.remove()
        db.engine.dispose()


@pytest.fixture
def context(app: Flask) -> Iterator[None]:
    """For tests of the domain, which needs a database session but no request."""
    with app.app_context():
        yield


@pytest.fixture
def indexing(app: Flask, clock: StoppedClock) -> SearchContext:
    """What applies, rebuilds and reconciles, with the real engine."""
    with app.app_context():
        return SearchContext(clock, transaction, search_engine(), locks=worker_locks(), machine=machine_id())


@pytest.fixture(autouse=True)
def _alerts_in_memory_are_of_one_test() -> Iterator[None]:
    yield
    alerts._unwritten.clear()
    alerts._logged_at.clear()


@pytest.fixture
def log_lines() -> Iterator[list[EventDict]]:
    """The log lines of the test, also those below the level that the tests are run with."""
    before = structlog.get_config()["wrapper_class"]
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.INFO))
    with capture_logs() as captured:
        yield captured
    structlog.configure(wrapper_class=before)


@pytest.fixture(scope="session")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real queue server for the session. Tests that stop or empty one start their own."""
    redis = embedded_redis.prepare(tmp_path_factory.mktemp("redis"))
    redis.part.start()
    redis.wait_until_it_answers()
    yield redis.url
    redis.stop(5)


@pytest.fixture(scope="session")
def opensearch_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A node of OpenSearch, one for all processes of the run. A test has a prefix of its own there."""
    folder = tmp_path_factory.getbasetemp()
    is_one_of_many = "PYTEST_XDIST_WORKER" in os.environ
    with shared_node((folder.parent if is_one_of_many else folder) / "opensearch") as url:
        yield url


@pytest.fixture(autouse=True)
def _push_request_context() -> Iterator[None]:
    """Replaces pytest-flask's fixture, under which all test clients share one signed-in user."""
    yield
