"""A fresh database for each test, made quickly. The schema is created once: SQLite's file is copied, PostgreSQL's
databases are emptied and used again, since making one costs it a hundred times as much."""

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
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import psycopg

from app.operations.supervisor.parts import PR_SET_PDEATHSIG
from tests.surroundings import postgresql_programs

NAMED = os.environ.get("SHOP_TEST_DATABASE", "")
KINDS = tuple((NAMED or "sqlite,postgresql").split(","))
TEMPLATE = "shop_template"
MOST_USES, MOST_ROWS = 50, 2_000  # Deleted rows stay in the files of a database; one that held more is thrown away.
EMPTY = """
CREATE FUNCTION empty_again() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE rows bigint; deleted bigint := 0;
BEGIN
    PERFORM pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid();
    SET LOCAL session_replication_role = replica; -- Foreign keys are not looked at.
    {statements}
    RETURN deleted;
END $$
"""
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

    own = fresh


@dataclass
class _Reused:
    name: str
    connection: psycopg.Connection
    uses: int = 0

    def is_empty_again(self) -> bool:
        self.uses += 1
        if self.uses == MOST_USES:
            return False
        try:
            row = self.connection.execute("SELECT empty_again()").fetchone()
        except psycopg.Error:  # Somebody holds a lock for ever, or the test closed all connections.
            return False
        return row is not None and row[0] <= MOST_ROWS


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
        options = (
            "-c listen_addresses= -c fsync=off -c full_page_writes=off -c synchronous_commit=off "
            "-c autovacuum=off -c max_wal_size=4GB -c jit=off -c max_connections=40"
        )
        self._command = [programs / "postgres", "-D", data, "-k", folder, *options.split()]
        self._as_user = as_user
        self.start()
        self._execute(f"CREATE DATABASE {TEMPLATE}")
        create_schema(self._url(TEMPLATE))
        self._add_function()
        self._idle: list[_Reused] = []

    def start(self) -> None:
        with (self._folder / "log").open("a") as log:
            self._server = subprocess.Popen(
                self._command, stderr=log, cwd="/", preexec_fn=_stop_with_the_tests, **self._as_user
            )
        self._wait()

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """SIGINT ends its sessions, SIGQUIT is a crash; SIGTERM would wait for clients."""
        self._server.send_signal(how)
        self._server.wait()

    def _add_function(self) -> None:
        with self._connection(TEMPLATE) as connection:
            tables = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
            sequences = connection.execute("SELECT sequencename FROM pg_sequences WHERE schemaname = 'public'")
            counted = "GET DIAGNOSTICS rows = ROW_COUNT; deleted := deleted + rows;"
            statements = [
                *(f'DELETE FROM "{name}"; {counted}' for (name,) in tables),
                *(f"PERFORM setval('\"{name}\"', 1, false);" for (name,) in sequences),
            ]
            connection.execute(EMPTY.format(statements="\n".join(statements)))  # type: ignore[arg-type]

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

    def _connection(self, database: str = "postgres") -> psycopg.Connection:
        return psycopg.connect(host=str(self._folder), user="shop", dbname=database, autocommit=True)

    def _execute(self, statement: str) -> None:
        with self._connection() as connection:
            connection.execute(statement)  # type: ignore[arg-type]

    @contextmanager
    def fresh(self) -> Iterator[str]:
        """An empty database, which the test leaves with the schema as it is."""
        database = self._idle.pop() if self._idle else self._made()
        yield self._url(database.name)
        if database.is_empty_again():
            self._idle.append(database)
        else:
            self._drop(database)

    @contextmanager
    def own(self) -> Iterator[str]:
        """A database that nobody uses afterwards."""
        database = self._made()
        yield self._url(database.name)
        self._drop(database)

    def _made(self) -> _Reused:
        name = f"test_{next(_numbers)}"
        self._execute(f"CREATE DATABASE {name} TEMPLATE {TEMPLATE} STRATEGY file_copy")
        return _Reused(name, self._connection(name))

    def _drop(self, database: _Reused) -> None:
        database.connection.close()
        self._execute(f"DROP DATABASE {database.name} WITH (FORCE)")

    def close(self) -> None:
        for database in self._idle:
            database.connection.close()
        self.stop()
        shutil.rmtree(self._folder)


Databases = SqliteDatabases | PostgresqlDatabases


def databases(kind: str, folder: Path, create_schema: CreateSchema) -> Databases:
    if kind == "postgresql":
        return PostgresqlDatabases(create_schema)
    if kind == "sqlite":
        return SqliteDatabases(folder, create_schema)
    raise ValueError(f"SHOP_TEST_DATABASE names {kind!r}; there are sqlite and postgresql.")
