"""A database that is a file: copied by SQLite's online backup, and replaced by renaming."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

from sqlalchemy import NullPool, create_engine, make_url

from app.backups.contents import read_contents
from app.backups.errors import BackupError
from app.backups.manifest import DATABASES, Contents
from app.domain.shared.durable_files import fsync_path

LOGS = ("-wal", "-shm")


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
        return _contents(copy)

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


def _contents(file: Path) -> Contents:
    engine = create_engine(f"sqlite:///{file}", poolclass=NullPool)
    with engine.connect() as connection:
        return read_contents(connection)
