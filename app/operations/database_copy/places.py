"""The two databases of a copy: the one that is read, which nobody may change meanwhile, and the empty one, in which
all is kept or nothing."""

from __future__ import annotations

import fcntl
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, NullPool, create_engine, event, inspect, make_url, text
from sqlalchemy.engine import URL
from sqlalchemy.exc import ArgumentError, DBAPIError

from app.config import Config, driver_url
from app.domain.shared.durable_files import fsync_path
from app.domain.shared.redaction import error_summary
from app.domain.system import release
from app.operations.backups.databases import LOGS, OTHER_CLIENTS, database_of
from app.operations.backups.making import locked
from app.operations.backups.manifest import BackupError
from app.operations.database_copy.tables import CopyRefused, all_tables, filled_tables
from app.operations.replaced_database import UpgradeFailed

Upgrade = Callable[[Config, str], None]  # Runs the migrations on the database of an address. Raises UpgradeFailed.
PART = ".copying"
LOCK = ".lock"
SOURCE, TARGET = "The shop's database", "The database to copy to"
LOCK_NOT_AVAILABLE = "55P03"
KINDS = ("sqlite", "postgresql")
RUNS = "The shop runs: stop it on every machine first, or make a rehearsal."


def read_target(address: str) -> URL:
    """Return the address of the database to copy to. Raises CopyRefused, whose message repeats no password."""
    try:
        url = make_url(driver_url(address))
    except ArgumentError:
        raise CopyRefused("That is no address of a database, such as postgresql://… or sqlite:///….") from None
    if url.get_backend_name() not in KINDS:
        raise CopyRefused(f"The shop knows no database of the kind {url.get_backend_name()}: name one of {KINDS}.")
    if url.get_backend_name() == "sqlite" and not url.database:
        raise CopyRefused("The address names no file: write sqlite:/// and then the path of a new one.")
    return url


@contextmanager
def open_source(config: Config, is_rehearsal: bool) -> Iterator[Connection]:
    """Open the shop's database to be read as of one moment. Nobody else writes to it meanwhile, unless this is a
    rehearsal. Raises CopyRefused."""
    url = make_url(config.database_url)
    if not is_rehearsal:
        try:
            database_of(config.database_url, config.instance_folder).check_unused()
        except BackupError as error:
            raise CopyRefused(error.message) from error
    is_file = url.get_backend_name() == "sqlite"
    if is_file and not Path(str(url.database)).exists():
        raise CopyRefused(f"There is no database at {url.database}: run the command in the shop's folder.")
    engine = create_engine(url, poolclass=NullPool)
    if is_file:
        _begin_with(engine, "BEGIN" if is_rehearsal else "BEGIN EXCLUSIVE")
    with _connected(engine, SOURCE) as connection:
        if not is_file:
            names = _table_names(connection)
            # The next transaction sees what is there at its first query, which has to come after the lock.
            connection.rollback()
            connection.begin()
            connection.execute(text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"))
            if not is_rehearsal:
                _lock_tables(connection, names, "SHARE", SOURCE)
        _check_newest(connection, SOURCE, "run `db upgrade` before")
        yield connection
        with suppress(DBAPIError):  # It was only read, and what was copied is kept by now.
            connection.rollback()


def check_unused_still(source: Connection) -> None:
    """Check that nobody has begun to use the database that is read: what waits for its lock would be saved there, once
    the copy is done. A file of SQLite can be held alone. Raises CopyRefused."""
    if source.dialect.name == "postgresql" and source.scalar(OTHER_CLIENTS):
        raise CopyRefused(RUNS)


def _begin_with(engine: Engine, statement: str) -> None:
    """Have SQLite begin its transactions itself: the driver would leave reads outside of them."""

    def take_over(connection: Any, _record: object) -> None:
        connection.isolation_level = None

    event.listen(engine, "connect", take_over)
    event.listen(engine, "begin", lambda connection: connection.exec_driver_sql(statement))


@contextmanager
def _connected(engine: Engine, name: str) -> Iterator[Connection]:
    try:
        connection = engine.connect()
    except DBAPIError as error:
        raise CopyRefused(f"{name} does not answer: {error.orig}") from error
    with connection:
        try:
            connection.begin()
        except DBAPIError as error:
            raise CopyRefused(f"{name} is in use: {error.orig}") from error
        yield connection


def _table_names(connection: Connection) -> list[str]:
    """Return the names of the shop's tables that are there."""
    there = set(inspect(connection).get_table_names())
    return [table.name for table in all_tables() if table.name in there]


def _lock_tables(connection: Connection, names: list[str], mode: str, database: str) -> None:
    """Keep others from writing to the tables, for as long as the transaction is open. Raises CopyRefused where somebody
    does not end within seconds."""
    if not names:
        return
    quoted = ", ".join(f'"{name}"' for name in names)
    try:
        connection.execute(text("SET LOCAL lock_timeout = '5s'"))
        connection.execute(text(f"LOCK TABLE {quoted} IN {mode} MODE"))
    except DBAPIError as error:
        is_in_use = getattr(error.orig, "sqlstate", None) == LOCK_NOT_AVAILABLE
        if is_in_use and database == SOURCE:
            raise CopyRefused(RUNS) from error
        raise CopyRefused(f"The tables cannot be locked. {database} says: {error.orig}") from error


def _check_newest(connection: Connection, database: str, remedy: str) -> None:
    found, newest = _revision(connection), release.newest_revision()
    if found is None:
        raise CopyRefused(f"{database} is not set up: {remedy}.")
    if found != newest:
        raise CopyRefused(f"{database} is at {found}, and this release at {newest}: {remedy}.")


def _revision(connection: Connection) -> str | None:
    """Return the migration at which a database is; None where it has none."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    revision: str | None = connection.scalar(text("SELECT version_num FROM alembic_version"))
    return revision


@contextmanager
def open_target(config: Config, url: URL, upgrade: Upgrade) -> Iterator[Connection]:
    """Open the database to copy to, with empty tables. What is written is kept when the block ends, and all of it is
    gone when an error ends it. Raises CopyRefused for one that has something in it."""

    def make_tables(of: URL) -> None:
        try:
            upgrade(config, of.render_as_string(hide_password=False))
        except UpgradeFailed as error:
            raise CopyRefused(f"The tables cannot be made: {error}") from error

    opened = _new_file if url.get_backend_name() == "sqlite" else _empty_database
    with opened(url, make_tables) as connection:
        yield connection


@contextmanager
def _new_file(url: URL, make_tables: Callable[[URL], None]) -> Iterator[Connection]:
    """A file has its name only once it is whole and on the disk; before, its name ends in PART."""
    file = Path(str(url.database)).absolute()
    if not file.parent.is_dir():
        raise CopyRefused(f"There is no folder {file.parent}: make it first.")
    try:
        with _only_copy(file) as part:
            _check_free(file)
            os.close(os.open(part, os.O_CREAT | os.O_EXCL, 0o600))
            make_tables(url.set(database=str(part)))
            with closing(sqlite3.connect(part)) as made:
                made.execute("PRAGMA journal_mode=DELETE")
            engine = create_engine(url.set(database=str(part)), poolclass=NullPool)
            _begin_with(engine, "BEGIN EXCLUSIVE")
            event.listen(engine, "connect", _without_safety)
            with _connected(engine, "The new file") as connection:
                yield connection
                if broken := connection.exec_driver_sql("PRAGMA foreign_key_check").first():
                    raise CopyRefused(f"A row of {broken[0]} refers to one of {broken[2]} that is not there.")
                connection.commit()
            fsync_path(part)
            os.link(part, file)
            fsync_path(file.parent)
    except OSError as error:
        raise CopyRefused(f"The file {file} cannot be written: {error.strerror}.") from error


@contextmanager
def _only_copy(file: Path) -> Iterator[Path]:
    """Keep other copies from the same file, and yield the name that it has until it is whole. Raises CopyRefused while
    another copy to it is being made."""
    part = file.with_name(file.name + PART)
    lock = part.with_name(part.name + LOCK)
    refusal = f"Another copy to {file} is being made: begin once it is done."
    try:
        with locked(lock, fcntl.LOCK_EX, refusal) as descriptor:
            # A copy that has just ended removed its lock, so this one may be of a file that nobody finds any more.
            if not lock.exists() or not os.path.samestat(os.fstat(descriptor), lock.stat()):
                raise CopyRefused(refusal)
            try:
                _remove(part)
                yield part
            finally:
                _remove(part)
                lock.unlink()
    except BackupError as error:
        raise CopyRefused(error.message) from error


def _without_safety(connection: Any, _record: object) -> None:
    """A file that is not whole is removed, so it needs neither a log nor the disk; foreign keys are looked at once all
    rows are there."""
    for pragma in ("journal_mode=OFF", "synchronous=OFF", "foreign_keys=OFF", "cache_size=-64000"):
        connection.execute(f"PRAGMA {pragma}")


def _check_free(file: Path) -> None:
    for there in (file, *(Path(f"{file}{log}") for log in LOGS)):
        if there.exists():
            raise CopyRefused(f"There is a file {there} already: move it aside first.")


def _remove(part: Path) -> None:
    for file in (part, *(Path(f"{part}{ending}") for ending in (*LOGS, "-journal"))):
        file.unlink(missing_ok=True)


@contextmanager
def _empty_database(url: URL, make_tables: Callable[[URL], None]) -> Iterator[Connection]:
    """One transaction: until its end nobody sees anything but empty tables."""
    engine = create_engine(url, poolclass=NullPool)
    with _connected(engine, TARGET) as connection:
        has_tables = bool(_check_empty(connection))
    if not has_tables:
        make_tables(url)
    with _connected(engine, TARGET) as connection:
        _lock_tables(connection, _table_names(connection), "ACCESS EXCLUSIVE", TARGET)
        _check_empty(connection)
        _check_newest(connection, TARGET, "name an empty one")
        yield connection
        _commit(connection)
    # The first queries would be planned for empty tables, until the server analyses them by itself.
    with suppress(DBAPIError), engine.connect() as connection:
        connection.execution_options(isolation_level="AUTOCOMMIT").execute(text("ANALYZE"))


def _commit(connection: Connection) -> None:
    """Keep what was written. Raises CopyRefused where the database failed meanwhile: it may have kept it."""
    try:
        connection.commit()
    except DBAPIError as error:
        raise CopyRefused(
            f"{TARGET} failed at the very end ({error_summary(error)}), so it is not known whether the copy was kept: "
            "look at it, and empty it before another try."
        ) from error


def _check_empty(connection: Connection) -> set[str]:
    """Return which tables of the shop are there. Raises CopyRefused where one has rows."""
    there = set(inspect(connection).get_table_names()) & {table.name for table in all_tables()}
    if filled := filled_tables(connection):
        named = ", ".join(filled[:3]) + (" …" if len(filled) > 3 else "")
        raise CopyRefused(f"The database to copy to is not empty ({named}): name an empty one.")
    return there
