"""Weekly counts of visits that rephrased a search: written with the counts of words, read as sums of a period."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from datetime import date, timedelta

from sqlalchemy import func, select

from app.domain.search_statistics.counting.aggregation import WeekPair
from app.domain.search_statistics.counting.models import SearchDay, SearchRephrasing, SearchWordDay
from app.domain.search_statistics.counting.rephrasing import Pair, Rephrased, RephrasedVisits, within_bounds
from app.domain.search_statistics.counting.rolling_sums import first_day, select_sums
from app.domain.shared.counting_memory import WEEK
from app.domain.shared.portions import portions
from app.domain.shared.upserting import upsert
from app.extensions import db

KEY = ("site_id", "week", "word", "next_word")


def add(site_id: int, visits: Mapping[WeekPair, RephrasedVisits]) -> None:
    """Add visits to their weeks, after the clicks of the same events were counted. A pair has no more visits in a week
    than its second search has clicks, so that a journey that is sent again adds nothing."""
    by_week: dict[date, dict[Pair, RephrasedVisits]] = defaultdict(dict)
    for (week, word, next_word), number in visits.items():
        by_week[week][word, next_word] = number
    for week, pairs in sorted(by_week.items()):
        _add(site_id, week, pairs)


def rephrased(site_id: int, today: date, days: int, least_visits: int, most: int) -> list[Rephrased]:
    """Return the pairs of the weeks that began in the last `days` days (7, 30 or 90) with so many visits, those with
    most visits first."""
    table, visits = SearchRephrasing, func.sum(SearchRephrasing.visits)
    first = first_day(today, days)
    query = (
        select(table.word, table.next_word, visits, func.count())
        .where(table.site_id == site_id, table.week.between(first, today))
        .group_by(table.word, table.next_word)
        .having(visits >= least_visits)
        .order_by(visits.desc(), table.word, table.next_word)
    )
    rows = db.session.execute(query.limit(most)).all()
    searches, followed = _sums(site_id, today, days, {word for row in rows for word in row[:2]})
    of_days = SearchDay.site_id == site_id, SearchDay.day.between(first, today)
    everything = db.session.scalar(select(func.sum(SearchDay.searches)).where(*of_days)) or 1
    return [
        Rephrased(word, next_word, int(number), in_weeks, followed[word], searches[next_word] / everything)
        for word, next_word, number, in_weeks in rows
    ]


def _add(site_id: int, week: date, visits: Mapping[Pair, RephrasedVisits]) -> None:
    of_week = SearchRephrasing.site_id == site_id, SearchRephrasing.week == week
    columns = SearchRephrasing.word, SearchRephrasing.next_word, SearchRephrasing.visits
    stored = {(word, next_word): n for word, next_word, n in db.session.execute(select(*columns).where(*of_week))}
    added = within_bounds(visits, stored, _clicks(site_id, week, {next_word for _, next_word in visits}))
    if not added:
        return
    sums = {pair: stored.get(pair, 0) + number for pair, number in added.items()}
    rows = [dict(zip((*KEY, "visits"), (site_id, week, *pair, sum_), strict=True)) for pair, sum_ in sums.items()]
    statement = upsert(SearchRephrasing)
    changed = {"visits": statement.excluded.visits}
    db.session.connection().execute(statement.on_conflict_do_update(index_elements=KEY, set_=changed), rows)


def _clicks(site_id: int, week: date, words: Collection[str]) -> dict[str, int]:
    clicks: dict[str, int] = {}
    of_week = SearchWordDay.site_id == site_id, SearchWordDay.day.between(week, week + timedelta(days=WEEK - 1))
    for some in portions(sorted(words)):
        sums = select(SearchWordDay.word, func.sum(SearchWordDay.clicked)).group_by(SearchWordDay.word)
        rows = db.session.execute(sums.where(*of_week, SearchWordDay.word.in_(some)))
        clicks |= {word: int(clicked) for word, clicked in rows}
    return clicks


def _sums(site_id: int, today: date, days: int, words: Collection[str]) -> tuple[Counter[str], Counter[str]]:
    """Return the searches of words, and those made while clicks were recorded."""
    searches, followed = Counter[str](), Counter[str]()
    sums = select_sums(site_id, today, days)
    for some in portions(sorted(words)):
        query = select(sums.c.word, sums.c.searches, sums.c.followed).where(sums.c.word.in_(some))
        for word, of_word, of_followed in db.session.execute(query):
            searches[word], followed[word] = int(of_word), int(of_followed)
    return searches, followed
