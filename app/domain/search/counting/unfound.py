"""What shoppers searched for and did not find, over the last 30 days."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select

from app.domain.search.counting import days, windows
from app.domain.shared.clock import Clock
from app.domain.sites.time_zone import time_zone_of
from app.extensions import db

DAYS = 30  # Specification: the found-nothing list of the Search terms page.
MOST = 50


@dataclass(frozen=True, slots=True)
class Unfound:
    """A search that found nothing `times`; `last_result_count` is what the latest one found, which may be something by
    now."""

    word: str
    times: int
    last_result_count: int | None
    last_at: datetime

    @property
    def finds_now(self) -> int:
        return self.last_result_count or 0


def unfound(clock: Clock, site_id: int, most: int = MOST) -> list[Unfound]:
    """The searches that found nothing most often."""
    sums = windows.read(site_id, days.today(clock, time_zone_of(site_id)), DAYS)
    query = select(sums.c.word, sums.c.found_nothing, sums.c.last_result_count, sums.c.last_at)
    query = query.where(sums.c.found_nothing > 0, sums.c.word != "")
    ordered = query.order_by(sums.c.found_nothing.desc(), sums.c.word).limit(most)
    return [Unfound(*row) for row in db.session.execute(ordered)]
