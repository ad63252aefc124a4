"""Rolling sums: the counts of each word over the last 7, 30 and 90 days, materialised so that a report reads only the
rows it shows.

The windows end on one day of the site's time zone, `until`. Counts of that day are added as they are written; when the
day is over, the windows advance: the days that left are subtracted and those that came are added.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from typing import Any

from sqlalchemy import Select, Subquery, and_, case, delete, exists, func, insert, inspect, literal, or_, select, update
from sqlalchemy.orm import aliased

from app.domain.search_statistics.counting import days as calendar
from app.domain.search_statistics.counting.aggregation import SUMMED, WordChange
from app.domain.search_statistics.counting.days import PERIODS
from app.domain.search_statistics.models import CountColumns, SearchWindow, SearchWordDay, SearchWordWindow
from app.domain.shared.clock import Clock
from app.domain.shared.records import upsert
from app.domain.sites.models import Site
from app.extensions import db

NEVER = date(1970, 1, 1)
DAY = timedelta(days=1)
MOST_ADVANCED = timedelta(days=7)  # Beyond this, summing everything anew is quicker.
UNSYNCHRONIZED = {"synchronize_session": False}


def add_counts(model: type[CountColumns], rows: Sequence[dict[str, Any]], also: Sequence[str] = ()) -> None:
    """Add the rows' SUMMED columns, and those of `also`, by primary key. Only a search replaces `last_result_count`,
    and `last_day` with it where the rows have one: batches are counted in the order in which they were recorded."""
    if not rows:
        return
    statement = upsert(model)  # type: ignore[arg-type]
    coming = statement.excluded
    changed: dict[str, Any] = {name: getattr(model, name) + coming[name] for name in (*SUMMED, *also)}
    later = coming.searches > 0
    if hasattr(model, "last_day"):
        later &= coming.last_day >= model.last_day
    latest = [name for name in ("last_day", "last_result_count") if hasattr(model, name)]
    changed |= {name: case((later, coming[name]), else_=getattr(model, name)) for name in latest}
    key = [column.name for column in inspect(model).primary_key]
    # One statement, sent for each row: one with the values of many would take longer to write than to run.
    db.session.connection().execute(statement.on_conflict_do_update(index_elements=key, set_=changed), list(rows))


def first_day(today: date, days: int) -> date:
    """First day of a period of so many days that ends today."""
    return today - timedelta(days=days - 1)


def window_end(site_id: int) -> date | None:
    return db.session.scalar(select(SearchWindow.until).where(SearchWindow.site_id == site_id))


def lock_window(site_id: int) -> date:
    """Lock the site's windows until the transaction ends and return their last day, so that writers take turns."""
    db.session.execute(upsert(SearchWindow).values(site_id=site_id, until=NEVER).on_conflict_do_nothing())
    until = select(SearchWindow.until).where(SearchWindow.site_id == site_id)
    return db.session.execute(until.with_for_update()).scalar_one()


def add(site_id: int, today: date, changes: Sequence[WordChange]) -> None:
    """Add changes to the windows, after they were written into the daily counts in the same transaction."""
    until = lock_window(site_id)
    if _can_advance(until, today):
        for days in PERIODS:
            first = first_day(until, days)
            _add_rows(site_id, days, [change for change in changes if first <= change.day <= until])
    _advance(site_id, until, today)


def advance(site_id: int, today: date) -> None:
    """Make the windows end today."""
    _advance(site_id, lock_window(site_id), today)


def _advance(site_id: int, until: date, today: date) -> None:
    if not _can_advance(until, today):
        _sum_anew(site_id, today)
    elif until != today:
        for days in PERIODS:
            _subtract(site_id, days, *_days_that_leave(until, today, days))
        for number in range((today - until).days):
            _add_day(site_id, until + (number + 1) * DAY, today)
        _set_end(site_id, today)


def outdated_windows(clock: Clock) -> list[tuple[int, date]]:
    """Return (site id, its today) of every site whose windows end on another day."""
    ends = select(SearchWindow.site_id, SearchWindow.until, Site.time_zone).join(Site, Site.id == SearchWindow.site_id)
    todays = [(site_id, until, calendar.today(clock, zone)) for site_id, until, zone in db.session.execute(ends)]
    return [(site_id, today) for site_id, until, today in todays if until != today]


def sum_days(site_id: int, today: date, days: int) -> Select[Any]:
    """Sum up the daily counts: columns as SearchWordWindow has them, without site and days."""
    inner, latest = aliased(SearchWordDay), aliased(SearchWordDay)
    words = (
        select(
            inner.word,
            *(func.sum(getattr(inner, name)).label(name) for name in SUMMED),
            func.max(inner.day).label("last_day"),
        )
        .where(inner.site_id == site_id, inner.day.between(first_day(today, days), today))
        .group_by(inner.word)
        .subquery()
    )
    of_last_day = (latest.site_id == site_id) & (latest.word == words.c.word) & (latest.day == words.c.last_day)
    return select(words.c.word, *(words.c[name] for name in SUMMED), words.c.last_day, latest.last_result_count).join(
        latest, of_last_day
    )


def select_sums(site_id: int, today: date, days: int) -> Subquery:
    """Return what a report selects from: the stored sums, less the days that have left since the windows' end. Where
    counted days have come since, or nothing is stored, sums up the daily counts, which is slow but never wrong."""
    until = window_end(site_id)
    if until is None or not _can_advance(until, today) or _has_counts(site_id, until + DAY, today):
        return sum_days(site_id, today, days).subquery("word_sums")
    stored = SearchWordWindow
    columns = (stored.word, *(getattr(stored, name) for name in SUMMED), stored.last_day, stored.last_result_count)
    if until == today:
        return select(*columns).where(stored.site_id == site_id, stored.days == days).subquery("word_sums")
    left = _sums_of(site_id, *_days_that_leave(until, today, days)).subquery()
    rest = {name: getattr(stored, name) - func.coalesce(left.c[name], 0) for name in SUMMED}
    return (
        select(stored.word, *(rest[name].label(name) for name in SUMMED), stored.last_day, stored.last_result_count)
        .outerjoin(left, left.c.word == stored.word)
        .where(stored.site_id == site_id, stored.days == days, or_(*(rest[name] > 0 for name in SUMMED)))
        .subquery("word_sums")
    )


def _has_counts(site_id: int, first: date, last: date) -> bool:
    counted = exists().where(SearchWordDay.site_id == site_id, SearchWordDay.day.between(first, last))
    return bool(db.session.scalar(select(counted)))


def _can_advance(until: date, today: date) -> bool:
    return until <= today <= until + MOST_ADVANCED


def _days_that_leave(until: date, today: date, days: int) -> tuple[date, date]:
    """First and last of the days that leave a window."""
    return first_day(until, days), min(until, first_day(today, days) - DAY)


def _sums_of(site_id: int, first: date, last: date) -> Select[Any]:
    sums = (func.sum(getattr(SearchWordDay, name)).label(name) for name in SUMMED)
    of_days = (SearchWordDay.site_id == site_id) & SearchWordDay.day.between(first, last)
    return select(SearchWordDay.word, *sums).where(of_days).group_by(SearchWordDay.word)


def _subtract(site_id: int, days: int, first: date, last: date) -> None:
    """Subtract the sums of the days that leave a window. The latest search needs no change: it is of a later day than
    those that leave, or leaves with its word."""
    stored, left = SearchWordWindow, _sums_of(site_id, first, last).subquery()
    rest = {name: getattr(stored, name) - left.c[name] for name in SUMMED}
    window = (stored.site_id == site_id) & (stored.days == days)
    subtract = update(stored).where(window, stored.word == left.c.word).values(rest)
    remove_empty = delete(stored).where(window, and_(*(getattr(stored, name) == 0 for name in SUMMED)))
    for statement in (subtract, remove_empty):
        db.session.execute(statement, execution_options=UNSYNCHRONIZED)


def _add_day(site_id: int, day: date, today: date) -> None:
    """Add a day's counts that lay in the windows' future, such as those of a site that changed its time zone."""
    columns = (getattr(SearchWordDay, name) for name in ("day", "word", "last_result_count", *SUMMED))
    rows = db.session.execute(select(*columns).where(SearchWordDay.site_id == site_id, SearchWordDay.day == day))
    changes = [WordChange(**row) for row in rows.mappings()]
    for days in PERIODS:
        if first_day(today, days) <= day:
            _add_rows(site_id, days, changes)


def _sum_anew(site_id: int, today: date) -> None:
    remove = delete(SearchWordWindow).where(SearchWordWindow.site_id == site_id)
    db.session.execute(remove, execution_options=UNSYNCHRONIZED)
    names = ["site_id", "days", "word", *SUMMED, "last_day", "last_result_count"]
    for days in PERIODS:
        rows = select(literal(site_id), literal(days), *sum_days(site_id, today, days).subquery().c)
        db.session.execute(insert(SearchWordWindow).from_select(names, rows), execution_options=UNSYNCHRONIZED)
    _set_end(site_id, today)


def _set_end(site_id: int, today: date) -> None:
    ends = update(SearchWindow).where(SearchWindow.site_id == site_id).values(until=today)
    db.session.execute(ends, execution_options=UNSYNCHRONIZED)


def _add_rows(site_id: int, days: int, changes: Iterable[WordChange]) -> None:
    """Add one row for each word, in the order of words, so that concurrent writers lock rows in the same order."""
    rows: dict[str, dict[str, Any]] = {}
    for change in sorted(changes, key=lambda change: change.day):
        empty = {"site_id": site_id, "days": days, "word": change.word, **dict.fromkeys(SUMMED, 0)}
        row = rows.setdefault(change.word, empty)
        for name in SUMMED:
            row[name] += getattr(change, name)
        if change.searches or "last_day" not in row:
            row |= {"last_day": change.day, "last_result_count": change.last_result_count}
    add_counts(SearchWordWindow, [rows[word] for word in sorted(rows)])
