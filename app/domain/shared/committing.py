"""Short transactions for work that outlasts them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from typing import TypeVar

from sqlalchemy.exc import OperationalError

T = TypeVar("T")
Transaction = Callable[[], AbstractContextManager[None]]
TRIES = 6  # Each waits as long as the database does by itself: five seconds on SQLite.


def commit(transaction: Transaction, work: Callable[[], T]) -> T:
    """Do the work in a transaction. While others keep the database busy for longer than it waits, as a big import may,
    the work is done again; in the end raises OperationalError. Not to be called within a transaction."""
    for _ in range(TRIES - 1):
        with suppress(OperationalError), transaction():
            return work()
    with transaction():
        return work()
