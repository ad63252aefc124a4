"""The watch over what the whole shop depends on: the database, the disks, the queue and its workers."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from flask import current_app
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from app.config import Config
from app.domain.alerts.alerts import end_alert, last_seen, note_alert, raise_alert, write_unwritten
from app.domain.alerts.causes import Cause
from app.extensions import db
from app.operations.storage import cause_of, check_database, describe_fault, write_probe
from app.ports import clock, queue
from app.transaction import transaction

BETWEEN_LOOKS = 10.0  # Seconds, as those below.
DATABASE_MAY_PAUSE = 20.0  # A restarted database is back by then.
QUEUE_MAY_PAUSE = 20.0
WORKERS_MAY_PAUSE = 60.0  # A worker that died is started again within seconds.
SEEN_AGAIN_AFTER = 60.0
CALM = timedelta(minutes=1)  # Without a further error, before a fault that requests met counts as over.
MB = 1_000_000


@dataclass
class Condition:
    """A fault that is checked for repeatedly: it raises its alert once it has lasted for `lasts` seconds, notes every
    minute that it goes on, and ends the alert when it is over."""

    cause: Cause
    subject: str = ""
    lasts: float = 0.0
    _since: float | None = None
    _noted_at: float | None = None

    def note(self, fault: str | None) -> None:
        """Note a fault, or, with None, that there is none."""
        now = clock().monotonic()
        if fault is None:
            self._since = self._noted_at = None
            self._end()
            return
        self._since = now if self._since is None else self._since
        is_noted = self._noted_at is not None and now - self._noted_at < SEEN_AGAIN_AFTER
        if is_noted or now - self._since < self.lasts:
            return
        self._noted_at = now
        raise_or_note(self.cause, fault, self.subject)

    def _end(self) -> None:
        """End the alert once the fault was not seen for CALM: requests may have met it since."""
        seen = last_seen(self.cause, subject=self.subject)
        if seen is not None and abs(clock().now() - seen) >= CALM:
            with transaction():
                end_alert(clock(), self.cause, subject=self.subject)


def raise_or_note(cause: Cause, detail: str, subject: str = "") -> None:
    """Raise an alert of the whole machine, in memory where the database takes none."""
    try:
        with transaction():
            raise_alert(clock(), cause, detail, subject=subject)
    except SQLAlchemyError:
        note_alert(clock(), cause, detail, subject=subject)


@dataclass
class MachineWatch:
    _looked_at: float = field(default_factory=lambda: clock().monotonic())
    _database_gone: Condition = field(default_factory=lambda: Condition(Cause.DATABASE_GONE, lasts=DATABASE_MAY_PAUSE))
    _disk_full: Condition = field(default_factory=lambda: Condition(Cause.DISK_FULL))
    _disk_fails: Condition = field(default_factory=lambda: Condition(Cause.DISK_IO_ERROR))
    _database_fails: Condition = field(default_factory=lambda: Condition(Cause.DATABASE_IO_ERROR))
    _queue_gone: Condition = field(default_factory=lambda: Condition(Cause.QUEUE_GONE, lasts=QUEUE_MAY_PAUSE))
    _worker_gone: Condition = field(default_factory=lambda: Condition(Cause.WORKER_GONE, lasts=WORKERS_MAY_PAUSE))

    def look(self) -> None:
        if clock().monotonic() - self._looked_at < BETWEEN_LOOKS:
            return
        self._looked_at = clock().monotonic()
        if (gone := database_fault()) is not None:
            self._database_gone.note(gone)
            return  # The end of another fault could not be written.
        write_unwritten(transaction)
        self._look_at_disks()
        self._look_at_queue()
        self._database_gone.note(None)

    def _look_at_queue(self) -> None:
        try:
            idle = queue().idle_kinds()
        except OSError as error:
            self._queue_gone.note(str(error))
            return  # Whether there are workers cannot be known; nor can they do anything.
        self._queue_gone.note(None)
        self._worker_gone.note(f"Jobs of the kind {' and '.join(idle)} are taken by no worker." if idle else None)

    def _look_at_disks(self) -> None:
        faults: dict[Cause, str] = {}
        for cause, fault in (*database_write_faults(), *disk_faults()):
            faults.setdefault(cause, fault)  # The folders lie on one disk mostly; the first says enough.
        self._disk_full.note(faults.get(Cause.DISK_FULL))
        self._disk_fails.note(faults.get(Cause.DISK_IO_ERROR))
        self._database_fails.note(faults.get(Cause.DATABASE_IO_ERROR))


def database_fault() -> str | None:
    """Return why the database does not answer; None where it does, and for faults of its files, which `disk_faults` and
    requests find."""
    try:
        check_database()
    except DBAPIError as error:
        return None if cause_of(error) else describe_fault(error)
    except SQLAlchemyError as error:
        return f"{type(error).__name__}."
    return None


def database_write_faults() -> Iterator[tuple[Cause, str]]:
    """Yield the cause and a description of the faults for which a write to the database fails, or would in a process
    that opens its files now: who opened them before writes on."""
    try:
        with transaction():
            write_probe(db.session.connection())
    except DBAPIError as error:
        if (cause := cause_of(error)) is not None:
            yield cause, describe_fault(error)
    config: Config = current_app.config["SHOP"]
    for file in config.database_files:
        if file.exists() and not os.access(file, os.W_OK):
            yield Cause.DATABASE_IO_ERROR, f"The file {file} cannot be written to."


def disk_faults() -> Iterator[tuple[Cause, str]]:
    """Yield the cause and a description of each fault of the folders that the shop writes to."""
    config: Config = current_app.config["SHOP"]
    for what, folder in config.data_folders.items():
        if not folder.is_dir():
            continue  # It is made when something is first put there.
        try:
            _write_probe(folder)
        except OSError as error:
            cause = cause_of(error) or Cause.DISK_IO_ERROR
            is_database = what == "database" and cause is Cause.DISK_IO_ERROR
            yield Cause.DATABASE_IO_ERROR if is_database else cause, f"{what} ({folder}): {error.strerror}."
            continue
        usage = shutil.disk_usage(folder)
        if usage.free < config.alert_free_disk_mb * MB:
            left = f"{usage.free // MB:,} MB of {usage.total // MB:,} MB are left"
            yield Cause.DISK_FULL, f"{left} for {what} ({folder})."


def _write_probe(folder: Path) -> None:
    """Write a probe to a folder. Raises OSError where its disk takes no data."""
    with tempfile.TemporaryFile(dir=folder) as file:
        file.write(bytes(4096))
        file.flush()
        os.fsync(file.fileno())
