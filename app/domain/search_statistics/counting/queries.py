"""Single figures and short lists of what was counted; reports are in search_statistics/reports."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Any

from sqlalchemy import Select, func, select

from app.domain.search_statistics.counting import days, rolling_sums
from app.domain.search_statistics.counting.days import today
from app.domain.search_statistics.counting.rolling_sums import first_day, select_sums
from app.domain.search_statistics.models import SearchDay, SearchWordDay
from app.domain.shared.clock import Clock
from app.domain.shared.records import containing
from app.domain.sites.sites import time_zone_of
from app.extensions import db

NO_RESULTS_DAYS = 30  # Specification: the found-nothing list of the Search terms page.


def site_today(clock: Clock, site_id: int) -> date:
    """Return the site's day by its time zone."""
    return today(clock, time_zone_of(site_id))


def searches_today(site_id: int, clock: Clock) -> int:
    """Return how many searches were counted today, by the site's time zone."""
    counted = select(SearchDay.searches).where(
        SearchDay.site_id == site_id, SearchDay.day == site_today(clock, site_id)
    )
    return db.session.scalar(counted) or 0


def top_words(site_id: int, today: date, days: int, most: int) -> list[tuple[str, int]]:
    """Return the words searched most in the last `days` days (7, 30 or 90) and how often, most first."""
    sums = select_sums(site_id, today, days)
    searched = select(sums.c.word, sums.c.searches).where(sums.c.word != "", sums.c.searches > 0)
    rows = db.session.execute(searched.order_by(sums.c.searches.desc(), sums.c.word).limit(most))
    return [(word, searches) for word, searches in rows]


def applied_counts(site_id: int, today: date, days: int) -> dict[str, int]:
    """Return, by word (a rule's normalised term), the searches of the last `days` days to which a rule applied."""
    counted = (
        select(SearchWordDay.word, func.sum(SearchWordDay.ruled))
        .where(
            SearchWordDay.site_id == site_id,
            SearchWordDay.day.between(first_day(today, days), today),
            SearchWordDay.ruled > 0,
        )
        .group_by(SearchWordDay.word)
    )
    return {word: int(times) for word, times in db.session.execute(counted) if word}


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
    query = _without_results(clock, site_id, period)
    found = _most_often(query, most)
    if len(found) < most:
        return found, len(found)
    return found, db.session.scalar(query.with_only_columns(func.count())) or 0


def find_searches_without_results(
    clock: Clock, site_id: int, period: int, most: int, words: str
) -> list[SearchWithoutResults]:
    """Return the searches with the words that found nothing most often in a period of days."""
    query = _without_results(clock, site_id, period)
    return _most_often(query.where(containing(query.selected_columns.word, words.casefold())), most)


def _without_results(clock: Clock, site_id: int, period: int) -> Select[*tuple[Any, ...]]:
    """Select the fields of SearchWithoutResults."""
    sums = rolling_sums.select_sums(site_id, days.today(clock, time_zone_of(site_id)), period)
    columns = (sums.c.word, sums.c.found_nothing, sums.c.last_result_count)
    return select(*columns).where(sums.c.found_nothing > 0, sums.c.word != "")


def _most_often(query: Select[*tuple[Any, ...]], most: int) -> list[SearchWithoutResults]:
    column = query.selected_columns
    ordered = query.order_by(column.found_nothing.desc(), column.word).limit(most)
    return [SearchWithoutResults(*row) for row in db.session.execute(ordered)]
