"""What the Analytics page and the Overview tell about what shoppers search for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from sqlalchemy import func, select

from app.domain.search import search_settings
from app.domain.search.analytics import word_lists
from app.domain.search.analytics.asked import ListName
from app.domain.search.analytics.measures import SUM_NAMES, Measure, Period, measures
from app.domain.search.analytics.word_lists import WordRow
from app.domain.search.counting import queries
from app.domain.search.counting.models import SearchDay
from app.domain.search.counting.sums import Sums
from app.domain.shared.clock import Clock
from app.domain.sites.models import Site
from app.extensions import db

WEEK = 7
ROWS = 10
GLANCED_ROWS = 5


@dataclass(frozen=True, slots=True)
class Counted:
    """What of a site's searches is counted; `since` is the first day that was, None before any."""

    tracking: bool
    clicks: bool
    since: date | None
    currency: str


@dataclass(frozen=True, slots=True)
class Report:
    """`lists` leaves out those of clicks while clicks are not recorded."""

    period: Period
    counted: Counted
    measures: tuple[Measure, ...]
    lists: Mapping[ListName, Sequence[WordRow]]

    @property
    def is_empty(self) -> bool:
        """Nothing was searched for in the period."""
        return self.measures[0].figure == "0"

    @property
    def began_within(self) -> bool:
        """The period reaches back to days when nothing was counted yet."""
        return self.counted.since is not None and self.counted.since > self.period.first


@dataclass(frozen=True, slots=True)
class Glance:
    """Of today and of the last seven days, for the Overview."""

    counted: Counted
    today: Sums
    top: Sequence[WordRow]
    nothing: Sequence[WordRow]


def period(clock: Clock, site_id: int, days: int) -> Period:
    """That ends today where the site is."""
    return Period(days, queries.site_today(clock, site_id))


def report(clock: Clock, site_id: int, days: int) -> Report:
    over, counted = period(clock, site_id, days), counted_of(site_id)
    compares = counted.since is not None and counted.since <= over.before.first
    names = [name for name in ListName if counted.clicks or not name.needs_clicks]
    rows = word_lists.beginnings(site_id, over, names, ROWS)
    by_day = sums_by_day(site_id, over.before.first, over.today)
    return Report(
        period=over,
        counted=counted,
        measures=measures(by_day, over, compares=compares, clicks=counted.clicks, currency=counted.currency),
        lists=word_lists.with_trends(site_id, over, rows),
    )


def glance(clock: Clock, site_id: int) -> Glance:
    week, counted = period(clock, site_id, WEEK), counted_of(site_id)
    if not counted.tracking:
        return Glance(counted, Sums(), (), ())
    lists = word_lists.beginnings(site_id, week, (ListName.TOP, ListName.NOTHING), GLANCED_ROWS)
    return Glance(
        counted=counted,
        today=sums_by_day(site_id, week.today, week.today).get(week.today, Sums()),
        top=lists[ListName.TOP],
        nothing=lists[ListName.NOTHING],
    )


def searches_today(clock: Clock, site_id: int) -> int | None:
    """None while searches are not counted."""
    if not search_settings.stored_settings(site_id).tracking:
        return None
    return queries.searches_today(site_id, clock)


def counted_of(site_id: int) -> Counted:
    settings = search_settings.stored_settings(site_id)
    since = db.session.scalar(select(func.min(SearchDay.day)).where(SearchDay.site_id == site_id))
    currency = db.session.get_one(Site, site_id).currency
    return Counted(settings.tracking, settings.click_tracking, since, currency)


def sums_by_day(site_id: int, first: date, last: date) -> dict[date, Sums]:
    """Days without a search are left out."""
    names = (getattr(SearchDay, name) for name in SUM_NAMES)
    rows = select(SearchDay.day, *names).where(SearchDay.site_id == site_id, SearchDay.day.between(first, last))
    return {day: Sums(*counts) for day, *counts in db.session.execute(rows)}


def every_day(site_id: int, over: Period) -> Iterator[tuple[date, Sums]]:
    """The oldest first."""
    by_day = sums_by_day(site_id, over.first, over.today)
    yield from ((day, by_day.get(day, Sums())) for day in over.dates)
