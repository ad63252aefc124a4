"""Make a backup. It has its name only once it is whole and on the disk; before, it lies in a folder that ends in
`.part`, which the next backup into the same place removes. Locks, which end with the process that holds them, keep
backups and restores apart."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from app.config import SECRET_KEY_FILE, Config
from app.domain.personal_data.erasure_list import ErasureList
from app.domain.shared.durable_files import fsync_path
from app.domain.system.backup_runs import Watch
from app.domain.system.release import known_revisions, version
from app.operations.backups.databases import database_of
from app.operations.backups.manifest import (
    DATABASES,
    ERASURES,
    MEDIA,
    NAME,
    SECRET_KEY,
    BackupError,
    FileEntry,
    Manifest,
    copy_with_checksum,
    is_allowed,
)
from app.operations.instance import is_unfinished, picture_place

PART = ".part"
MANUAL = "-manual"  # In the name of a backup that was made by hand, which is counted apart from those of every night.
MANUAL_KEPT = 5
DATED = re.compile(rf"shop-\d{{8}}-\d{{6}}({MANUAL})?\.zip", re.ASCII)
DISK_TO_SPARE = 64 * 1024**2  # Bytes.
LOCK_FILE = "restore.lock"


@dataclass(frozen=True, slots=True)
class Made:
    """A backup that was made. `missing_list` says why the list of erasures, which lies elsewhere, is not in it."""

    path: Path
    manifest: Manifest
    removed: tuple[Path, ...] = ()
    missing_list: str = ""


def _without_watch(_step: str, _done: int, _total: int | None) -> None: ...


def make_backup(
    config: Config,
    erasures: ErasureList,
    instance: Path,
    path: Path,
    now: datetime,
    keep: int | None = None,
    watch: Watch = _without_watch,
    by_hand: bool = False,
) -> Made:
    """Make a backup as the file `path`. Where that is a folder, the file in it gets a name with the date, and the
    newest `keep` files with such names stay. One made `by_hand` begins only where its disk has room for another like
    the newest. Raises BackupError, and what `watch` raises."""
    is_folder, kind = path.is_dir(), MANUAL if by_hand else ""
    target = path / f"shop-{now.astimezone(UTC):%Y%m%d-%H%M%S}{kind}.zip" if is_folder else path
    _check_target(target, keep, is_folder)
    try:
        with no_restore_beside(instance), one_backup_in(target.parent), _working_folder(target) as folder:
            if by_hand:
                check_room(target.parent, sum(newest.stat().st_size for newest in dated_in(target.parent)[-1:]))
            archive = folder / target.name
            manifest, missing_list = _write_archive(config, erasures, instance, archive, folder, now, watch)
            os.replace(folder / target.name, target)
            fsync_path(target.parent)
        return Made(target, manifest, tuple(_remove_old(target.parent, keep, kind)), missing_list)
    except OSError as error:
        raise BackupError(f"The backup cannot be written to {target}: {error.strerror}.") from error


def _copy_list(erasures: ErasureList, file: Path) -> str:
    """Copy the list of erasures into a file, none where it is empty. One that lies elsewhere and does not answer keeps
    no database from being backed up: return the reason then."""
    try:
        lines = erasures.lines()
    except OSError as error:
        if not erasures.is_shared:
            raise
        return f"{erasures.place}: {error.strerror}"
    if lines:
        file.write_text("".join(f"{line}\n" for line in lines))
    return ""


def key_fingerprint(config: Config) -> str:
    return config.key_for("backup-fingerprint")[:8].hex()


def _check_target(target: Path, keep: int | None, is_folder: bool) -> None:
    if not target.parent.is_dir():
        raise BackupError(f"There is no folder {target.parent}: make it first, on another disk than the shop's.")
    if target.exists():
        raise BackupError(f"{target} exists already.")
    if keep is not None and not is_folder:
        raise BackupError("Only in a folder can older backups be counted: leave --keep out, or name a folder.")


@contextmanager
def _working_folder(target: Path) -> Iterator[Path]:
    """Yield a folder for the parts of a backup, once those that killed backups left beside it are removed. To be called
    within `one_backup_in`."""
    folder = target.with_name(target.name + PART)
    for left in {folder, *target.parent.glob(f"shop-*{PART}")}:
        if left.is_dir():
            shutil.rmtree(left, ignore_errors=True)
    folder.mkdir(mode=0o700)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _write_archive(
    config: Config, erasures: ErasureList, instance: Path, target: Path, folder: Path, now: datetime, watch: Watch
) -> tuple[Manifest, str]:
    """Write the file of a backup and return its manifest, and why the list of erasures is not in it. The database is
    copied first: every picture that its copy shows lies in the folder of pictures by then, and everybody whom it holds
    and who was erased meanwhile is on the list."""
    watch("Copying the database", 0, None)
    database = database_of(config.database_url, instance)
    contents = database.copy_into(folder)
    missing_list = _copy_list(erasures, folder / ERASURES)
    files: dict[str, FileEntry] = {}
    with (
        open(os.open(target, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600), "w+b") as file,
        zipfile.ZipFile(file, "w") as archive,
    ):
        copied = folder / DATABASES[database.kind]
        files[copied.name] = _add_file(archive, copied.name, copied, zipfile.ZIP_DEFLATED)
        kept = list(_kept_files(config, instance, folder, database.kind))
        for done, (name, path) in enumerate(kept):
            watch("Copying files", done, len(kept))
            with suppress(FileNotFoundError):  # Removed meanwhile: nothing showed it any more.
                files[name] = _add_file(archive, name, path)
        is_later = contents.revision not in known_revisions()
        key, elsewhere = key_fingerprint(config), picture_place(config)
        manifest = Manifest(version(), now, database.kind, contents, key, files, is_later, elsewhere)
        archive.writestr(NAME, manifest.as_json(), zipfile.ZIP_DEFLATED)
    fsync_path(target)
    return manifest, missing_list


def _kept_files(config: Config, instance: Path, folder: Path, kind: str) -> Iterator[tuple[str, Path]]:
    if (instance / SECRET_KEY_FILE).exists():
        yield SECRET_KEY, instance / SECRET_KEY_FILE
    if (folder / ERASURES).exists():
        yield ERASURES, folder / ERASURES
    if picture_place(config):
        return
    for parent, _, names in os.walk(config.media_dir):
        for name in sorted(names):
            path = Path(parent, name)
            stored = MEDIA + path.relative_to(config.media_dir).as_posix()
            if path.is_file() and not path.is_symlink() and not name.endswith(PART) and is_allowed(stored, kind):
                yield stored, path


def _add_file(archive: zipfile.ZipFile, name: str, path: Path, packing: int = zipfile.ZIP_STORED) -> FileEntry:
    with path.open("rb") as source:
        member = zipfile.ZipInfo(name)
        member.compress_type, member.external_attr = packing, 0o600 << 16
        with archive.open(member, "w", force_zip64=True) as written:
            return copy_with_checksum(source, written.write)


def dated_in(folder: Path) -> list[Path]:
    """Return the backups in a folder that are named by their date, the oldest first."""
    return sorted(path for path in folder.iterdir() if DATED.fullmatch(path.name))


def check_room(folder: Path, needed: int) -> None:
    """Check that so many bytes leave DISK_TO_SPARE free on the disk of a folder. Raises BackupError."""
    free = shutil.disk_usage(folder).free
    if free < needed + DISK_TO_SPARE:
        raise BackupError(
            f"The backup needs {needed / 1e6:,.0f} MB beside what is there; {free / 1e6:,.0f} MB are free in {folder}."
        )


def _remove_old(folder: Path, keep: int | None, kind: str) -> Iterator[Path]:
    if keep is None:
        return
    for old in [path for path in dated_in(folder) if path.stem.endswith(MANUAL) == bool(kind)][:-keep]:
        old.unlink()
        yield old


@contextmanager
def no_restore_beside(instance: Path) -> Iterator[None]:
    """Exclude restores during a backup. Raises BackupError while a restore runs, and where one was interrupted."""
    instance.mkdir(parents=True, exist_ok=True)
    with locked(instance / LOCK_FILE, fcntl.LOCK_SH, "A restore is running: make the backup once it is done."):
        if is_unfinished(instance):
            raise BackupError(
                "A restore was interrupted, so pictures and database may not fit each other: run the same restore "
                "again, then make the backup."
            )
        yield


@contextmanager
def no_backup_beside(instance: Path) -> Iterator[None]:
    """Exclude backups during a restore. Raises BackupError while a backup is being made, or another restore runs."""
    with locked(instance / LOCK_FILE, fcntl.LOCK_EX, "A backup is being made: begin once it is done."):
        yield


@contextmanager
def one_backup_in(folder: Path) -> Iterator[None]:
    """Exclude other backups into the folder. Raises BackupError while one is being written there."""
    with locked(folder, fcntl.LOCK_EX, f"Another backup is being written to {folder}: begin once it is done."):
        yield


@contextmanager
def locked(path: Path, kind: int, refusal: str) -> Iterator[int]:
    """Hold a lock on a folder, or on a file that is made for it, and yield its descriptor. `kind` is LOCK_SH or LOCK_EX
    of fcntl. Raises BackupError with the refusal while another process holds it."""
    descriptor = os.open(path, os.O_RDONLY | (0 if path.is_dir() else os.O_CREAT), 0o600)
    try:
        try:
            fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BackupError(refusal) from None
        yield descriptor
    finally:
        os.close(descriptor)
