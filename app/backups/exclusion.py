"""Locks that end with the process that holds them: no backup beside a restore, and one at a time in a folder."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from app.backups.errors import BackupError
from app.operations.instance import is_unfinished

LOCK_FILE = "restore.lock"


@contextmanager
def no_restore_beside(instance: Path) -> Iterator[None]:
    """Exclude restores during a backup. Raises BackupError while a restore runs, and where one was interrupted."""
    instance.mkdir(parents=True, exist_ok=True)
    with _locked(instance / LOCK_FILE, fcntl.LOCK_SH, "A restore is running: make the backup once it is done."):
        if is_unfinished(instance):
            raise BackupError(
                "A restore was interrupted, so pictures and database may not fit each other: run the same restore "
                "again, then make the backup."
            )
        yield


@contextmanager
def no_backup_beside(instance: Path) -> Iterator[None]:
    """Exclude backups during a restore. Raises BackupError while a backup is being made, or another restore runs."""
    with _locked(instance / LOCK_FILE, fcntl.LOCK_EX, "A backup is being made: restore once it is done."):
        yield


@contextmanager
def one_backup_in(folder: Path) -> Iterator[None]:
    """Exclude other backups into the folder. Raises BackupError while one is being written there."""
    with _locked(folder, fcntl.LOCK_EX, f"Another backup is being written to {folder}: begin once it is done."):
        yield


@contextmanager
def _locked(path: Path, kind: int, refusal: str) -> Iterator[None]:
    descriptor = os.open(path, os.O_RDONLY | (0 if path.is_dir() else os.O_CREAT), 0o600)
    try:
        _take(descriptor, kind, refusal)
        yield
    finally:
        os.close(descriptor)


def _take(descriptor: int, kind: int, refusal: str) -> None:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        raise BackupError(refusal) from None
