"""The context of work that outlasts a transaction: the time, short transactions of its own, and locks that show whether
it lives."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from typing import TypeVar

from sqlalchemy.exc import OperationalError

from app.domain.shared.clock import Clock
from app.domain.work.locks import NoLocks, WorkerLocks
from app.extensions import db

T = TypeVar("T")
Transaction = Callable[[], AbstractContextManager[None]]
TRIES = 6  # Each waits as long as the database does by itself: five seconds on SQLite.


@dataclass(frozen=True, slots=True)
class WorkContext:
    """The context of work that outlasts a transaction. `transaction` commits at its end. What takes a context must not
    be called within a transaction."""

    clock: Clock
    transaction: Transaction
    locks: WorkerLocks = field(default_factory=NoLocks, kw_only=True)

    def commit(self, work: Callable[[], T]) -> T:
        """Do the work in a transaction. While others keep the database busy for longer than it waits, as a big import
        may, the work is done again; in the end raises OperationalError."""
        for _ in range(TRIES - 1):
            with suppress(OperationalError), self.transaction():
                return work()
        with self.transaction():
            return work()


def read_afresh() -> None:
    """Drop an older view of the database: what is read from here on is at least as new as now."""
    db.session.rollback()
