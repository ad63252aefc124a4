"""The simulator's own transactions: it stands for another system, so what it did stays done when its caller rolls back.

The shop never holds a transaction over a call of a processor; on SQLite, which has one writer, it would wait here for
itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from app.domain.pos.processor import Busy
from app.extensions import db

TRIES = 6  # Each waits as long as the database does by itself.


@contextmanager
def reading() -> Iterator[Session]:
    with Session(db.engine, expire_on_commit=False) as session:
        yield session


@contextmanager
def writing() -> Iterator[Session]:
    """Open a transaction that commits at its end. Raises Busy when others write for too long: then nothing was done."""
    with Session(db.engine, expire_on_commit=False) as session:
        _begin_writing(session)
        yield session
        session.commit()


def _begin_writing(session: Session) -> None:
    """Begin a transaction that may write, in several tries: SQLite serves writers in no order, so that one of many may
    wait in vain for its five seconds. Raises Busy."""
    for last in (*(False,) * (TRIES - 1), True):
        try:
            session.connection(execution_options={"writing": True})
            return
        except OperationalError as error:
            session.rollback()
            if last:
                raise Busy("The payment simulator is busy.") from error
