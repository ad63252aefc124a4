"""Weekly counts: which products were opened and bought from a search, from which search learns what to show first, and
how many visits rephrased a search.

A row names a product by its id, a search by its words and a week, and no shopper; none is written for fewer visits or
orders than FEWEST_VISITS. Products are counted only for a site that learns. A product counts at most as often in a week
as its search was made and followed, so that sending an old journey again adds nothing.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta

from sqlalchemy import delete, func, select, tuple_

from app.domain.orders.sales import customers_of
from app.domain.search_statistics.counting.aggregation import (
    PRODUCT_COUNTS,
    Key,
    Pair,
    ProductChange,
    Rephrased,
    RephrasedVisits,
    WeekPair,
    pairs_within_bounds,
)
from app.domain.search_statistics.counting.gathering import FEWEST_VISITS
from app.domain.search_statistics.counting.rolling_sums import first_day, select_sums
from app.domain.search_statistics.models import SearchDay, SearchProductWeek, SearchRephrasing, SearchWordDay
from app.domain.shared.memory import WEEK
from app.domain.shared.paging import batched
from app.domain.shared.records import upsert
from app.extensions import db

STORED = ("week", "word", "product_id", *PRODUCT_COUNTS)
MOST_PRODUCTS = 20_000  # Pairs of a search and a product kept of a site's week.
REPHRASED_KEY = ("site_id", "week", "word", "next_word")


def write_products(site_id: int, changes: Sequence[ProductChange]) -> None:
    """Add changes, after those of the words were written in the same transaction, whose lock of the site's windows lets
    writers take turns. Searches that were not kept, and pairs beyond MOST_PRODUCTS of a week, are left out."""
    words: dict[date, set[str]] = defaultdict(set)
    for change in changes:
        words[change.week].add(change.word)
    followed = {week: _sum_week(site_id, week, of_week, "followed") for week, of_week in sorted(words.items())}
    stored = _read_stored(site_id, [change.key for change in changes])
    room = _room_of_weeks(site_id, words.keys())
    rows = []
    for change in changes:
        is_new = change.key not in stored
        known = stored.get(change.key) or ProductChange(*change.key)
        after = _change_opens(known, change, followed[change.week].get(change.word, 0))
        after = replace(after, bought=_count_purchases(site_id, known, change, after.opens))
        if after.opens >= FEWEST_VISITS and after != known and (not is_new or room[change.week] > 0):
            room[change.week] -= is_new
            rows.append({"site_id": site_id} | {name: getattr(after, name) for name in STORED})
    if rows:
        statement = upsert(SearchProductWeek)
        counts = {name: statement.excluded[name] for name in PRODUCT_COUNTS}
        key = ["site_id", "week", "word", "product_id"]
        db.session.connection().execute(statement.on_conflict_do_update(index_elements=key, set_=counts), rows)


def _change_opens(known: ProductChange, change: ProductChange, followed: int) -> ProductChange:
    """Return the opens after a change, capped at the followed searches of the week. Where the week has had more of them
    than are stored, since a batch was lost or capped, they are added now."""
    wanted, weight = known.opens + change.opens, known.weight + change.weight
    if change.all_opens > wanted:
        wanted, weight = change.all_opens, change.all_weight
    opens = min(wanted, max(followed, known.opens))
    return replace(known, opens=opens, weight=max(known.weight, round(weight * opens / wanted) if wanted else 0))


def _count_purchases(site_id: int, known: ProductChange, change: ProductChange, opens: int) -> int:
    """Return the purchases after a change, capped at the opens: in steps of FEWEST_VISITS, so that no single order
    shows between two looks, and only where as many other customers again bought the product in the week, so that nobody
    is named as one who bought it from the search."""
    wanted = min(max(known.bought + change.bought, change.all_bought), opens)
    steps = wanted - wanted % FEWEST_VISITS
    if steps <= known.bought:
        return known.bought
    last = change.week + timedelta(days=WEEK - 1)
    return steps if customers_of(site_id, change.product_id, change.week, last) >= 2 * steps else known.bought


def _read_stored(site_id: int, keys: Sequence[Key]) -> Mapping[Key, ProductChange]:
    """Return the stored counts of weeks, searches and products."""
    model = SearchProductWeek
    columns = [getattr(model, name) for name in STORED]
    key = tuple_(model.week, model.word, model.product_id)
    found = (
        ProductChange(*row)
        for some in batched(keys, 250)
        for row in db.session.execute(select(*columns).where(model.site_id == site_id, key.in_(some)))
    )
    return {change.key: change for change in found}


def _room_of_weeks(site_id: int, weeks: Iterable[date]) -> dict[date, int]:
    """Return how many more pairs each week may keep."""
    room: dict[date, int] = defaultdict(lambda: MOST_PRODUCTS)
    kept = select(SearchProductWeek.week, func.count()).where(
        SearchProductWeek.site_id == site_id, SearchProductWeek.week.in_(list(weeks))
    )
    for week, number in db.session.execute(kept.group_by(SearchProductWeek.week)):
        room[week] -= number
    return room


def forget_product(site_id: int, product_id: int) -> None:
    """Drop the counts of a product that is gone, since SQLite may give its number to another."""
    of_product = (SearchProductWeek.site_id == site_id) & (SearchProductWeek.product_id == product_id)
    db.session.execute(delete(SearchProductWeek).where(of_product))


def forget_site(site_id: int) -> None:
    """Drop all counts of a site's products, which are there only while it learns from clicks."""
    db.session.execute(delete(SearchProductWeek).where(SearchProductWeek.site_id == site_id))


def product_weeks(site_id: int, words: Sequence[str], first: date) -> Iterator[ProductChange]:
    """Yield the weekly counts of the products opened from the given searches, from a Monday on, grouped by search."""
    model = SearchProductWeek
    columns = [getattr(model, name) for name in STORED]
    for some in batched(words):
        query = select(*columns).where(model.site_id == site_id, model.word.in_(some), model.week >= first)
        for row in db.session.execute(query.order_by(model.word)):
            yield ProductChange(*row)


def write_rephrased(site_id: int, visits: Mapping[WeekPair, RephrasedVisits]) -> None:
    """Add visits to their weeks, after the clicks of the same events were counted. A pair has no more visits in a week
    than its second search has clicks, so that a journey that is sent again adds nothing."""
    by_week: dict[date, dict[Pair, RephrasedVisits]] = defaultdict(dict)
    for (week, word, next_word), number in visits.items():
        by_week[week][word, next_word] = number
    for week, pairs in sorted(by_week.items()):
        _write_week(site_id, week, pairs)


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
    searches, followed = _sum_period(site_id, today, days, {word for row in rows for word in row[:2]})
    of_days = SearchDay.site_id == site_id, SearchDay.day.between(first, today)
    everything = db.session.scalar(select(func.sum(SearchDay.searches)).where(*of_days)) or 1
    return [
        Rephrased(word, next_word, int(number), in_weeks, followed[word], searches[next_word] / everything)
        for word, next_word, number, in_weeks in rows
    ]


def _write_week(site_id: int, week: date, visits: Mapping[Pair, RephrasedVisits]) -> None:
    of_week = SearchRephrasing.site_id == site_id, SearchRephrasing.week == week
    columns = SearchRephrasing.word, SearchRephrasing.next_word, SearchRephrasing.visits
    stored = {(word, next_word): n for word, next_word, n in db.session.execute(select(*columns).where(*of_week))}
    clicks = _sum_week(site_id, week, {next_word for _, next_word in visits}, "clicked")
    added = pairs_within_bounds(visits, stored, clicks)
    if not added:
        return
    sums = {pair: stored.get(pair, 0) + number for pair, number in added.items()}
    rows = [
        dict(zip((*REPHRASED_KEY, "visits"), (site_id, week, *pair, sum_), strict=True)) for pair, sum_ in sums.items()
    ]
    statement = upsert(SearchRephrasing)
    changed = {"visits": statement.excluded.visits}
    db.session.connection().execute(statement.on_conflict_do_update(index_elements=REPHRASED_KEY, set_=changed), rows)


def _sum_week(site_id: int, week: date, words: Collection[str], column: str) -> dict[str, int]:
    """Return the sums of one of the daily counts of words, over the week that begins on a Monday."""
    sums = select(SearchWordDay.word, func.sum(getattr(SearchWordDay, column))).group_by(SearchWordDay.word)
    of_week = SearchWordDay.site_id == site_id, SearchWordDay.day.between(week, week + timedelta(days=WEEK - 1))
    found: dict[str, int] = {}
    for some in batched(sorted(words)):
        rows = db.session.execute(sums.where(*of_week, SearchWordDay.word.in_(some)))
        found |= {word: int(number) for word, number in rows}
    return found


def _sum_period(site_id: int, today: date, days: int, words: Collection[str]) -> tuple[Counter[str], Counter[str]]:
    """Return the searches of words, and those made while clicks were recorded."""
    searches, followed = Counter[str](), Counter[str]()
    sums = select_sums(site_id, today, days)
    for some in batched(sorted(words)):
        query = select(sums.c.word, sums.c.searches, sums.c.followed).where(sums.c.word.in_(some))
        for word, of_word, of_followed in db.session.execute(query):
            searches[word], followed[word] = int(of_word), int(of_followed)
    return searches, followed
