"""Open a backup and verify it: every file that the manifest names, no other, each with its checksum."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from app.operations.backups.making import dated_in
from app.operations.backups.manifest import NAME, BackupError, Manifest, copy_with_checksum, read_manifest

LARGEST_MANIFEST = 256 * 1024**2  # Bytes: a million pictures.
DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError)


class Backup:
    def __init__(self, path: Path, archive: zipfile.ZipFile, manifest: Manifest) -> None:
        self.path = path
        self.manifest = manifest
        self._archive = archive

    def verify(self) -> None:
        """Verify the checksums of all files. Raises BackupError for the first file that is not what was backed up."""
        for name in self.manifest.files:
            self.read(name, lambda _block: None)

    def read(self, name: str, write: Callable[[bytes], object]) -> None:
        """Read a file of the backup into `write`. Raises BackupError when it is not what was backed up, after parts of
        it were written."""
        expected = self.manifest.files[name]
        try:
            with self._archive.open(name) as source:
                found = copy_with_checksum(source, write, most=expected.bytes)
        except DAMAGED as error:
            raise BackupError(f"{name} in {self.path} is damaged: {error}.") from error
        if found != expected:
            raise BackupError(f"{name} in {self.path} is not what was backed up: its checksum differs.")


def newest_in(path: Path) -> Path:
    """Return the path of a file itself, or of the newest backup in a folder. Raises BackupError."""
    if not path.is_dir():
        return path
    dated = dated_in(path)
    if not dated:
        raise BackupError(f"There is no backup in {path}.")
    return dated[-1]


@contextmanager
def open_backup(path: Path) -> Iterator[Backup]:
    """Open a backup. Raises BackupError for what is no whole backup."""
    try:
        archive = zipfile.ZipFile(path)
    except OSError as error:
        raise BackupError(f"{path} cannot be read: {error.strerror}.") from error
    except DAMAGED as error:
        raise BackupError(f"{path} is no backup, or was cut short: {error}.") from error
    with archive:
        manifest = _read_manifest(path, archive)
        _check_members(path, archive, manifest)
        yield Backup(path, archive, manifest)


def _read_manifest(path: Path, archive: zipfile.ZipFile) -> Manifest:
    try:
        if archive.getinfo(NAME).file_size > LARGEST_MANIFEST:
            raise BackupError(f"{path} is no backup of the shop: its manifest is too large.")
        return read_manifest(archive.read(NAME))
    except KeyError:
        raise BackupError(f"{path} is no backup of the shop: it has no manifest.") from None
    except DAMAGED as error:
        raise BackupError(f"The manifest in {path} is damaged: {error}.") from error


def _check_members(path: Path, archive: zipfile.ZipFile, manifest: Manifest) -> None:
    """Check that the archive holds exactly what its manifest names. Raises BackupError."""
    names = archive.namelist()
    if len(names) != len(set(names)):
        raise BackupError(f"{path} holds a file twice.")
    expected = {*manifest.files, NAME}
    for name in sorted(set(names) ^ expected):
        problem = "is missing" if name in expected else "is not in the manifest"
        raise BackupError(f"{name!r} {problem} in {path}.")
