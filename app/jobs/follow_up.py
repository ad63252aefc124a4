"""Work that follows a change which is committed already."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress

import structlog
from sqlalchemy.exc import SQLAlchemyError

from app.extensions import db
from app.storage_alerts import note_storage_fault

log = structlog.get_logger()


@contextmanager
def follow_up(failure: str, **facts: object) -> Iterator[None]:
    """Run the block and raise nothing, since what it follows is committed. A fault of the storage is noted as an alert;
    any other error is logged under the name `failure`, with the facts."""
    try:
        yield
    except Exception as error:
        with suppress(SQLAlchemyError):
            db.session.rollback()
        if not note_storage_fault(error):
            log.exception(failure, **facts)
