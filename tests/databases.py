"""A fresh database for each test, made quickly: the schema is created once and copied."""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import psycopg
import pytest

from app.supervisor.parts import PR_SET_PDEATHSIG
from tests.surroundings import postgresql_programs

NAMED = os.environ.get("SHOP_TEST_DATABASE", "")
KINDS = tuple((NAMED or "sqlite,postgresql").split(","))
TEMPLATE = "shop_template"
_numbers = count(1)
CreateSchema = Callable[[str], None]


def _stop_with_the_tests() -> None:
    """Runs in the server's process: it is told when the tests were killed."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGINT)


class SqliteDatabases:
    def __init__(self, folder: Path, create_schema: CreateSchema) -> None:
        self._folder = folder
        self._template = folder / "template.db"
        create_schema(f"sqlite:///{self._template}")

    @contextmanager
    def fresh(self) -> Iterator[str]:
        file = self._folder / f"test-{next(_numbers)}.db"
        shutil.copy(self._template, file)
        yield f"sqlite:///{file}"
        for rest in self._folder.glob(f"{file.name}*"):
            rest.unlink()


class PostgresqlDatabases:
    """A throw-away cluster on a private socket. Durability is off: nothing here outlives the tests."""

    def __init__(self, create_schema: CreateSchema) -> None:
        programs = postgresql_programs()
        # A folder that another user may enter and whose name is short enough for a socket.
        folder = self._folder = Path(tempfile.mkdtemp(prefix="shop-postgresql-"))
        # The server refuses to run as root.
        as_user = {"user": "nobody", "group": "nogroup", "extra_groups": []} if os.geteuid() == 0 else {}
        if as_user:
            shutil.chown(folder, "nobody", "nogroup")
        data = folder / "data"
        subprocess.run(
            [programs / "initdb", "-D", data, "--auth=trust", "--username=shop", "--no-sync", "--locale=C.UTF-8"],
            check=True,
            stdout=subprocess.DEVNULL,
            cwd="/",
            **as_user,
        )
        options = "-c listen_addresses= -c fsync=off -c full_page_writes=off -c synchronous_commit=off"
        with (folder / "log").open("w") as log:
            self._server = subprocess.Popen(
                [programs / "postgres", "-D", data, "-k", folder, *options.split(), "-c", "max_connections=40"],
                stderr=log,
                cwd="/",
                preexec_fn=_stop_with_the_tests,
                **as_user,
            )
        self._wait()
        self._execute(f"CREATE DATABASE {TEMPLATE}")
        create_schema(self._url(TEMPLATE))

    def _url(self, name: str) -> str:
        return f"postgresql+psycopg://shop@/{name}?host={self._folder}"

    def _wait(self) -> None:
        deadline = time.monotonic() + 20
        while True:
            try:
                return self._execute("SELECT 1")
            except psycopg.OperationalError:
                if self._server.poll() is not None or time.monotonic() > deadline:
                    raise
                time.sleep(0.05)

    def _execute(self, statement: str) -> None:
        with psycopg.connect(host=str(self._folder), user="shop", dbname="postgres", autocommit=True) as connection:
            connection.execute(statement)  # type: ignore[arg-type]

    @contextmanager
    def fresh(self) -> Iterator[str]:
        name = f"test_{next(_numbers)}"
        self._execute(f"CREATE DATABASE {name} TEMPLATE {TEMPLATE} STRATEGY file_copy")
        yield self._url(name)
        self._execute(f"DROP DATABASE {name} WITH (FORCE)")

    def close(self) -> None:
        self._server.send_signal(signal.SIGINT)  # SIGTERM would wait for clients.
        self._server.wait()
        shutil.rmtree(self._folder)


Databases = SqliteDatabases | PostgresqlDatabases


def databases(kind: str, folder: Path, create_schema: CreateSchema) -> Databases:
    if kind == "postgresql":
        return PostgresqlDatabases(create_schema)
    if kind == "sqlite":
        return SqliteDatabases(folder, create_schema)
    raise pytest.UsageError(f"SHOP_TEST_DATABASE names {kind!r}; there are sqlite and postgresql.")
