"""Write recorded events into the daily counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import structlog
from sqlalchemy.exc import InterfaceError, OperationalError

from app.domain.search_statistics.counting import daily_counts
from app.domain.search_statistics.counting import daily_counts as searches
from app.domain.search_statistics.counting.events import EventBatch
from app.domain.search_statistics.counting.spool import Spool
from app.domain.seo import crawler_hits as crawlers
from app.domain.shared.clock import Clock
from app.domain.work.context import read_afresh
from app.jobs.purging import is_clock_trusted
from app.ports import clock, counting, crawler_visits, suggestions_shown
from app.transaction import transaction

log = structlog.get_logger()
E = TypeVar("E")
C = TypeVar("C")


def has_pending() -> bool:
    """Whether any recorded event is not counted yet."""
    return any(spool.has_pending() for spool in (counting(), suggestions_shown(), crawler_visits()))


def drain() -> None:
    """Count everything that is pending. Each batch is counted once even if the process is killed anywhere, since the
    database records which it has. A batch that cannot be counted blocks no others for long."""
    read_afresh()
    _drain(counting(), searches.aggregate_by_site, _write_searches)
    _drain(suggestions_shown(), daily_counts.suggestions_by_day, daily_counts.write_suggestions)
    _drain(crawler_visits(), crawlers.sums_by_day, crawlers.write_visits)


def _write_searches(clock: Clock, batch_id: str, by_site: searches.ChangesBySite) -> None:
    searches.write_counts(clock, batch_id, by_site, advances=is_clock_trusted())


def _drain(spool: Spool[E], aggregate: Callable[[EventBatch[E]], C], write: Callable[[Clock, str, C], object]) -> None:
    with spool.batches() as waiting:
        for batch in waiting:
            try:
                changes = aggregate(batch)  # Before the transaction, which locks out all writers on SQLite.
                with transaction():
                    write(clock(), batch.id, changes)
            except (OperationalError, InterfaceError):
                raise  # The database is away or busy, which is no fault of the batch.
            except Exception:
                log.exception("batch_not_counted", batch=batch.id)
                spool.failed(batch.id)
            else:
                spool.done(batch.id)
