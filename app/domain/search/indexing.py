"""What indexing works with: the engine, the time, and short transactions of its own."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from typing import TypeVar

from sqlalchemy.exc import OperationalError

from app.domain.search.engine import SearchEngine
from app.domain.shared.clock import Clock
from app.extensions import db

T = TypeVar("T")
TRIES = 6  # Each waits as long as the database does by itself: five seconds on SQLite.


@dataclass(frozen=True, slots=True)
class Indexing:
    """Indexing outlasts a transaction, so it is handed the means to make them: `transaction` commits at its end.
    None of its functions may be called within one."""

    engine: SearchEngine
    clock: Clock
    transaction: Callable[[], AbstractContextManager[None]]

    def commit(self, work: Callable[[], T]) -> T:
        """Do the work in a transaction. While others keep the database busy for longer than it waits, as a big
        import may, the work is done again; in the end raises OperationalError."""
        for _ in range(TRIES - 1):
            with suppress(OperationalError), self.transaction():
                return work()
        with self.transaction():
            return work()


def read_afresh() -> None:
    """What is read from here on is at least as new as now: an older view of the database is let go."""
    db.session.rollback()
