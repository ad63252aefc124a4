"""Brings what was noted about searches into the daily counts."""

from __future__ import annotations

import structlog
from sqlalchemy.exc import InterfaceError, OperationalError

from app.domain.search.counting.spool import Batch
from app.domain.search.counting.writing import count_tallied, tallied
from app.domain.search.index.indexing import read_afresh
from app.ports import clock, counting
from app.transaction import transaction

log = structlog.get_logger()


def drain() -> None:
    """Everything that waits. Killed anywhere, it counts each batch once: the database remembers which it has. A batch
    that cannot be counted holds up no others for long."""
    read_afresh()
    with counting().batches() as waiting:
        for batch in waiting:
            try:
                _count(batch)
            except (OperationalError, InterfaceError):
                raise  # The database is away or busy, which is no fault of the batch.
            except Exception:
                log.exception("batch_not_counted", batch=batch.id)
                counting().failed(batch.id)
            else:
                counting().done(batch.id)


def _count(batch: Batch) -> None:
    """Everything that needs no database is done before the transaction, in which nobody else can write on SQLite."""
    sums = tallied(batch)
    with transaction():
        count_tallied(clock(), batch.id, sums)
