"""The one place that commits."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress

from app.domain.alerts.alerts import write_unwritten
from app.events import PENDING, dispatch
from app.extensions import db

WRITING = "writing"


class _Rehearsed(BaseException):
    """The exception that ends a rehearsal."""


@contextmanager
def rehearsal() -> Iterator[None]:
    """Run the block as a transaction, with the checks of the database, and roll it back; nothing is published. Raises
    RuntimeError within a transaction, which could not be rolled back in part."""
    if db.session().info.get(WRITING):
        raise RuntimeError("A rehearsal within a transaction would take that back, too.")
    with suppress(_Rehearsed), transaction():
        yield
        db.session.flush()
        raise _Rehearsed


@contextmanager
def transaction() -> Iterator[None]:
    """Commit once at the end, then dispatch the published events; roll back on any exception.

    A read transaction that came before is ended first: on SQLite a read transaction cannot become a writing one
    while others write, so a writing transaction starts as one (BEGIN IMMEDIATE). Within another
    transaction this joins it.
    """
    session = db.session()
    if session.info.get(WRITING):
        yield
        return
    if session.new or session.dirty or session.deleted:
        raise RuntimeError("Records were changed outside a transaction.")
    session.rollback()
    session.info[WRITING] = True
    session.info[PENDING] = []
    try:
        session.connection(execution_options={WRITING: True})
        yield
        session.commit()
    except BaseException:
        session.info[PENDING] = []
        session.rollback()
        raise
    finally:
        session.info[WRITING] = False
    dispatch(session.info.pop(PENDING))
    write_unwritten(transaction)
