"""Searches without results of the last days."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Select, func, select

from app.domain.search_statistics.counting import days, rolling_sums
from app.domain.shared.clock import Clock
from app.domain.sites.sites import time_zone_of
from app.extensions import db

DAYS = 30  # Specification: the found-nothing list of the Search terms page.


@dataclass(frozen=True, slots=True)
class SearchWithoutResults:
    """`times` counts the searches without results; the latest search of the word may have had some."""

    word: str
    times: int
    last_result_count: int | None


def searches_without_results(
    clock: Clock, site_id: int, period: int, most: int
) -> tuple[list[SearchWithoutResults], int]:
    """Return the searches that found nothing most often in a period of days, and how many different ones did."""
    sums = rolling_sums.select_sums(site_id, days.today(clock, time_zone_of(site_id)), period)
    columns = (sums.c.word, sums.c.found_nothing, sums.c.last_result_count)
    query: Select[*tuple[Any, ...]] = select(*columns).where(sums.c.found_nothing > 0, sums.c.word != "")
    ordered = query.order_by(sums.c.found_nothing.desc(), sums.c.word).limit(most)
    found = [SearchWithoutResults(*row) for row in db.session.execute(ordered)]
    if len(found) < most:
        return found, len(found)
    return found, db.session.scalar(query.with_only_columns(func.count())) or 0
