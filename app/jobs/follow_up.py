"""Work that follows a change which is committed already."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress

import structlog
from sqlalchemy.exc import OperationalError, SQLAlchemyError

from app.domain.shared.redaction import error_summary
from app.extensions import db
from app.operations.storage import is_busy_or_away, note_storage_fault

log = structlog.get_logger()


@contextmanager
def follow_up(failure: str, **facts: object) -> Iterator[None]:
    """Run the block and raise nothing, since what it follows is committed. An error is logged under the name `failure`
    with the facts: in a line where the database is busy or the storage fails, which is an alert as well, else with its
    traceback."""
    try:
        yield
    except Exception as error:
        with suppress(SQLAlchemyError):
            db.session.rollback()
        is_busy = isinstance(error, OperationalError) and is_busy_or_away(error)
        write = log.warning if is_busy or note_storage_fault(error) else log.exception
        write(failure, error=error_summary(error), **facts)
