"""Reports on searches, for the Analytics page and the Overview, among them lists of searches: top, without results,
rarely clicked, and what they lead to."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

from sqlalchemy import ColumnElement, Select, Subquery, func, select

from app.domain.search import settings as search_settings
from app.domain.search_statistics.counting import queries, rolling_sums
from app.domain.search_statistics.counting.aggregation import Sums
from app.domain.search_statistics.counting.daily_counts import suggestions_shown
from app.domain.search_statistics.measures import PAGE_SIZE, SUM_NAMES, ListName, ListRequest, Measure, Period, measures
from app.domain.search_statistics.models import SearchDay, SearchWordDay
from app.domain.shared.clock import Clock
from app.domain.shared.paging import Paged
from app.domain.shared.records import containing
from app.domain.sites.models import Site
from app.extensions import db

OFTEN = 10  # Specification: Searched often, rarely clicked.
RARELY = 10  # Per cent.
FETCHED_AT_ONCE = 1_000
WEEK = 7
ROWS = 10
GLANCED_ROWS = 5


@dataclass(frozen=True, slots=True)
class WordRow:
    """A row of a list of searches. `finds` is the number of results of the latest search, None where a page answered
    it; `last_day` is the day of that search; `trend` are the searches of each day, empty in an export."""

    word: str
    sums: Sums
    finds: int | None
    last_day: date
    trend: tuple[int, ...] = ()


def first_rows(site_id: int, period: Period, names: Collection[ListName], most: int) -> dict[ListName, list[WordRow]]:
    """Return the first rows of several lists, without trends."""
    sums = rolling_sums.select_sums(site_id, period.today, period.days)
    queries = {name: _rows(sums, ListRequest.read(name, {})).limit(most) for name in names}
    return {name: [_row(row) for row in db.session.execute(query)] for name, query in queries.items()}


def page_of(site_id: int, period: Period, listing: ListRequest) -> Paged[WordRow]:
    sums = rolling_sums.select_sums(site_id, period.today, period.days)
    found = db.session.execute(_rows(sums, listing).limit(PAGE_SIZE).offset((listing.page - 1) * PAGE_SIZE))
    rows = with_trends(site_id, period, {listing.name: [_row(row) for row in found]})[listing.name]
    total = db.session.scalar(select(func.count()).select_from(sums).where(*_conditions(sums, listing)))
    return Paged(rows, listing.page, PAGE_SIZE, total or 0)


def every_row(site_id: int, period: Period, listing: ListRequest) -> Iterator[WordRow]:
    """Yield all rows of a list, fetched in parts: of 90 busy days they are megabytes."""
    query = _rows(rolling_sums.select_sums(site_id, period.today, period.days), listing)
    found = db.session.execute(query, execution_options={"yield_per": FETCHED_AT_ONCE})
    yield from map(_row, found)


def with_trends(
    site_id: int, period: Period, lists: Mapping[ListName, Sequence[WordRow]]
) -> dict[ListName, list[WordRow]]:
    """Return the lists with the trend of each row: of searches without results, or of all. One query."""
    series = _series(site_id, period, {row.word for rows in lists.values() for row in rows})
    return {
        name: [replace(row, trend=tuple(series[row.word][name is ListName.NOTHING])) for row in rows]
        for name, rows in lists.items()
    }


def _series(site_id: int, period: Period, words: Collection[str]) -> dict[str, tuple[list[int], list[int]]]:
    """Return, by word, the searches of each day and those without results."""
    days = SearchWordDay
    query = select(days.word, days.day, days.searches, days.found_nothing).where(
        days.site_id == site_id, days.word.in_(words), days.day.between(period.first, period.today)
    )
    series: dict[str, tuple[list[int], list[int]]] = {word: ([0] * period.days, [0] * period.days) for word in words}
    for word, day, searches, found_nothing in db.session.execute(query) if words else ():
        place = (day - period.first).days
        series[word][0][place], series[word][1][place] = searches, found_nothing
    return series


def _rows(sums: Subquery, listing: ListRequest) -> Select[tuple[object, ...]]:
    """Select the fields of WordRow."""
    column = sums.c
    named = (column[name] for name in SUM_NAMES)
    query = select(column.word, *named, column.last_result_count, column.last_day).where(*_conditions(sums, listing))
    return query.order_by(column[listing.order].desc(), column.word)


def _conditions(sums: Subquery, listing: ListRequest) -> list[ColumnElement[bool]]:
    """Conditions of the list. The empty word stands for all words beyond a day's limit and is no search."""
    column = sums.c
    conditions: list[ColumnElement[bool]] = [column.word != ""]
    if listing.words:
        conditions.append(containing(column.word, listing.words))
    if listing.name is ListName.NOTHING:
        conditions.append(column.found_nothing > 0)
    if listing.name is ListName.RARELY:
        # To the letter of the specification: also where clicks were recorded for few of the searches.
        is_often, finds = column.searches >= OFTEN, column.last_result_count > 0
        conditions += [is_often, finds, column.clicked * 100 < column.followed * RARELY]
    return conditions


def _row(row: Sequence[object]) -> WordRow:
    word, *counts, finds, last_day = row
    return WordRow(word, Sums(*counts), finds, last_day)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class TrackingStatus:
    """Whether a site counts searches, and clicks; `since` is the first day counted, None before any."""

    searches: bool
    clicks: bool
    since: date | None
    currency: str

    def shows(self, name: ListName) -> bool:
        """Whether a list is shown: one about clicks only while they are recorded."""
        return self.clicks or not name.needs_clicks


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
    names = [name for name in ListName if tracking.shows(name)]
    rows = first_rows(site_id, over, names, ROWS)
    by_day = sums_by_day(site_id, over.before.first, over.today)
    return AnalyticsReport(
        period=over,
        tracking=tracking,
        measures=measures(by_day, over, compares=compares, clicks=tracking.clicks, currency=tracking.currency),
        lists=with_trends(site_id, over, rows),
        suggestions=suggestions_shown(site_id, over.first, over.today),
    )


def glance(clock: Clock, site_id: int) -> Glance:
    week, tracking = period(clock, site_id, WEEK), tracking_status(site_id)
    if not tracking.searches:
        return Glance(tracking, Sums(), ())
    lists = first_rows(site_id, week, (ListName.TOP,), GLANCED_ROWS)
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
