"""Write recorded events into the daily counts."""

from __future__ import annotations

import structlog
from sqlalchemy.exc import InterfaceError, OperationalError

from app.domain.search_statistics.counting.daily_counts import aggregate_by_site, write_counts
from app.domain.work.context import read_afresh
from app.ports import clock, counting
from app.transaction import transaction

log = structlog.get_logger()


def drain() -> None:
    """Count everything that is pending. Each batch is counted once even if the process is killed anywhere, since the
    database records which it has. A batch that cannot be counted blocks no others for long."""
    read_afresh()
    with counting().batches() as waiting:
        for batch in waiting:
            try:
                changes = aggregate_by_site(batch)  # Before the transaction, which locks out all writers on SQLite.
                with transaction():
                    write_counts(clock(), batch.id, changes)
            except (OperationalError, InterfaceError):
                raise  # The database is away or busy, which is no fault of the batch.
            except Exception:
                log.exception("batch_not_counted", batch=batch.id)
                counting().failed(batch.id)
            else:
                counting().done(batch.id)
