"""Lists of searches: top, without results, rarely clicked, and what they lead to."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

from sqlalchemy import ColumnElement, Select, Subquery, func, select

from app.domain.search_statistics.counting import rolling_sums
from app.domain.search_statistics.counting.models import SearchWordDay
from app.domain.search_statistics.counting.sums import Sums
from app.domain.search_statistics.reports.measures import SUM_NAMES, Period
from app.domain.search_statistics.reports.parameters import PAGE_SIZE, ListName, ListRequest
from app.domain.shared.containing import containing
from app.domain.shared.paging import Paged
from app.extensions import db

OFTEN = 10  # Specification: Searched often, rarely clicked.
RARELY = 10  # Per cent.
FETCHED_AT_ONCE = 1_000


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
        finds = column.last_result_count > 0
        # A share of a few followed searches says nothing, however many were made while clicks were not recorded.
        often = [column.searches >= OFTEN, column.followed >= OFTEN]
        conditions += [*often, finds, column.clicked * 100 < column.followed * RARELY]
    return conditions


def _row(row: Sequence[object]) -> WordRow:
    word, *counts, finds, last_day = row
    return WordRow(word, Sums(*counts), finds, last_day)  # type: ignore[arg-type]
