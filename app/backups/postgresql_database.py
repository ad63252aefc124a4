"""A database of PostgreSQL: copied by pg_dump, replaced within one transaction that renames the previous schema."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

from sqlalchemy import Connection, NullPool, create_engine, make_url, text
from sqlalchemy.exc import DBAPIError

from app.backups.contents import read_contents
from app.backups.errors import BackupError, DatabaseInDoubt
from app.backups.manifest import DATABASES, Contents

SCHEMA = "public"
OTHERS = text(
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
    "AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
)
NAMES = {"application_name": "PGAPPNAME"}


class PostgresqlDatabase:
    kind = "postgresql"

    def __init__(self, url: str, folder: Path) -> None:
        self._url = make_url(url)
        self._engine = create_engine(url, poolclass=NullPool)
        self.folder = folder

    def copy_into(self, folder: Path) -> Contents:
        """Dump the database into a folder, and return its contents, both of one consistent state: pg_dump reads the
        same snapshot as the counts. Raises BackupError."""
        dump = folder / DATABASES[self.kind]
        with self._connection() as connection:
            connection.execute(text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY"))
            snapshot = connection.scalar(text("SELECT pg_export_snapshot()"))
            contents = read_contents(connection)
            plain = ("--format=custom", "--no-owner", "--no-acl", f"--schema={SCHEMA}")
            self._run("pg_dump", *plain, f"--snapshot={snapshot}", f"--file={dump}")
        return contents

    def check_unused(self) -> None:
        """Check that no other client is connected. Raises BackupError."""
        with self._connection() as connection:
            others = connection.scalar(OTHERS)
        if others:
            raise BackupError(f"The shop runs: its database has {others} other connections. Stop the shop first.")

    def replace(self, unpacked: Path, aside: str, prepare: Callable[[str], None]) -> list[str]:
        """Replace the database by the unpacked dump, which `prepare` then changes, and return where the previous one is
        kept. Raises BackupError, and the database is as it was; DatabaseInDoubt where it may not be."""
        script, before = unpacked.with_suffix(".sql"), _schema_name(aside)
        self._run("pg_restore", "--no-owner", "--no-acl", f"--schema={SCHEMA}", f"--file={script}", str(unpacked))
        room = unpacked.with_suffix(".aside.sql")
        room.write_text(f'ALTER SCHEMA {SCHEMA} RENAME TO "{before}";\nCREATE SCHEMA {SCHEMA};\n')
        all_or_nothing = ("--single-transaction", "--set=ON_ERROR_STOP=1")
        self._run("psql", "--no-psqlrc", "--quiet", *all_or_nothing, f"--file={room}", f"--file={script}")
        self._prepare(prepare, before)
        return [f"the schema {before} of the database"]

    def _prepare(self, prepare: Callable[[str], None], before: str) -> None:
        try:
            prepare(self._url.render_as_string(hide_password=False))
        except BaseException:
            self._restore_schema(before)
            raise

    def _restore_schema(self, before: str) -> None:
        try:
            with self._engine.begin() as connection:
                connection.execute(text(f"DROP SCHEMA {SCHEMA} CASCADE"))
                connection.execute(text(f'ALTER SCHEMA "{before}" RENAME TO {SCHEMA}'))
        except DBAPIError as error:
            raise DatabaseInDoubt(
                f"The restored database could not be prepared, and that of before, the schema {before}, cannot be "
                f"put back: {error.orig}. The restore is unfinished: run it again."
            ) from error

    def _connection(self) -> Connection:
        try:
            return self._engine.connect()
        except DBAPIError as error:
            raise BackupError(f"The database does not answer: {error.orig}") from error

    def _run(self, program: str, *arguments: str) -> None:
        """Run a program of PostgreSQL. The password is in the environment, which only this user and root can read,
        never on the command line. Raises BackupError."""
        if shutil.which(program) is None:
            raise BackupError(f"{program} is not installed: on Debian, apt install postgresql-client.")
        done = subprocess.run(
            [program, *arguments],
            env={**os.environ, **self._environment()},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
        if done.returncode:
            raise BackupError(f"{program} failed: {done.stderr.strip()}")

    def _environment(self) -> Mapping[str, str]:
        url = self._url
        parts = {"host": url.host, "port": url.port, "user": url.username, "password": url.password}
        named = {**parts, "dbname": url.database, **{name: value for name, value in url.query.items()}}
        names = {**NAMES, "dbname": "PGDATABASE"}
        return {names.get(name, f"PG{name.upper()}"): str(value) for name, value in named.items() if value is not None}


def _schema_name(aside: str) -> str:
    return aside.strip(".").replace("-", "_")
