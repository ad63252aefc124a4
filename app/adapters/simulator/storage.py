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


@contextmanager
def reading() -> Iterator[Session]:
    with Session(db.engine, expire_on_commit=False) as session:
        yield session


@contextmanager
def writing() -> Iterator[Session]:
    """Commits at the end. Raises Busy when others write for too long: then nothing was done."""
    with Session(db.engine, expire_on_commit=False) as session, session.begin():
        try:
            session.connection(execution_options={"writing": True})
        except OperationalError as error:
            raise Busy("The payment simulator is busy.") from error
        yield session
