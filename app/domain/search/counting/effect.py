"""Did it help? What searches came to before and after something went live, over equal periods."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime

from sqlalchemy import ColumnElement, and_, case, func, select

from app.domain.search.counting.days import day_at, today
from app.domain.search.counting.equal_periods import DAY, Comparable, EqualPeriods, equal_periods
from app.domain.search.counting.models import SearchDay, SearchWordDay, SearchWordWindow
from app.domain.search.counting.purge import KEEP_WORDS
from app.domain.search.counting.sums import Sums
from app.domain.search.counting.windows import PERIODS, SUMMED, first_day, until_of
from app.domain.shared.clock import Clock
from app.domain.sites.models import Site
from app.extensions import db

AT_ONCE = 900  # Words of a statement.
LONGEST = max(PERIODS)

Searches = Callable[[str], bool] | str  # Which of the counted words, or the one word.


@dataclass(frozen=True, slots=True)
class Asked:
    """What went live at `since`, and the searches that it is about; it ends at `until`."""

    since: datetime
    searches: Searches
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Effect:
    """`before` and `after` are sums over `periods`, of searches that contain the words; empty where `comparable` is
    not YES. `counted_from` is the first day with any counts."""

    comparable: Comparable
    periods: EqualPeriods
    before: Sums = field(default_factory=Sums)
    after: Sums = field(default_factory=Sums)
    counted_from: date | None = None


def effect(site_id: int, clock: Clock, searches: Searches, since: datetime, until: datetime | None = None) -> Effect:
    return effects(site_id, clock, [Asked(since, searches, until)])[0]


def effects(site_id: int, clock: Clock, asked: Sequence[Asked]) -> list[Effect]:
    """One for each, in their order. The words of the days concerned are read once for all."""
    time_zone = db.session.scalar(select(Site.time_zone).where(Site.id == site_id)) or "UTC"
    now = today(clock, time_zone)
    counted_from = db.session.scalar(select(func.min(SearchDay.day)).where(SearchDay.site_id == site_id))
    found = [
        equal_periods(day_at(one.since, time_zone), now, now - KEEP_WORDS + DAY, counted_from, until)
        for one in asked
        for until in [day_at(one.until, time_zone) if one.until is not None else None]
    ]
    to_look_through = [
        periods
        for one, (comparable, periods) in zip(asked, found, strict=True)
        if comparable is Comparable.YES and not isinstance(one.searches, str)
    ]
    words = _words(site_id, to_look_through)
    return [
        _effect(site_id, comparable, periods, _meant(one.searches, words), counted_from)
        for one, (comparable, periods) in zip(asked, found, strict=True)
    ]


def _meant(searches: Searches, words: Iterable[str]) -> Iterable[str]:
    return [searches] if isinstance(searches, str) else filter(searches, words)


def _words(site_id: int, compared: Sequence[EqualPeriods]) -> Sequence[str]:
    if not compared:
        return ()
    first, last = min(periods.before[0] for periods in compared), max(periods.after[1] for periods in compared)
    until = until_of(site_id)
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


def _effect(
    site_id: int, comparable: Comparable, periods: EqualPeriods, words: Iterable[str], counted_from: date | None
) -> Effect:
    if comparable is not Comparable.YES:
        return Effect(comparable, periods, counted_from=counted_from)
    before, after = dict.fromkeys(SUMMED, 0), dict.fromkeys(SUMMED, 0)
    for some in _portions(sorted(words)):
        row = db.session.execute(
            select(*_sums(periods.before, "before"), *_sums(periods.after, "after")).where(
                SearchWordDay.site_id == site_id,
                SearchWordDay.word.in_(some),
                SearchWordDay.day.between(periods.before[0], periods.after[1]),
            )
        ).one()
        for name in SUMMED:
            before[name] += int(getattr(row, f"before_{name}") or 0)
            after[name] += int(getattr(row, f"after_{name}") or 0)
    return Effect(comparable, periods, Sums(**before), Sums(**after), counted_from)


def _sums(period: tuple[date, date], label: str) -> Iterator[ColumnElement[int]]:
    within = and_(SearchWordDay.day >= period[0], SearchWordDay.day <= period[1])
    for name in SUMMED:
        yield func.sum(case((within, getattr(SearchWordDay, name)), else_=0)).label(f"{label}_{name}")


def _portions(words: Sequence[str]) -> Iterator[Sequence[str]]:
    yield from (words[start : start + AT_ONCE] for start in range(0, len(words), AT_ONCE))
