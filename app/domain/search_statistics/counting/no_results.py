"""Searches without results of the last 30 days."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select

from app.domain.search_statistics.counting import days, rolling_sums
from app.domain.shared.clock import Clock
from app.domain.sites.sites import time_zone_of
from app.extensions import db

DAYS = 30  # Specification: the found-nothing list of the Search terms page.
MOST = 50


@dataclass(frozen=True, slots=True)
class SearchWithoutResults:
    """`times` counts the searches without results; the latest search of the word may have had some by now."""

    word: str
    times: int
    last_result_count: int | None
    last_at: datetime

    @property
    def finds_now(self) -> int:
        return self.last_result_count or 0


def searches_without_results(clock: Clock, site_id: int, most: int = MOST) -> list[SearchWithoutResults]:
    """Return the searches that found nothing most often."""
    sums = rolling_sums.select_sums(site_id, days.today(clock, time_zone_of(site_id)), DAYS)
    query = select(sums.c.word, sums.c.found_nothing, sums.c.last_result_count, sums.c.last_at)
    query = query.where(sums.c.found_nothing > 0, sums.c.word != "")
    ordered = query.order_by(sums.c.found_nothing.desc(), sums.c.word).limit(most)
    return [SearchWithoutResults(*row) for row in db.session.execute(ordered)]
