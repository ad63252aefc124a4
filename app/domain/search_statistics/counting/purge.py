"""Retention of counts, by the days of each site."""

from __future__ import annotations

from datetime import date, datetime, timedelta

from sqlalchemy import ColumnElement, and_, false, or_, select

from app.domain.retention.purging import Retention
from app.domain.search.ranking.learning import WINDOW
from app.domain.search_statistics.counting import rolling_sums
from app.domain.search_statistics.counting.days import PERIODS, day_at
from app.domain.search_statistics.models import (
    CountedBatch,
    RankingComparison,
    SearchDay,
    SearchProductWeek,
    SearchRephrasing,
    SearchWordDay,
    SuggestionDay,
)
from app.domain.sites.models import Site
from app.extensions import db

Counts = SearchWordDay | SearchDay | SuggestionDay
WeeklyCounts = SearchProductWeek | SearchRephrasing
KEEP_WORDS = timedelta(days=max(PERIODS))  # Today among them (specification: search terms kept 90 days).
# Sums of a day name no words; with them a period can be compared with the one before.
KEEP_TOTALS = timedelta(days=730)
KEEP_PRODUCTS = timedelta(weeks=WINDOW)
KEEP_COMPARISONS = timedelta(days=730)  # Since their end, with their counts.
KEEP_BATCHES = timedelta(days=30)  # A file that was counted and could not be removed is gone by then.


def _days_of_sites(now: datetime) -> list[tuple[int, date]]:
    return [(id, day_at(now, zone)) for id, zone in db.session.execute(select(Site.id, Site.time_zone))]


def _has_left(model: type[Counts], now: datetime, keep: timedelta) -> ColumnElement[bool]:
    of_sites = (and_(model.site_id == id, model.day <= today - keep) for id, today in _days_of_sites(now))
    return or_(false(), *of_sites)


def _week_has_left(model: type[WeeklyCounts], now: datetime, keep: timedelta) -> ColumnElement[bool]:
    """Whether a week began so long ago: nothing of it is kept longer than what is counted by day."""
    of_sites = (and_(model.site_id == id, model.week <= today - keep) for id, today in _days_of_sites(now))
    return or_(false(), *of_sites)


def _advance_windows(now: datetime) -> None:
    """Advance the rolling windows of all sites before old rows are purged, since they subtract the counts of those."""
    for site_id, today in _days_of_sites(now):
        if rolling_sums.window_end(site_id) is not None:
            rolling_sums.advance(site_id, today)


RETENTIONS = (
    Retention(
        "counted batches",
        CountedBatch,
        dated=CountedBatch.at,
        is_old=lambda now: CountedBatch.at < now - KEEP_BATCHES,
    ),
    Retention(
        "daily counts of words",
        SearchWordDay,
        dated=SearchWordDay.day,
        is_old=lambda now: _has_left(SearchWordDay, now, KEEP_WORDS),
        prepare=_advance_windows,
    ),
    Retention(
        "weekly counts of rephrased searches",
        SearchRephrasing,
        dated=SearchRephrasing.week,
        is_old=lambda now: _week_has_left(SearchRephrasing, now, KEEP_WORDS),
    ),
    Retention(
        "weekly counts of products opened",
        SearchProductWeek,
        dated=SearchProductWeek.week,
        is_old=lambda now: _week_has_left(SearchProductWeek, now, KEEP_PRODUCTS),
    ),
    Retention(
        "daily counts of searches",
        SearchDay,
        dated=SearchDay.day,
        is_old=lambda now: _has_left(SearchDay, now, KEEP_TOTALS),
    ),
    Retention(
        "comparisons of rankings",
        RankingComparison,
        dated=RankingComparison.ended_at,
        is_old=lambda now: RankingComparison.ended_at < now - KEEP_COMPARISONS,
    ),
    Retention(
        "daily counts of suggestions",
        SuggestionDay,
        dated=SuggestionDay.day,
        is_old=lambda now: _has_left(SuggestionDay, now, KEEP_TOTALS),
    ),
)
