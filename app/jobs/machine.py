"""What the shop depends on at each machine: the watch over the database, the disks, the queue and its workers; the
hourly checks of backups and certificate; the sizes of the shop's folders. The alerts about it are the machine's."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from stat import S_ISREG

import structlog
from flask import current_app
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from app.config import Config
from app.domain.alerts.alerts import end_alert, last_seen, note_alert, raise_alert, write_unwritten
from app.domain.alerts.causes import Cause
from app.domain.alerts.safeguards import NoSecureConnection, backup_fault, certificate_fault
from app.domain.catalogue.picture_storage import PictureStorage, PicturesUnavailable
from app.domain.shared.clock import rfc3339
from app.extensions import db
from app.jobs.processes import run_within
from app.operations.backups.making import PART
from app.operations.machine import conflict
from app.operations.storage import cause_of, check_database, describe_fault, write_probe
from app.ports import certificates, clock, machine_id, picture_storages, queue, shared_memory
from app.transaction import transaction

BETWEEN_LOOKS = 10.0  # Seconds, as those below.
DATABASE_MAY_PAUSE = 20.0  # A restarted database is back by then.
QUEUE_MAY_PAUSE = 20.0
WORKERS_MAY_PAUSE = 60.0  # A worker that died is started again within seconds.
PICTURES_MAY_PAUSE = 20.0
PICTURE_SECONDS = 15.0
SEEN_AGAIN_AFTER = 60.0
CALM = timedelta(minutes=1)  # Without a further error, before a fault that requests met counts as over.
MB = 1_000_000
LEVELS = 2  # The folder and those in it: a repository of backups may hold a million files further down.
BACKUP_SECONDS = 60.0
CERTIFICATE_SECONDS = 15.0
SECONDS_TO_MEASURE = 60.0  # For each folder.

Finding = dict[str, str | None]
Fault = tuple[str | None, datetime | None]  # The fault, and when the backup was made or the certificate ends.
Size = dict[str, int | None]

log = structlog.get_logger()


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
        seen = last_seen(self.cause, subject=self.subject, machine=machine_id())
        if seen is not None and abs(clock().now() - seen) >= CALM:
            with transaction():
                end_alert(clock(), self.cause, subject=self.subject, machine=machine_id())


def raise_or_note(cause: Cause, detail: str, subject: str = "") -> None:
    """Raise an alert of this machine, in memory where the database takes none."""
    try:
        with transaction():
            raise_alert(clock(), cause, detail, subject=subject, machine=machine_id())
    except SQLAlchemyError:
        note_alert(clock(), cause, detail, subject=subject, machine=machine_id())


@dataclass
class MachineWatch:
    """The watch that raises and ends the alerts about the machine, at every tenth look of the scheduler."""

    _looked_at: float = field(default_factory=lambda: clock().monotonic())
    _database_gone: Condition = field(default_factory=lambda: Condition(Cause.DATABASE_GONE, lasts=DATABASE_MAY_PAUSE))
    _disk_full: Condition = field(default_factory=lambda: Condition(Cause.DISK_FULL))
    _disk_fails: Condition = field(default_factory=lambda: Condition(Cause.DISK_IO_ERROR))
    _database_fails: Condition = field(default_factory=lambda: Condition(Cause.DATABASE_IO_ERROR))
    _pictures_gone: Condition = field(default_factory=lambda: Condition(Cause.PICTURES_GONE, lasts=PICTURES_MAY_PAUSE))
    _queue_gone: Condition = field(default_factory=lambda: Condition(Cause.QUEUE_GONE, lasts=QUEUE_MAY_PAUSE))
    _limits_not_shared: Condition = field(
        default_factory=lambda: Condition(Cause.LIMITS_NOT_SHARED, lasts=QUEUE_MAY_PAUSE)
    )
    _conflict: Condition = field(default_factory=lambda: Condition(Cause.MACHINES_IN_CONFLICT))
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
        self._pictures_gone.note(picture_fault())
        self._look_at_queue()
        self._look_at_limits()
        self._conflict.note(conflict())
        self._database_gone.note(None)

    def _look_at_queue(self) -> None:
        try:
            idle = queue().idle_kinds()
        except OSError as error:
            self._queue_gone.note(str(error))
            return  # Whether there are workers cannot be known; nor can they do anything.
        self._queue_gone.note(None)
        self._worker_gone.note(f"Jobs of the kind {' and '.join(idle)} are taken by no worker." if idle else None)

    def _look_at_limits(self) -> None:
        try:
            shared_memory().check()
        except OSError as error:
            self._limits_not_shared.note(str(error))
        else:
            self._limits_not_shared.note(None)

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


def picture_fault(seconds: float = PICTURE_SECONDS) -> str | None:
    """Return why another machine that stores the pictures cannot be used; None where it can, and where they are files
    of this one. The check runs in a child process: its client starts threads, and the caller forks others."""
    config: Config = current_app.config["SHOP"]
    if config.pictures == "files":
        return None
    storage = picture_storages()[config.pictures]
    try:
        return run_within(seconds, partial(_reason_of_failure, storage))
    except TimeoutError:
        return "It does not answer in time."


def _reason_of_failure(storage: PictureStorage) -> str | None:
    try:
        storage.check()
    except PicturesUnavailable as error:
        return error.sentence
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
            _write_to_folder(folder)
        except OSError as error:
            cause = cause_of(error) or Cause.DISK_IO_ERROR
            is_database = what == "database" and cause is Cause.DISK_IO_ERROR
            yield Cause.DATABASE_IO_ERROR if is_database else cause, f"{what} ({folder}): {error.strerror}."
            continue
        usage = shutil.disk_usage(folder)
        if usage.free < config.alert_free_disk_mb * MB:
            left = f"{usage.free // MB:,} MB of {usage.total // MB:,} MB are left"
            yield Cause.DISK_FULL, f"{left} for {what} ({folder})."


def _write_to_folder(folder: Path) -> None:
    """Write a probe to a folder. Raises OSError where its disk takes no data."""
    with tempfile.TemporaryFile(dir=folder) as file:
        file.write(bytes(4096))
        file.flush()
        os.fsync(file.fileno())


def newest_file(folder: Path) -> datetime | None:
    """Return when the newest file in the folder, or in one of the folders in it, was last written; None where there is
    none. Empty files are passed over, as a dump that failed leaves one, and so are the parts that a killed backup of
    the shop left. Raises OSError for the folder."""
    return max(_file_times(folder, LEVELS), default=None)


def check_backup(
    seconds: float = BACKUP_SECONDS, newest: Callable[[Path], datetime | None] = newest_file
) -> Finding | None:
    """Raise an alert where there is no recent backup, and end it where there is one or none is set up. The check has a
    time limit, as that of the certificate has, since other jobs wait for it."""
    config: Config = current_app.config["SHOP"]
    if config.backup_dir is None:
        _end_safeguard_alert(Cause.BACKUP_OLD)
        return None
    look = partial(run_within, seconds, partial(newest, config.backup_dir))
    return _note_safeguard(Cause.BACKUP_OLD, *_backup_fault(config.backup_dir, config.alert_backup_days, look))


def check_certificate(seconds: float = CERTIFICATE_SECONDS) -> Finding | None:
    """Raise an alert where browsers do not accept the certificate, or soon will not, and end it otherwise."""
    config: Config = current_app.config["SHOP"]
    if config.alert_certificate_host is None:
        _end_safeguard_alert(Cause.CERTIFICATE_EXPIRING)
        return None
    return _note_safeguard(Cause.CERTIFICATE_EXPIRING, *_certificate_fault(*config.alert_certificate_host, seconds))


def _note_safeguard(cause: Cause, fault: str | None, at: datetime | None) -> Finding:
    """Note a fault of a safeguard, or its end. `at` is the time of the newest backup, or the end of the certificate,
    where it is known."""
    log.info("safeguard_checked", cause=cause.key, fault=fault)
    if fault is None:
        _end_safeguard_alert(cause)
    else:
        with transaction():
            raise_alert(clock(), cause, fault, machine=machine_id())
    return {"fault": fault, "at": rfc3339(at) if at else None}


def _end_safeguard_alert(cause: Cause) -> None:
    with transaction():
        end_alert(clock(), cause, machine=machine_id())


def _backup_fault(folder: Path, longest_days: int, look: Callable[[], datetime | None]) -> Fault:
    try:
        newest = look()
    except TimeoutError:
        return f"The folder {folder} cannot be read in time.", None
    except OSError as error:
        return f"The folder {folder} cannot be read: {error.strerror}.", None
    return backup_fault(str(folder), newest, clock().now(), timedelta(days=longest_days)), newest


def _file_times(folder: str | Path, levels: int) -> Iterator[datetime]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(PART):
                continue
            with suppress(OSError):  # Removed meanwhile, a link that leads nowhere, a folder that is closed to us.
                status = entry.stat()
                if S_ISREG(status.st_mode) and status.st_size:
                    yield datetime.fromtimestamp(status.st_mtime, UTC)
                elif levels > 1 and entry.is_dir(follow_symlinks=False):
                    yield from _file_times(entry.path, levels - 1)


def _certificate_fault(host: str, port: int, seconds: float) -> Fault:
    try:
        valid_until = run_within(seconds, partial(certificates().valid_until, host, port))
    except NoSecureConnection as error:
        return f"No secure connection to {host}, port {port}: {error}.", None
    except TimeoutError:
        return f"No secure connection to {host}, port {port}: it did not answer in time.", None
    return certificate_fault(host, valid_until, clock().now()), valid_until


def measure_folders(seconds: float = SECONDS_TO_MEASURE) -> dict[str, Size]:
    """Return bytes and files by folder, both None where it cannot be read, or not in time: a walk over a million files
    takes too long for a request. The folder of the database is left out: the database reports its own size, and the
    folder may hold all the others."""
    config: Config = current_app.config["SHOP"]
    folders = {name: folder for name, folder in config.data_folders.items() if name != "database"}
    return {name: _size_or_none(folder, seconds) for name, folder in folders.items()}


def folder_size(folder: Path, seconds: float = SECONDS_TO_MEASURE) -> Size:
    """Return the bytes and the number of files in a folder. Links are not followed; what is removed meanwhile is passed
    over. Raises OSError, and TimeoutError after `seconds`."""
    size = files = 0
    waiting, until = [os.fspath(folder)], clock().monotonic() + seconds
    while waiting:
        if clock().monotonic() > until:
            raise TimeoutError
        try:
            entries = os.scandir(waiting.pop())
        except FileNotFoundError:
            continue
        with entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
                elif entry.is_file(follow_symlinks=False):
                    files += 1
                    size += _bytes(entry)
    return {"bytes": size, "files": files}


def _bytes(entry: os.DirEntry[str]) -> int:
    try:
        return entry.stat(follow_symlinks=False).st_size
    except FileNotFoundError:
        return 0


def _size_or_none(folder: Path, seconds: float) -> Size:
    try:
        return folder_size(folder, seconds)
    except OSError:  # A TimeoutError is one.
        return {"bytes": None, "files": None}
