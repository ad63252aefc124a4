"""Reports on searches, for the Analytics page and the Overview."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from sqlalchemy import func, select

from app.domain.search import settings as search_settings
from app.domain.search_statistics.counting import queries
from app.domain.search_statistics.counting.models import SearchDay
from app.domain.search_statistics.counting.suggestions import suggestions_shown
from app.domain.search_statistics.counting.sums import Sums
from app.domain.search_statistics.reports import word_lists
from app.domain.search_statistics.reports.measures import SUM_NAMES, Measure, Period, measures
from app.domain.search_statistics.reports.parameters import ListName
from app.domain.search_statistics.reports.word_lists import WordRow
from app.domain.shared.clock import Clock
from app.domain.sites.models import Site
from app.extensions import db

WEEK = 7
ROWS = 10
GLANCED_ROWS = 5


@dataclass(frozen=True, slots=True)
class TrackingStatus:
    """Whether a site counts searches, and clicks; `since` is the first day counted, None before any."""

    searches: bool
    clicks: bool
    since: date | None
    currency: str


@dataclass(frozen=True, slots=True)
class AnalyticsReport:
    """The report of a period. `lists` is without those of clicks while clicks are not recorded. `suggestions` counts
    the lists of suggestions that shoppers were shown as they typed."""

    period: Period
    tracking: TrackingStatus
    measures: tuple[Measure, ...]
    lists: Mapping[ListName, Sequence[WordRow]]
    suggestions: int = 0

    @property
    def is_empty(self) -> bool:
        """Whether nothing was searched for in the period."""
        return self.measures[0].figure == "0"

    @property
    def began_within(self) -> bool:
        """Whether the period reaches back to days before counting began."""
        return self.tracking.since is not None and self.tracking.since > self.period.first


@dataclass(frozen=True, slots=True)
class Glance:
    """Searches of today and of the last seven days, for the Overview."""

    tracking: TrackingStatus
    today: Sums
    top: Sequence[WordRow]


def period(clock: Clock, site_id: int, days: int) -> Period:
    """Return the period that ends today in the site's time zone."""
    return Period(days, queries.site_today(clock, site_id))


def report(clock: Clock, site_id: int, days: int) -> AnalyticsReport:
    over, tracking = period(clock, site_id, days), tracking_status(site_id)
    compares = tracking.since is not None and tracking.since <= over.before.first
    names = [name for name in ListName if tracking.clicks or not name.needs_clicks]
    rows = word_lists.first_rows(site_id, over, names, ROWS)
    by_day = sums_by_day(site_id, over.before.first, over.today)
    return AnalyticsReport(
        period=over,
        tracking=tracking,
        measures=measures(by_day, over, compares=compares, clicks=tracking.clicks, currency=tracking.currency),
        lists=word_lists.with_trends(site_id, over, rows),
        suggestions=suggestions_shown(site_id, over.first, over.today),
    )


def glance(clock: Clock, site_id: int) -> Glance:
    week, tracking = period(clock, site_id, WEEK), tracking_status(site_id)
    if not tracking.searches:
        return Glance(tracking, Sums(), ())
    lists = word_lists.first_rows(site_id, week, (ListName.TOP,), GLANCED_ROWS)
    return Glance(
        tracking=tracking,
        today=sums_by_day(site_id, week.today, week.today).get(week.today, Sums()),
        top=lists[ListName.TOP],
    )


def searches_today(clock: Clock, site_id: int) -> int | None:
    """Return the number of today's searches, None while searches are not counted."""
    if not search_settings.stored_settings(site_id).tracking:
        return None
    return queries.searches_today(site_id, clock)


def tracking_status(site_id: int) -> TrackingStatus:
    settings = search_settings.stored_settings(site_id)
    since = db.session.scalar(select(func.min(SearchDay.day)).where(SearchDay.site_id == site_id))
    currency = db.session.get_one(Site, site_id).currency
    return TrackingStatus(settings.tracking, settings.click_tracking, since, currency)


def sums_by_day(site_id: int, first: date, last: date) -> dict[date, Sums]:
    """Return the sums by day; days without a search are missing."""
    names = (getattr(SearchDay, name) for name in SUM_NAMES)
    rows = select(SearchDay.day, *names).where(SearchDay.site_id == site_id, SearchDay.day.between(first, last))
    return {day: Sums(*counts) for day, *counts in db.session.execute(rows)}


def every_day(site_id: int, over: Period) -> Iterator[tuple[date, Sums]]:
    """Yield the sums of every day of the period, oldest first."""
    by_day = sums_by_day(site_id, over.first, over.today)
    yield from ((day, by_day.get(day, Sums())) for day in over.dates)
