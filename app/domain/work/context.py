"""The context of work that outlasts a transaction: the time, short transactions of its own, and locks by which
processes of one machine see whether a worker lives. A lease shows it to any machine, but only when it has run out; a
lock ends with its process, at once: it is a flock on a file, which the kernel frees, and the file that is left shows
that."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from sqlalchemy.exc import OperationalError

from app.domain.shared.clock import Clock
from app.extensions import db

T = TypeVar("T")
Transaction = Callable[[], AbstractContextManager[None]]
LOCAL_HOST = "localhost"
TRIES = 6  # Each waits as long as the database does by itself: five seconds on SQLite.
STALE_SECONDS = 24 * 3600  # Of a lock: by then every caller has found out that the process died.


class WorkerLocks:
    """Locks in a folder that the processes of one machine share. Without a folder there are none: then only the leases
    show whether a worker lives."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder

    @contextmanager
    def hold(self, name: str) -> Iterator[None]:
        """Hold a lock that is the caller's alone, as long as the block runs and the process lives. Where the machine
        does not let it, the block runs without."""
        path = self._folder / name if self._folder else None
        descriptor = _create_locked(path) if path else None
        try:
            yield
        finally:
            if path is not None and descriptor is not None:
                path.unlink(missing_ok=True)  # First, so that nobody takes the end for a death.
                os.close(descriptor)

    def is_dead(self, name: str) -> bool:
        """Whether a process of this machine held the lock and died. False while it lives, and for a lock that this
        machine knows nothing of."""
        if self._folder is None:
            return False
        path = self._folder / name
        return path.exists() and _is_free(path) and path.exists()


def https_address(host: str) -> str:
    return f"https://{host}"


@dataclass(frozen=True, slots=True)
class WorkContext:
    """The context of work that outlasts a transaction. `transaction` commits at its end, `machine` is the id of the
    machine that works, `local_address` where its own name is served. A function that takes a context must not be
    called within a transaction."""

    clock: Clock
    transaction: Transaction
    locks: WorkerLocks = field(default_factory=WorkerLocks, kw_only=True)
    machine: str = field(default="", kw_only=True)
    local_address: str = field(default="", kw_only=True)

    def address_of(self, host: str) -> str:
        """Return the address of a site's host for mails, by https. The machine's own name has the `local_address`,
        where there is one: a shop that runs to be tried has no certificate."""
        return self.local_address if self.local_address and host == LOCAL_HOST else https_address(host)

    def commit(self, work: Callable[[], T]) -> T:
        """Do the work in a transaction and return its result. While others keep the database busy for longer than it
        waits, as a big import may, it is tried again. Raises OperationalError after the last of TRIES."""
        for _ in range(TRIES - 1):
            with suppress(OperationalError), self.transaction():
                return work()
        with self.transaction():
            return work()


def read_afresh() -> None:
    """End the session's transaction by a rollback, so that the next read sees the database as it is now."""
    db.session.rollback()


def _create_locked(path: Path) -> int | None:
    """Create the file of a lock, which gets its name only once it is locked. Return its descriptor, None where the
    folder cannot be written."""
    aside = path.with_name(f"{path.name}.{os.getpid()}")
    with suppress(OSError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        for other in path.parent.iterdir():
            if time.time() - other.stat().st_mtime > STALE_SECONDS and _is_free(other):
                other.unlink(missing_ok=True)
        descriptor = os.open(aside, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        os.replace(aside, path)
        return descriptor
    return None


def _is_free(path: Path) -> bool:
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
