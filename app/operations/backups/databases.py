"""The two kinds of databases, which are copied and replaced in different ways: files of SQLite by its online backup and
by renaming; those of PostgreSQL by pg_dump, and within one transaction that renames the previous schema."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from pathlib import Path

from sqlalchemy import Connection, NullPool, create_engine, func, inspect, make_url, select, text
from sqlalchemy.exc import DBAPIError

from app.domain.catalogue.models import MAKE_WORDS_INDEX, WORDS_INDEX
from app.domain.shared.durable_files import fsync_path
from app.domain.sites.models import Domain
from app.extensions import db
from app.operations.backups.manifest import DATABASES, BackupError, Contents, DatabaseInDoubt

LOGS = ("-wal", "-shm")
SCHEMA = "public"
OTHER_CLIENTS = text(
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
    "AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
)
PG_NAMES = {"application_name": "PGAPPNAME"}


def database_of(url: str, instance: Path) -> SqliteDatabase | PostgresqlDatabase:
    """Return the database of a URL. `instance` is a folder where a dump may be unpacked."""
    if make_url(url).get_backend_name() == "sqlite":
        return SqliteDatabase(url)
    return PostgresqlDatabase(url, instance)


def read_contents(connection: Connection) -> Contents:
    """Return the contents of a shop's database. Raises BackupError for a database that is no shop's."""
    tables = set(inspect(connection).get_table_names())
    if "alembic_version" not in tables or Domain.__tablename__ not in tables:
        raise BackupError("The database is not set up yet: there is nothing to back up.")
    revision = connection.scalar(text("SELECT version_num FROM alembic_version"))
    hosts = connection.scalars(select(Domain.host).where(Domain.primary).order_by(Domain.host))
    rows = {
        name: connection.scalar(select(func.count()).select_from(table)) or 0
        for name, table in sorted(db.metadata.tables.items())
        if name in tables
    }
    return Contents(str(revision), tuple(hosts), rows)


class SqliteDatabase:
    kind = "sqlite"

    def __init__(self, url: str) -> None:
        self._file = Path(str(make_url(url).database)).absolute()

    @property
    def folder(self) -> Path:
        """The folder of the database, which must have room to unpack."""
        return self._file.parent

    def copy_into(self, folder: Path) -> Contents:
        """Copy the database into a folder, and return its contents. The copy is of one consistent state, made in one
        step that keeps no writer waiting. Raises BackupError."""
        if not self._file.exists():
            raise BackupError(f"There is no database at {self._file}: run the command in the shop's folder.")
        copy = folder / DATABASES[self.kind]
        try:
            with closing(sqlite3.connect(self._file)) as source, closing(sqlite3.connect(copy)) as target:
                source.backup(target)
                target.execute("PRAGMA journal_mode=DELETE")  # One file, without a log beside.
                (found,) = target.execute("PRAGMA quick_check(1)").fetchone()
        except sqlite3.Error as error:
            raise BackupError(f"The database {self._file} cannot be copied: {error}.") from error
        if found != "ok":
            raise BackupError(f"The database {self._file} is damaged ({found}): restore the backup before.")
        engine = create_engine(f"sqlite:///{copy}", poolclass=NullPool)
        with engine.connect() as connection:
            return read_contents(connection)

    def check_unused(self) -> None:
        """Check that no process has the database open, and fold its log into it, so that it is one file. Raises
        BackupError."""
        if not self._file.exists():
            return
        try:
            _fold_log(self._file)
        except sqlite3.OperationalError as error:
            if "locked" in str(error):
                raise BackupError("The shop runs: a process has its database open. Stop the shop first.") from error
        except sqlite3.DatabaseError:
            return  # Damaged, which is why it is restored.

    def replace(self, unpacked: Path, aside: str, prepare: Callable[[str], None]) -> list[str]:
        """Replace the database by the unpacked copy, once `prepare` has changed it, and return where the previous one
        is kept. Raises BackupError."""
        prepare(f"sqlite:///{unpacked}")
        _fold_log(unpacked)
        fsync_path(unpacked)
        moved: list[str] = []
        if self._file.exists():
            # Its log goes first, and the file keeps its name until the moment it is replaced.
            for log in LOGS:
                with suppress(FileNotFoundError):
                    os.rename(f"{self._file}{log}", f"{self._file}{aside}{log}")
            os.link(self._file, f"{self._file}{aside}")
            moved.append(f"{self._file}{aside}")
        os.replace(unpacked, self._file)
        return moved


def _fold_log(file: Path) -> None:
    """Make the database one file, which SQLite does only while no other connection has it open."""
    with closing(sqlite3.connect(file, timeout=0)) as database:
        database.execute("PRAGMA journal_mode=DELETE").fetchone()


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
            others = connection.scalar(OTHER_CLIENTS)
        if others:
            raise BackupError(f"The shop runs: its database has {others} other connections. Stop the shop first.")

    def replace(self, unpacked: Path, aside: str, prepare: Callable[[str], None]) -> list[str]:
        """Replace the database by the unpacked dump, which `prepare` then changes, and return where the previous one is
        kept. Raises BackupError, and the database is as it was; DatabaseInDoubt where it may not be."""
        before, script = _schema_name(aside), unpacked.with_suffix(".sql")
        room, end = unpacked.with_suffix(".aside.sql"), unpacked.with_suffix(".end.sql")
        make_room = f'ALTER SCHEMA {SCHEMA} RENAME TO "{before}";\nCREATE SCHEMA {SCHEMA};\n'
        room.write_text(f"{make_room}{_move_extension(before, SCHEMA)}\n")
        end.write_text(f"RESET search_path;\n{MAKE_WORDS_INDEX if self._write_script(unpacked, script) else ''}\n")
        files = (f"--file={file}" for file in (room, script, end))
        self._run("psql", "--no-psqlrc", "--quiet", "--single-transaction", "--set=ON_ERROR_STOP=1", *files)
        self._prepare(prepare, before)
        return [f"the schema {before} of the database"]

    def _write_script(self, unpacked: Path, script: Path) -> bool:
        """Write the statements of a dump, but for the index of words: its extension is in no dump. Return whether the
        dump has that index."""
        chosen = unpacked.with_suffix(".list")
        self._run("pg_restore", "--list", f"--file={chosen}", str(unpacked))
        lines = chosen.read_text().splitlines(keepends=True)
        others = [line for line in lines if f" INDEX {SCHEMA} {WORDS_INDEX} " not in line]
        chosen.write_text("".join(others))
        options = ("--no-owner", "--no-acl", f"--schema={SCHEMA}", f"--use-list={chosen}")
        self._run("pg_restore", *options, f"--file={script}", str(unpacked))
        return len(others) < len(lines)

    def _prepare(self, prepare: Callable[[str], None], before: str) -> None:
        try:
            prepare(self._url.render_as_string(hide_password=False))
        except BaseException:
            self._restore_schema(before)
            raise

    def _restore_schema(self, before: str) -> None:
        try:
            with self._engine.begin() as connection:
                connection.execute(text(_move_extension(SCHEMA, before)))
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
        names = {**PG_NAMES, "dbname": "PGDATABASE"}
        return {names.get(name, f"PG{name.upper()}"): str(value) for name, value in named.items() if value is not None}


def _move_extension(schema: str, to: str) -> str:
    """Return the statement that takes the extension of the index of words from one schema to another, where it is there
    and the shop may."""
    is_there = "pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'pg_trgm'"
    return (
        f"DO $move$ BEGIN IF EXISTS (SELECT FROM {is_there} AND n.nspname = '{schema}') "
        f'THEN ALTER EXTENSION pg_trgm SET SCHEMA "{to}"; END IF; '
        "EXCEPTION WHEN insufficient_privilege THEN NULL; END $move$;"
    )


def _schema_name(aside: str) -> str:
    return aside.strip(".").replace("-", "_")
