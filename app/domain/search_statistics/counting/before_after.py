"""Compare what searches came to before and after a change went live, over equal periods."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime

from sqlalchemy import ColumnElement, and_, case, func, select

from app.domain.search_statistics.counting.days import PERIODS, day_at, today
from app.domain.search_statistics.counting.equal_periods import DAY, Comparable, EqualPeriods, equal_periods
from app.domain.search_statistics.counting.models import SearchDay, SearchWordDay, SearchWordWindow
from app.domain.search_statistics.counting.purge import KEEP_WORDS
from app.domain.search_statistics.counting.rolling_sums import first_day, window_end
from app.domain.search_statistics.counting.sums import SUMMED, Sums
from app.domain.shared.clock import Clock
from app.domain.shared.portions import portions
from app.domain.sites.sites import time_zone_of
from app.extensions import db

LONGEST = max(PERIODS)
MOST_WORDS = 900  # In one statement.

Searches = Callable[[str], bool] | str  # A predicate over counted words, or the one word.


@dataclass(frozen=True, slots=True)
class LiveChange:
    """A change that went live at `since` and ends at `until`, and the searches that it concerns."""

    since: datetime
    searches: Searches
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class BeforeAfter:
    """`before` and `after` are sums over `periods` of the searches concerned; empty where `comparable` is not YES.
    `counted_from` is the first day with any counts."""

    comparable: Comparable
    periods: EqualPeriods
    before: Sums = field(default_factory=Sums)
    after: Sums = field(default_factory=Sums)
    counted_from: date | None = None


def compare(site_id: int, clock: Clock, changes: Sequence[LiveChange]) -> list[BeforeAfter]:
    """Return one comparison for each change, in their order. The words of the days concerned are read once for all."""
    time_zone = time_zone_of(site_id)
    now = today(clock, time_zone)
    counted_from = db.session.scalar(select(func.min(SearchDay.day)).where(SearchDay.site_id == site_id))
    found = []
    for change in changes:
        until = day_at(change.until, time_zone) if change.until is not None else None
        since = day_at(change.since, time_zone)
        found.append(equal_periods(since, now, now - KEEP_WORDS + DAY, counted_from, until))
    words = _words_counted(
        site_id,
        [
            periods
            for change, (comparable, periods) in zip(changes, found, strict=True)
            if comparable is Comparable.YES and not isinstance(change.searches, str)
        ],
    )
    compared = []
    for change, (comparable, periods) in zip(changes, found, strict=True):
        searches = change.searches
        concerned = [searches] if isinstance(searches, str) else filter(searches, words)
        sums = _sums(site_id, periods, concerned) if comparable is Comparable.YES else (Sums(), Sums())
        compared.append(BeforeAfter(comparable, periods, *sums, counted_from))
    return compared


def _words_counted(site_id: int, compared: Sequence[EqualPeriods]) -> Sequence[str]:
    if not compared:
        return ()
    first, last = min(periods.before[0] for periods in compared), max(periods.after[1] for periods in compared)
    until = window_end(site_id)
    if until is not None and first_day(until, LONGEST) <= first and last <= until:
        # One row for each word, instead of one for each day on which it was searched.
        kept = select(SearchWordWindow.word).where(
            SearchWordWindow.site_id == site_id, SearchWordWindow.days == LONGEST, SearchWordWindow.word != ""
        )
        return db.session.scalars(kept).all()
    counted = select(SearchWordDay.word).where(
        SearchWordDay.site_id == site_id, SearchWordDay.day.between(first, last), SearchWordDay.word != ""
    )
    return db.session.scalars(counted.distinct()).all()


def _sums(site_id: int, periods: EqualPeriods, words: Iterable[str]) -> tuple[Sums, Sums]:
    before, after = dict.fromkeys(SUMMED, 0), dict.fromkeys(SUMMED, 0)
    for some in portions(sorted(words), MOST_WORDS):
        row = db.session.execute(
            select(*_sum_columns(periods.before, "before"), *_sum_columns(periods.after, "after")).where(
                SearchWordDay.site_id == site_id,
                SearchWordDay.word.in_(some),
                SearchWordDay.day.between(periods.before[0], periods.after[1]),
            )
        ).one()
        for name in SUMMED:
            before[name] += int(getattr(row, f"before_{name}") or 0)
            after[name] += int(getattr(row, f"after_{name}") or 0)
    return Sums(**before), Sums(**after)


def _sum_columns(period: tuple[date, date], label: str) -> Iterator[ColumnElement[int]]:
    within = and_(SearchWordDay.day >= period[0], SearchWordDay.day <= period[1])
    for name in SUMMED:
        yield func.sum(case((within, getattr(SearchWordDay, name)), else_=0)).label(f"{label}_{name}")
