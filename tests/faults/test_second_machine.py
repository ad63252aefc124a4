"""A second machine on the database of one that runs: each of its processes says why it does not start."""

from __future__ import annotations

import platform
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from app.operations.supervisor.parts import NEEDS_A_STOP, REFUSED
from tests.databases import PostgresqlDatabases
from tests.faults.test_postgresql import server
from tests.processes import free_port, plain_environment
from tests.surroundings import ROOT
from tests.waiting import until

__all__ = ["server"]
REFUSAL = "runs this shop already"
SETTINGS = "set SEARCH_ENGINE to opensearch and PICTURES to s3 on both"
SHARING = {
    "SEARCH_ENGINE": "none",
    "PICTURES": "s3",
    "S3_BUCKET": "shop-pictures",
    "S3_ENDPOINT": "http://127.0.0.1:9",
    "S3_ACCESS_KEY": "key",
    "S3_SECRET_KEY": "secret",
}
PREPARATION = ("-m", "app.operations.supervisor.preparation")
SCHEDULER = ("-m", "flask", "--app", "app:create_app(surfaces=False)", "scheduler")


class Machine:
    """An instance folder on a database and a queue that it shares."""

    def __init__(self, folder: Path, database_url: str, redis_url: str, **more: str) -> None:
        folder.mkdir()
        self._log = folder / "log"
        self._environment = plain_environment() | {
            "SHOP_ENV": "testing",
            "SECRET_KEY": "for tests",
            "INSTANCE_DIR": str(folder),
            "DATABASE_URL": database_url,
            "REDIS_URL": redis_url,
            "PORT": str(free_port()),
            "MCP_PORT": "0",
            "WEB_WORKERS": "1",
            **more,
        }

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        with self._log.open("ab") as log:
            command = [sys.executable, *arguments]
            return subprocess.Popen(command, cwd=ROOT, env=self._environment, stdout=log, stderr=log)

    def refusal(self, *arguments: str, status: int = 1) -> str:
        """What a program says that ends with this status."""
        done = subprocess.run(
            [sys.executable, *arguments], cwd=ROOT, env=self._environment, capture_output=True, text=True, timeout=120
        )
        assert done.returncode == status, done.stderr
        return done.stderr


@pytest.fixture
def database_url(server: PostgresqlDatabases) -> Iterator[str]:
    with server.own() as url:
        yield url


def seen_at(database_url: str) -> list[object]:
    engine = create_engine(database_url)
    try:
        with engine.connect() as connection:
            return list(connection.scalars(text("SELECT seen_at FROM machines ORDER BY id")))
    finally:
        engine.dispose()


def test_a_migration_in_a_folder_of_its_own_is_no_machine(database_url: str, redis_url: str, tmp_path: Path) -> None:
    """As the one of a Kubernetes Job is."""
    engine = create_engine(database_url)
    with engine.begin() as connection:
        connection.execute(text("DROP SCHEMA public CASCADE"))
        connection.execute(text("CREATE SCHEMA public"))
    engine.dispose()
    job = Machine(tmp_path / "job", database_url, redis_url)
    for options in (["production", "upgrade"], ["production"]):
        preparation = job.start(*PREPARATION, *options)
        assert preparation.wait(120) == 0
        assert len(seen_at(database_url)) == (0 if "upgrade" in options else 1)


def test_migrations_that_need_a_stop_and_a_restore_wait_until_no_other_machine_runs(
    database_url: str, redis_url: str, tmp_path: Path
) -> None:
    """Both machines could run together, and the database is that of a release before the till's cash."""
    engine = create_engine(database_url)
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE alembic_version (version_num VARCHAR(32) PRIMARY KEY)"))
        connection.execute(text("INSERT INTO alembic_version VALUES ('3d1f0c8b7a52')"))
    engine.dispose()
    left, right = (Machine(tmp_path / name, database_url, redis_url, **SHARING) for name in ("left", "right"))
    scheduler = left.start(*SCHEDULER)
    try:
        until(lambda: len(seen_at(database_url)) == 1)
        said = right.refusal(*PREPARATION, "production", "upgrade", status=NEEDS_A_STOP)
        assert "The release that runs could not live with" in said
        said = right.refusal(*PREPARATION, "production", status=REFUSED)
        assert f"The machine {platform.node()} runs, and its release could not live with" in said
        said = right.refusal("-m", "flask", "--app", "wsgi", "restore", str(tmp_path))
        assert f"The shop runs on the machine {platform.node()}" in said and "stop it there first" in said
    finally:
        scheduler.kill()
        scheduler.wait()


def test_no_process_of_a_second_machine_starts_and_the_first_starts_again_at_once(
    database_url: str, redis_url: str, tmp_path: Path
) -> None:
    left, right = (Machine(tmp_path / name, database_url, redis_url) for name in ("left", "right"))
    scheduler = left.start(*SCHEDULER)
    try:
        until(lambda: len(seen_at(database_url)) == 1)
        for program in (
            ("-m", "app.operations.supervisor"),
            ("-m", "app.web.server"),
            ("worker.py", "default"),
            SCHEDULER,
        ):
            said = right.refusal(*program)
            assert REFUSAL in said and SETTINGS in said, (program, said)
        assert len(seen_at(database_url)) == 1
        scheduler.send_signal(signal.SIGKILL)
        scheduler.wait()
        before = seen_at(database_url)
        scheduler = left.start(*SCHEDULER)
        until(lambda: seen_at(database_url) != before, 30)
        assert scheduler.poll() is None, "its folder is that of the machine that died"
    finally:
        scheduler.kill()
        scheduler.wait()
