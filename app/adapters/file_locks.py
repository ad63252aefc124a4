"""Locks of workers, each a flock on a file: the kernel frees the lock when its process dies, and the file that is left
shows that."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

STALE_SECONDS = 24 * 3600  # By then every caller has found out that the process died.


class FileLocks:
    """Locks in a folder that the processes of one machine share."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @contextmanager
    def hold(self, name: str) -> Iterator[None]:
        descriptor = self._locked(name)
        try:
            yield
        finally:
            if descriptor is not None:
                (self._folder / name).unlink(missing_ok=True)  # First, so that nobody takes the end for a death.
                os.close(descriptor)

    def is_dead(self, name: str) -> bool:
        path = self._folder / name
        return path.exists() and self._is_free(path) and path.exists()

    def _locked(self, name: str) -> int | None:
        """Create the file of a lock, which gets its name only once it is locked. Return its descriptor, None where the
        folder cannot be written."""
        aside = self._folder / f"{name}.{os.getpid()}"
        with suppress(OSError):
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._remove_stale()
            descriptor = os.open(aside, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            os.replace(aside, self._folder / name)
            return descriptor
        return None

    def _remove_stale(self) -> None:
        for path in self._folder.iterdir():
            if time.time() - path.stat().st_mtime > STALE_SECONDS and self._is_free(path):
                path.unlink(missing_ok=True)

    def _is_free(self, path: Path) -> bool:
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return False
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            return False
        finally:
            os.close(descriptor)
        return True
