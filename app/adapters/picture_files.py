"""Pictures as files of this machine, below one folder per site."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from app.domain.catalogue.picture_storage import PART, StoredFile


class PictureFiles:
    is_shared = False

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self, site_id: int, name: str) -> bytes | None:
        with suppress(FileNotFoundError):
            return self._path(site_id, name).read_bytes()
        return None

    def write(self, site_id: int, name: str, data: bytes) -> None:
        """Write a file whole or not at all: a reader never sees half a picture, and a full disk keeps none."""
        path = self._path(site_id, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, fresh = tempfile.mkstemp(PART, dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as out:
                out.write(data)
                out.flush()
                os.fsync(out.fileno())
            os.replace(fresh, path)
        except OSError:
            os.unlink(fresh)
            raise

    def renew(self, site_id: int, name: str, _data: bytes) -> None:
        os.utime(self._path(site_id, name))

    def written_at(self, site_id: int, name: str) -> float | None:
        try:
            return self._path(site_id, name).stat().st_mtime
        except FileNotFoundError:
            return None

    def files(self, site_id: int) -> Iterator[StoredFile]:
        folder = self._folder / str(site_id)
        if not folder.is_dir():
            return
        for entry in os.scandir(folder):
            with suppress(FileNotFoundError):
                status = entry.stat()
                yield StoredFile(entry.name, status.st_mtime, status.st_size)

    def sites(self) -> list[int]:
        if not self._folder.is_dir():
            return []
        return [int(entry.name) for entry in os.scandir(self._folder) if entry.name.isdecimal() and entry.is_dir()]

    def remove(self, site_id: int, name: str) -> None:
        self._path(site_id, name).unlink(missing_ok=True)

    def check(self) -> None:
        """The disks of this machine are checked by themselves."""

    def _path(self, site_id: int, name: str) -> Path:
        return self._folder / str(site_id) / name
