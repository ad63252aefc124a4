"""Statistics of searches: recorded events are written into the daily counts, and the rolling sums advance once a site's
day is over."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from functools import partial
from typing import TypeVar

import structlog
from sqlalchemy.exc import InterfaceError, OperationalError

from app.domain.search_statistics.counting import daily_counts, rolling_sums
from app.domain.search_statistics.counting.events import EventBatch
from app.domain.search_statistics.counting.spool import Spool
from app.domain.seo import crawler_hits
from app.domain.seo.redirects.redirect_hits import sums_by_redirect, write_hits
from app.domain.shared.clock import Clock
from app.domain.work.context import read_afresh
from app.jobs.purging import is_clock_trusted
from app.ports import clock, counting, crawler_visits, redirect_hits, suggestions_shown
from app.transaction import transaction

LOOK_EVERY = 5.0  # Seconds.

log = structlog.get_logger()
Background = Callable[[str, Callable[[], object]], bool]
E = TypeVar("E")
C = TypeVar("C")


def has_pending() -> bool:
    """Whether any recorded event is not counted yet."""
    spools = counting(), suggestions_shown(), crawler_visits(), redirect_hits()
    return any(spool.has_pending() for spool in spools)


def drain() -> None:
    """Count everything that is pending. Each batch is counted once even if the process is killed anywhere, since the
    database records which it has. A batch that cannot be counted blocks no others for long."""
    read_afresh()
    _drain_spool(counting(), daily_counts.aggregate_by_site, _write_searches)
    _drain_spool(suggestions_shown(), daily_counts.suggestions_by_day, daily_counts.write_suggestions)
    _drain_spool(crawler_visits(), crawler_hits.sums_by_day, crawler_hits.write_visits)
    _drain_spool(redirect_hits(), sums_by_redirect, write_hits)


def _write_searches(clock: Clock, batch_id: str, by_site: daily_counts.ChangesBySite) -> None:
    daily_counts.write_counts(clock, batch_id, by_site, advances=is_clock_trusted())


def _drain_spool(
    spool: Spool[E], aggregate: Callable[[EventBatch[E]], C], write: Callable[[Clock, str, C], object]
) -> None:
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


def renew_windows(site_id: int, today: date) -> None:
    """Advance the rolling sums of a site to a day. Nothing changes where a search of that day has advanced them
    already."""
    read_afresh()
    with transaction():
        rolling_sums.advance(site_id, today)


@dataclass
class StaleWindows:
    """The watch that makes outdated windows end today, at each look of the scheduler. Until then, and while the clock
    is in doubt, reports sum up what the windows lack."""

    looked_at: float | None = None

    def look(self, in_background: Background) -> None:
        now = clock().monotonic()
        if self.looked_at is not None and now - self.looked_at < LOOK_EVERY:
            return
        self.looked_at = now
        outdated = rolling_sums.outdated_windows(clock())
        if not outdated or not is_clock_trusted():
            return
        for site_id, today in outdated:
            in_background(f"search windows of site {site_id}", partial(renew_windows, site_id, today))
