"""The backups in the folder of BACKUP_DIR, for people: listed, found by name, deleted."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path

from app.config import Config
from app.domain.shared.problems import NotFound
from app.operations.backups.making import one_backup_in
from app.operations.backups.manifest import MEDIA, SECRET_KEY, BackupError, Manifest
from app.operations.backups.reading import open_backup
from app.operations.backups.restoring import check_fits

FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,95}\.zip", re.ASCII)
LISTED = 100
MISSING = "There is no such backup any more."


@dataclass(frozen=True, slots=True)
class ListedBackup:
    """A file in the folder of backups. `manifest`, which leaves out the `pictures`, is None where the file is no whole
    backup; `fault` says so, or why this installation cannot restore it."""

    name: str
    path: Path
    bytes: int
    made_at: datetime
    manifest: Manifest | None
    pictures: int = 0
    fault: str = ""

    @property
    def has_secret_key(self) -> bool:
        return self.manifest is not None and SECRET_KEY in self.manifest.files


@dataclass(frozen=True, slots=True)
class BackupFolder:
    """The folder of BACKUP_DIR as its page shows it. `fault` says why it cannot be read or written to, `unlisted`
    counts the older files that are not listed."""

    path: Path
    backups: tuple[ListedBackup, ...] = ()
    unlisted: int = 0
    fault: str = ""


def read_folder(config: Config) -> BackupFolder | None:
    """Return the folder with its backups, the newest first; None where BACKUP_DIR names none. Each is opened, not
    verified: that takes as long as making it."""
    if (folder := config.backup_dir) is None:
        return None
    try:
        files = sorted(_files_in(folder), key=lambda file: (file[1].st_mtime_ns, file[0]), reverse=True)
    except OSError as error:
        return BackupFolder(folder, fault=f"The folder {folder} cannot be read: {error.strerror}.")
    is_open = os.access(folder, os.W_OK | os.X_OK)
    fault = "" if is_open else f"The shop cannot write to the folder {folder}: only backups by command get there."
    listed = tuple(_describe(config, folder / name, status) for name, status in files[:LISTED])
    return BackupFolder(folder, listed, max(len(files) - LISTED, 0), fault)


def path_of(config: Config, name: str) -> Path:
    """Return the path of a backup in the folder. Raises NotFound for any other name, and for what is no plain file."""
    if config.backup_dir is None or not FILE_NAME.fullmatch(name):
        raise NotFound(MISSING)
    path = config.backup_dir / name
    try:
        is_plain = stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        is_plain = False
    if not is_plain:
        raise NotFound(MISSING)
    return path


def delete_backup(config: Config, name: str) -> None:
    """Delete a backup. Raises NotFound, and BackupError where the folder does not let it, or a backup is being written
    to it, which may count those that are there."""
    path = path_of(config, name)
    try:
        with one_backup_in(path.parent):
            path.unlink(missing_ok=True)
    except OSError as error:
        raise BackupError(f"{path} cannot be deleted: {error.strerror}.") from error


def _files_in(folder: Path) -> Iterator[tuple[str, os.stat_result]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if FILE_NAME.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                yield entry.name, entry.stat(follow_symlinks=False)


def _describe(config: Config, path: Path, status: os.stat_result) -> ListedBackup:
    manifest, pictures, fault = _read_contents(path, status.st_size, status.st_ctime_ns)
    if manifest is not None:
        try:
            check_fits(config, manifest)
        except BackupError as error:
            fault = error.message
    made_at = manifest.created_at if manifest else datetime.fromtimestamp(status.st_mtime, UTC)
    return ListedBackup(path.name, path, status.st_size, made_at, manifest, pictures, fault)


@lru_cache(maxsize=2 * LISTED)
def _read_contents(path: Path, _size: int, _changed_at: int) -> tuple[Manifest | None, int, str]:
    """Return the manifest of a file as it was at a time, without its pictures, and their number; or None and why there
    is no manifest."""
    try:
        with open_backup(path) as backup:
            others = {name: file for name, file in backup.manifest.files.items() if not name.startswith(MEDIA)}
            return replace(backup.manifest, files=others), len(backup.manifest.pictures), ""
    except BackupError as error:
        return None, 0, error.message
