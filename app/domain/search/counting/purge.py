"""Removes counts that are kept only for a time."""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy import delete, select

from app.domain.search.counting import windows
from app.domain.search.counting.days import today
from app.domain.search.counting.models import CountedBatch, SearchDay, SearchWordDay
from app.domain.shared.clock import Clock
from app.domain.sites.models import Site
from app.extensions import db

KEEP_WORDS = timedelta(days=90)  # Today among them (specification: search terms kept 90 days).
# Sums of a day name no words; with them a period can be compared with the one before.
KEEP_TOTALS = timedelta(days=730)
KEEP_BATCHES = timedelta(days=30)  # A file that was counted and could not be removed is gone by then.


def purge(clock: Clock) -> int:
    """Words after 90 days, sums of a day after two years, by the days of each site; how many rows went."""
    old = [delete(CountedBatch).where(CountedBatch.at < clock.now() - KEEP_BATCHES)]
    for site_id, time_zone in db.session.execute(select(Site.id, Site.time_zone)).all():
        day = today(clock, time_zone)
        if windows.until_of(site_id) is not None:
            windows.refresh(site_id, day)  # From these rows it knows what to subtract.
        words = delete(SearchWordDay).where(SearchWordDay.site_id == site_id, SearchWordDay.day <= day - KEEP_WORDS)
        totals = delete(SearchDay).where(SearchDay.site_id == site_id, SearchDay.day <= day - KEEP_TOTALS)
        old += [words, totals]
    results = [db.session.execute(statement, execution_options={"synchronize_session": False}) for statement in old]
    return sum(result.rowcount for result in results)  # type: ignore[attr-defined]
