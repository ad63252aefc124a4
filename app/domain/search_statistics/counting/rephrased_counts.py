"""Daily counts of visits that rephrased a search: written with the counts of words, read as sums of a period."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from datetime import date

from sqlalchemy import func, select

from app.domain.search_statistics.counting.aggregation import DayPair
from app.domain.search_statistics.counting.models import SearchDay, SearchRephrasing, SearchWordDay
from app.domain.search_statistics.counting.rephrasing import Pair, Rephrased, within_bounds
from app.domain.search_statistics.counting.rolling_sums import first_day, select_sums
from app.domain.shared.portions import portions
from app.domain.shared.upserting import upsert
from app.extensions import db

KEY = ("site_id", "day", "word", "next_word")


def add(site_id: int, visits: Mapping[DayPair, int]) -> None:
    """Add visits to their days, after the clicks of the same events were counted. A pair has no more visits on a day
    than its second search has clicks, so that a journey that is sent again adds nothing."""
    by_day: dict[date, dict[Pair, int]] = defaultdict(dict)
    for (day, word, next_word), number in visits.items():
        by_day[day][word, next_word] = number
    for day, pairs in sorted(by_day.items()):
        _add(site_id, day, pairs)


def rephrased(site_id: int, today: date, days: int, least_visits: int, most: int) -> list[Rephrased]:
    """Return the pairs of the last `days` days (7, 30 or 90) with so many visits, those with most visits first."""
    table, visits = SearchRephrasing, func.sum(SearchRephrasing.visits)
    first = first_day(today, days)
    query = (
        select(table.word, table.next_word, visits, func.count())
        .where(table.site_id == site_id, table.day.between(first, today))
        .group_by(table.word, table.next_word)
        .having(visits >= least_visits)
        .order_by(visits.desc(), table.word, table.next_word)
    )
    rows = db.session.execute(query.limit(most)).all()
    searches, followed = _sums(site_id, today, days, {word for row in rows for word in row[:2]})
    of_days = SearchDay.site_id == site_id, SearchDay.day.between(first, today)
    everything = db.session.scalar(select(func.sum(SearchDay.searches)).where(*of_days)) or 1
    return [
        Rephrased(word, next_word, int(number), on_days, followed[word], searches[next_word] / everything)
        for word, next_word, number, on_days in rows
    ]


def _add(site_id: int, day: date, visits: Mapping[Pair, int]) -> None:
    of_day = SearchRephrasing.site_id == site_id, SearchRephrasing.day == day
    columns = SearchRephrasing.word, SearchRephrasing.next_word, SearchRephrasing.visits
    stored = {(word, next_word): n for word, next_word, n in db.session.execute(select(*columns).where(*of_day))}
    added = within_bounds(visits, stored, _clicks(site_id, day, {next_word for _, next_word in visits}))
    if not added:
        return
    rows = [dict(zip((*KEY, "visits"), (site_id, day, *pair, number), strict=True)) for pair, number in added.items()]
    statement = upsert(SearchRephrasing)
    sums = {"visits": SearchRephrasing.visits + statement.excluded.visits}
    db.session.connection().execute(statement.on_conflict_do_update(index_elements=KEY, set_=sums), rows)


def _clicks(site_id: int, day: date, words: Collection[str]) -> dict[str, int]:
    clicks: dict[str, int] = {}
    for some in portions(sorted(words)):
        of_day = SearchWordDay.site_id == site_id, SearchWordDay.day == day, SearchWordDay.word.in_(some)
        rows = db.session.execute(select(SearchWordDay.word, SearchWordDay.clicked).where(*of_day))
        clicks |= {word: clicked for word, clicked in rows}
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
