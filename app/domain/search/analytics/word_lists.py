"""The lists of searches: the most common, what finds nothing, what is rarely clicked, what searches lead to."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import ColumnElement, Select, Subquery, func, select

from app.domain.search.analytics.asked import PAGE_SIZE, Asked, ListName
from app.domain.search.analytics.chart import sparkline
from app.domain.search.analytics.measures import SUM_NAMES, Period
from app.domain.search.counting import windows
from app.domain.search.counting.models import SearchWordDay
from app.domain.search.counting.sums import Sums
from app.domain.shared.containing import containing
from app.domain.shared.paging import Paged
from app.extensions import db

OFTEN = 10  # Specification: Searched often, rarely clicked.
RARELY = 10  # Per cent.
FETCHED_AT_ONCE = 1_000


@dataclass(frozen=True, slots=True)
class WordRow:
    """`finds` is how many results the latest search found, None where it was sent elsewhere; `trend` are the points
    of a sparkline, empty in an export."""

    word: str
    sums: Sums
    finds: int | None
    last_at: datetime
    trend: str = ""


def first_rows(site_id: int, period: Period, name: ListName, most: int) -> list[WordRow]:
    """The beginning of a list, without sparklines."""
    return beginnings(site_id, period, [name], most)[name]


def beginnings(site_id: int, period: Period, names: Collection[ListName], most: int) -> dict[ListName, list[WordRow]]:
    """Of several lists, in their order."""
    sums = windows.read(site_id, period.today, period.days)
    queries = {name: _rows(sums, Asked.read(name, {})).limit(most) for name in names}
    return {name: [_row(row) for row in db.session.execute(query)] for name, query in queries.items()}


def page_of(site_id: int, period: Period, asked: Asked) -> Paged[WordRow]:
    sums = windows.read(site_id, period.today, period.days)
    found = db.session.execute(_rows(sums, asked).limit(PAGE_SIZE).offset((asked.page - 1) * PAGE_SIZE))
    rows = with_trends(site_id, period, {asked.name: [_row(row) for row in found]})[asked.name]
    total = db.session.scalar(select(func.count()).select_from(sums).where(*_belongs(sums, asked)))
    return Paged(rows, asked.page, PAGE_SIZE, total or 0)


def every_row(site_id: int, period: Period, asked: Asked) -> Iterator[WordRow]:
    """The whole list, piece by piece: of 90 busy days it is megabytes."""
    query = _rows(windows.read(site_id, period.today, period.days), asked)
    found = db.session.execute(query, execution_options={"yield_per": FETCHED_AT_ONCE})
    yield from map(_row, found)


def with_trends(
    site_id: int, period: Period, lists: Mapping[ListName, Sequence[WordRow]]
) -> dict[ListName, list[WordRow]]:
    """The lists with a sparkline in each row: of the searches that found nothing, or of all. One query."""
    series = _series(site_id, period, {row.word for rows in lists.values() for row in rows})
    return {
        name: [replace(row, trend=sparkline(series[row.word][name is ListName.NOTHING])) for row in rows]
        for name, rows in lists.items()
    }


def _series(site_id: int, period: Period, words: Collection[str]) -> dict[str, tuple[list[int], list[int]]]:
    """By word: the searches of each day, and those that found nothing."""
    days = SearchWordDay
    query = select(days.word, days.day, days.searches, days.found_nothing).where(
        days.site_id == site_id, days.word.in_(words), days.day.between(period.first, period.today)
    )
    series: dict[str, tuple[list[int], list[int]]] = {word: ([0] * period.days, [0] * period.days) for word in words}
    for word, day, searches, found_nothing in db.session.execute(query) if words else ():
        place = (day - period.first).days
        series[word][0][place], series[word][1][place] = searches, found_nothing
    return series


def _rows(sums: Subquery, asked: Asked) -> Select[tuple[object, ...]]:
    """The fields of WordRow."""
    column = sums.c
    named = (column[name] for name in SUM_NAMES)
    query = select(column.word, *named, column.last_result_count, column.last_at).where(*_belongs(sums, asked))
    return query.order_by(column[asked.order].desc(), column.word)


def _belongs(sums: Subquery, asked: Asked) -> list[ColumnElement[bool]]:
    """The empty word stands for what came after a day was full and is nobody's search."""
    column = sums.c
    conditions: list[ColumnElement[bool]] = [column.word != ""]
    if asked.words:
        conditions.append(containing(column.word, asked.words))
    if asked.name is ListName.NOTHING:
        conditions.append(column.found_nothing > 0)
    if asked.name is ListName.RARELY:
        finds = column.last_result_count > 0
        # A share of a few followed searches says nothing, however many were made while clicks were not recorded.
        often = [column.searches >= OFTEN, column.followed >= OFTEN]
        conditions += [*often, finds, column.clicked * 100 < column.followed * RARELY]
    return conditions


def _row(row: Sequence[object]) -> WordRow:
    word, *counts, finds, last_at = row
    return WordRow(word, Sums(*counts), finds, last_at)  # type: ignore[arg-type]
