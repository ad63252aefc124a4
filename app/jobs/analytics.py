"""Advance the rolling sums once a site's day is over."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from functools import partial

from app.domain.search_statistics.counting import rolling_sums
from app.domain.work.context import read_afresh
from app.jobs.purging import is_clock_trusted
from app.ports import clock
from app.transaction import transaction

LOOK_EVERY = 5.0  # Seconds.
Background = Callable[[str, Callable[[], object]], bool]


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
