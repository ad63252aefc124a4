"""The sums of each word over the last 7, 30 and 90 days, kept up as searches are counted so that a report reads only
the rows it shows.

They hold for the periods that end on one day of the site's time zone, its `until`. On that day, what is counted is
added; once the day is over they are summed up anew from the daily counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from sqlalchemy import Select, Subquery, case, delete, func, insert, literal, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import aliased

from app.domain.search.counting import days as calendar
from app.domain.search.counting.models import SearchWindow, SearchWordDay, SearchWordWindow
from app.domain.shared.clock import Clock
from app.domain.sites.models import Site
from app.extensions import db

PERIODS = (7, 30, 90)
SUMMED = ("searches", "found_nothing", "followed", "clicked", "added_to_basket", "ordered", "revenue", "ruled")
NEVER = date(1970, 1, 1)
LATEST = ("last_at", "last_result_count")
PLAIN = {"synchronize_session": False}


@dataclass(frozen=True, slots=True)
class WordChange:
    """What was added to a word's counts of one day; `last_at` is when it was last searched, `last_result_count` what
    that search found, None where that is not known. Where only an open or an order was added (no `searches`), what the
    word found last stays as it was."""

    day: date
    word: str
    last_at: datetime
    last_result_count: int | None = None
    searches: int = 0
    found_nothing: int = 0
    followed: int = 0
    clicked: int = 0
    added_to_basket: int = 0
    ordered: int = 0
    revenue: int = 0
    ruled: int = 0


def first_day(today: date, days: int) -> date:
    """Of a period of so many days that ends today."""
    return today - timedelta(days=days - 1)


def fresh(site_id: int, today: date) -> bool:
    return db.session.scalar(select(SearchWindow.until).where(SearchWindow.site_id == site_id)) == today


def include(site_id: int, today: date, changes: Iterable[WordChange]) -> None:
    """To be called after the changes were written into the daily counts, in the same transaction."""
    if hold(site_id) != today:
        _sum_anew(site_id, today)
        return
    known = list(changes)
    for days in PERIODS:
        first = first_day(today, days)
        _add(_sums(site_id, days, [change for change in known if first <= change.day <= today]))


def refresh(site_id: int, today: date) -> None:
    """Sums everything up anew from the daily counts."""
    hold(site_id)
    _sum_anew(site_id, today)


def stale_windows(clock: Clock) -> list[tuple[int, date]]:
    """(site, its today) of every site that has windows which end on another day."""
    ends = select(SearchWindow.site_id, SearchWindow.until, Site.time_zone).join(Site, Site.id == SearchWindow.site_id)
    todays = [(site_id, until, calendar.today(clock, zone)) for site_id, until, zone in db.session.execute(ends)]
    return [(site_id, today) for site_id, until, today in todays if until != today]


def summed_days(site_id: int, today: date, days: int) -> Select[Any]:
    """The sums themselves, from the daily counts: columns as SearchWordWindow has them, but for site and days."""
    inner, latest = aliased(SearchWordDay), aliased(SearchWordDay)
    words = (
        select(
            inner.word,
            *(func.sum(getattr(inner, name)).label(name) for name in SUMMED),
            func.max(inner.last_at).label("last_at"),
            func.max(inner.day).label("last_day"),
        )
        .where(inner.site_id == site_id, inner.day.between(first_day(today, days), today))
        .group_by(inner.word)
        .subquery()
    )
    of_last_day = (latest.site_id == site_id) & (latest.word == words.c.word) & (latest.day == words.c.last_day)
    return select(words.c.word, *(words.c[name] for name in SUMMED), words.c.last_at, latest.last_result_count).join(
        latest, of_last_day
    )


def read(site_id: int, today: date, days: int) -> Subquery:
    """What a report selects from: the kept sums where they are of today, else the daily counts summed up, which is
    slow but never wrong."""
    if not fresh(site_id, today):
        return summed_days(site_id, today, days).subquery("word_sums")
    kept = SearchWordWindow
    columns = (kept.word, *(getattr(kept, name) for name in SUMMED), kept.last_at, kept.last_result_count)
    return select(*columns).where(kept.site_id == site_id, kept.days == days).subquery("word_sums")


def hold(site_id: int) -> date:
    """The last day of the site's windows, whose row is locked until the transaction ends: who adds and who sums anew
    take turns."""
    db.session.execute(_insert(SearchWindow).values(site_id=site_id, until=NEVER).on_conflict_do_nothing())
    until = select(SearchWindow.until).where(SearchWindow.site_id == site_id)
    return db.session.execute(until.with_for_update()).scalar_one()


def _sum_anew(site_id: int, today: date) -> None:
    db.session.execute(delete(SearchWordWindow).where(SearchWordWindow.site_id == site_id), execution_options=PLAIN)
    names = ["site_id", "days", "word", *SUMMED, "last_at", "last_result_count"]
    for days in PERIODS:
        sums = summed_days(site_id, today, days).subquery()
        rows = select(literal(site_id), literal(days), *sums.c)
        db.session.execute(insert(SearchWordWindow).from_select(names, rows), execution_options=PLAIN)
    db.session.execute(
        update(SearchWindow).where(SearchWindow.site_id == site_id).values(until=today), execution_options=PLAIN
    )


def _sums(site_id: int, days: int, changes: Iterable[WordChange]) -> list[dict[str, Any]]:
    """One row for each word, in the order of words: who adds at the same time locks rows in the same order."""
    rows: dict[str, dict[str, Any]] = {}
    for change in sorted(changes, key=lambda change: (change.day, change.last_at)):
        empty = {"site_id": site_id, "days": days, "word": change.word, **dict.fromkeys(SUMMED, 0)}
        row = rows.setdefault(change.word, empty)
        for name in SUMMED:
            row[name] += getattr(change, name)
        if change.searches or "last_at" not in row:
            row |= {"last_at": change.last_at, "last_result_count": change.last_result_count}
    return [rows[word] for word in sorted(rows)]


def _add(rows: Sequence[dict[str, Any]]) -> None:
    """One statement, sent for each row: one with the values of many would take longer to write than to run."""
    if not rows:
        return
    kept, added = SearchWordWindow, _insert(SearchWordWindow)
    later = (added.excluded.searches > 0) & (added.excluded.last_at >= kept.last_at)
    sums = {name: getattr(kept, name) + added.excluded[name] for name in SUMMED}
    latest = {name: case((later, added.excluded[name]), else_=getattr(kept, name)) for name in LATEST}
    statement = added.on_conflict_do_update(index_elements=["site_id", "days", "word"], set_=sums | latest)
    db.session.connection().execute(statement, rows)


def _insert(model: Any) -> Any:
    """Both databases know ON CONFLICT, each in its own dialect."""
    dialect = db.session.get_bind().dialect.name
    return (postgresql if dialect == "postgresql" else sqlite).insert(model)
