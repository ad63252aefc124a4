"""The sums of each word over the last 7, 30 and 90 days, kept up as searches are counted so that a report reads only
the rows it shows.

They hold for the periods that end on one day of the site's time zone, its `until`. On that day, what is counted is
added; once the day is over, the days that left the periods are subtracted and those that came are added.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from sqlalchemy import Select, Subquery, and_, case, delete, exists, func, insert, literal, or_, select, update
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
DAY = timedelta(days=1)
LATEST = ("last_at", "last_result_count")
MOST_MOVED = timedelta(days=7)  # After more, it is quicker to sum everything up anew.
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
    return until_of(site_id) == today


def include(site_id: int, today: date, changes: Iterable[WordChange]) -> None:
    """To be called after the changes were written into the daily counts, in the same transaction."""
    known, until = list(changes), hold(site_id)
    if not _can_move(until, today):
        _sum_anew(site_id, today)
        return
    for days in PERIODS:
        first = first_day(until, days)
        _add(_sums(site_id, days, [change for change in known if first <= change.day <= until]))
    _move(site_id, until, today)


def refresh(site_id: int, today: date) -> None:
    """Makes the windows end today."""
    until = hold(site_id)
    if _can_move(until, today):
        _move(site_id, until, today)
    else:
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
    """What a report selects from: the kept sums; where they are of a day before, without the days that have left the
    period since. Where days have come that were counted, or nothing is kept, the daily counts are summed up, which is
    slow but never wrong."""
    until = until_of(site_id)
    if until is None or not _can_move(until, today) or _has_come(site_id, until, today):
        return summed_days(site_id, today, days).subquery("word_sums")
    kept = SearchWordWindow
    columns = (kept.word, *(getattr(kept, name) for name in SUMMED), kept.last_at, kept.last_result_count)
    if until == today:
        return select(*columns).where(kept.site_id == site_id, kept.days == days).subquery("word_sums")
    left = _summed(site_id, *_left(until, today, days)).subquery()
    rest = {name: getattr(kept, name) - func.coalesce(left.c[name], 0) for name in SUMMED}
    return (
        select(kept.word, *(rest[name].label(name) for name in SUMMED), kept.last_at, kept.last_result_count)
        .outerjoin(left, left.c.word == kept.word)
        .where(kept.site_id == site_id, kept.days == days, or_(*(rest[name] > 0 for name in SUMMED)))
        .subquery("word_sums")
    )


def until_of(site_id: int) -> date | None:
    """The last day of the site's windows."""
    return db.session.scalar(select(SearchWindow.until).where(SearchWindow.site_id == site_id))


def _has_come(site_id: int, until: date, today: date) -> bool:
    come = exists().where(SearchWordDay.site_id == site_id, SearchWordDay.day > until, SearchWordDay.day <= today)
    return bool(db.session.scalar(select(come)))


def hold(site_id: int) -> date:
    """The last day of the site's windows, whose row is locked until the transaction ends: who adds and who sums anew
    take turns."""
    db.session.execute(_insert(SearchWindow).values(site_id=site_id, until=NEVER).on_conflict_do_nothing())
    until = select(SearchWindow.until).where(SearchWindow.site_id == site_id)
    return db.session.execute(until.with_for_update()).scalar_one()


def _can_move(until: date, today: date) -> bool:
    return until <= today <= until + MOST_MOVED


def _left(until: date, today: date, days: int) -> tuple[date, date]:
    """The first and the last of the days that leave a period."""
    return first_day(until, days), min(until, first_day(today, days) - DAY)


def _summed(site_id: int, first: date, last: date) -> Select[Any]:
    """By word, the sums of these days."""
    sums = (func.sum(getattr(SearchWordDay, name)).label(name) for name in SUMMED)
    of_days = (SearchWordDay.site_id == site_id) & SearchWordDay.day.between(first, last)
    return select(SearchWordDay.word, *sums).where(of_days).group_by(SearchWordDay.word)


def _move(site_id: int, until: date, today: date) -> None:
    if until == today:
        return
    for days in PERIODS:
        _subtract(site_id, days, *_left(until, today, days))
    for number in range((today - until).days):
        _add_day(site_id, until + (number + 1) * DAY, today)
    _end_on(site_id, today)


def _subtract(site_id: int, days: int, first: date, last: date) -> None:
    """What came last is of a later day than those that leave, or leaves with its word."""
    kept, left = SearchWordWindow, _summed(site_id, first, last).subquery()
    rest = {name: getattr(kept, name) - left.c[name] for name in SUMMED}
    of_period = (kept.site_id == site_id) & (kept.days == days)
    db.session.execute(update(kept).where(of_period, kept.word == left.c.word).values(rest), execution_options=PLAIN)
    empty = and_(*(getattr(kept, name) == 0 for name in SUMMED))
    db.session.execute(delete(kept).where(of_period, empty), execution_options=PLAIN)


def _add_day(site_id: int, day: date, today: date) -> None:
    """Counts of a day that was in the future for the windows, such as of a site that changed its time zone."""
    columns = (getattr(SearchWordDay, name) for name in ("day", "word", *LATEST, *SUMMED))
    rows = db.session.execute(select(*columns).where(SearchWordDay.site_id == site_id, SearchWordDay.day == day))
    changes = [WordChange(**row) for row in rows.mappings()]
    for days in PERIODS:
        _add(_sums(site_id, days, [change for change in changes if first_day(today, days) <= day]))


def _sum_anew(site_id: int, today: date) -> None:
    db.session.execute(delete(SearchWordWindow).where(SearchWordWindow.site_id == site_id), execution_options=PLAIN)
    names = ["site_id", "days", "word", *SUMMED, "last_at", "last_result_count"]
    for days in PERIODS:
        sums = summed_days(site_id, today, days).subquery()
        rows = select(literal(site_id), literal(days), *sums.c)
        db.session.execute(insert(SearchWordWindow).from_select(names, rows), execution_options=PLAIN)
    _end_on(site_id, today)


def _end_on(site_id: int, today: date) -> None:
    ends = update(SearchWindow).where(SearchWindow.site_id == site_id).values(until=today)
    db.session.execute(ends, execution_options=PLAIN)


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
