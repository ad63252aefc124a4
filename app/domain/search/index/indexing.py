"""What indexing works with: the engine, the time, and short transactions of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from app.domain.search.engine import SearchEngine
from app.domain.shared import committing
from app.domain.shared.clock import Clock
from app.domain.shared.committing import Transaction
from app.extensions import db

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Indexing:
    """Indexing outlasts a transaction, so it is handed the means to make them: `transaction` commits at its end.
    None of its functions may be called within one."""

    engine: SearchEngine
    clock: Clock
    transaction: Transaction

    def commit(self, work: Callable[[], T]) -> T:
        """Do the work in a transaction, again while the database is busy; in the end raises OperationalError."""
        return committing.commit(self.transaction, work)


def read_afresh() -> None:
    """What is read from here on is at least as new as now: an older view of the database is let go."""
    db.session.rollback()
