"""Moves the sums of the last days on once a site's day is over."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import partial

from app.domain.search.counting import windows
from app.domain.search.index.indexing import read_afresh
from app.ports import clock
from app.transaction import transaction

LOOK_EVERY = timedelta(seconds=5)
Background = Callable[[str, Callable[[], object]], bool]


def renew_windows(site_id: int, today: date) -> None:
    """Does nothing where a search of the new day has led to it already."""
    read_afresh()
    with transaction():
        if not windows.fresh(site_id, today):
            windows.refresh(site_id, today)


@dataclass
class StaleWindows:
    """What the scheduler asks at each look. Until it is done, reports reckon with the days that differ."""

    looked_at: datetime | None = None

    def look(self, in_background: Background) -> None:
        now = clock().now()
        if self.looked_at is not None and now - self.looked_at < LOOK_EVERY:
            return
        self.looked_at = now
        for site_id, today in windows.stale_windows(clock()):
            in_background(f"search windows of site {site_id}", partial(renew_windows, site_id, today))
