"""The context of work that outlasts a transaction: the time, short transactions of its own, and locks by which
processes of one machine see whether a worker lives. A lease shows it to any machine, but only when it has run out; a
lock of the operating system ends with its process, at once."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from sqlalchemy.exc import OperationalError

from app.domain.shared.clock import Clock
from app.extensions import db

T = TypeVar("T")
Transaction = Callable[[], AbstractContextManager[None]]
TRIES = 6  # Each waits as long as the database does by itself: five seconds on SQLite.


class WorkerLocks(Protocol):
    def hold(self, name: str) -> AbstractContextManager[None]:
        """Hold a lock that is the caller's alone, as long as the block runs and the process lives. Where the machine
        does not let it, the block runs without."""
        ...

    def is_dead(self, name: str) -> bool:
        """Whether a process of this machine held the lock and died. False while it lives, and for a lock that this
        machine knows nothing of."""
        ...


class NoLocks:
    """No locks: only the leases show whether a worker lives."""

    def hold(self, name: str) -> AbstractContextManager[None]:
        return nullcontext()

    def is_dead(self, name: str) -> bool:
        return False


@dataclass(frozen=True, slots=True)
class WorkContext:
    """The context of work that outlasts a transaction. `transaction` commits at its end. A function that takes a
    context must not be called within a transaction."""

    clock: Clock
    transaction: Transaction
    locks: WorkerLocks = field(default_factory=NoLocks, kw_only=True)

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
