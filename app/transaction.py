"""The one place that commits."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from app.domain.alerts.unwritten import write_unwritten
from app.events import PENDING, dispatch
from app.extensions import db

WRITING = "writing"


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
