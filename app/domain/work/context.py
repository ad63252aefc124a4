"""The context of work that outlasts a transaction: the time, short transactions of its own, and locks that show whether
its worker lives."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from typing import TypeVar

from sqlalchemy.exc import OperationalError

from app.domain.shared.clock import Clock
from app.domain.work.locks import WorkerLocks
from app.extensions import db

T = TypeVar("T")
Transaction = Callable[[], AbstractContextManager[None]]
TRIES = 6  # Each waits as long as the database does by itself: five seconds on SQLite.


@dataclass(frozen=True, slots=True)
class WorkContext:
    """The context of work that outlasts a transaction. `transaction` commits at its end. A function that takes a
    context must not be called within a transaction."""

    clock: Clock
    transaction: Transaction
    locks: WorkerLocks = field(default_factory=WorkerLocks, kw_only=True)

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
