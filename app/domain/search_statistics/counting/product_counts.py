"""Count, for each search and week, which products were opened and bought, from which search learns what to show first.

A row names a product by its id, a search by its words and a week, and no shopper; none is written for fewer visits or
orders than FEWEST_VISITS, or for a site that does not learn. A product counts at most as often in a week as its search
was made and followed, so that sending an old journey again adds nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
from typing import Any

from sqlalchemy import delete, func, select, tuple_

from app.domain.search_statistics.counting.aggregation import DayWord
from app.domain.search_statistics.counting.gathering import FEWEST_VISITS
from app.domain.search_statistics.counting.models import SearchProductWeek, SearchWordDay
from app.domain.search_statistics.counting.product_changes import COLUMNS, Key, ProductChange
from app.domain.shared.counting_memory import WEEK
from app.domain.shared.portions import portions
from app.domain.shared.upserting import upsert
from app.extensions import db

MOST_PRODUCTS = 20_000  # Pairs of a search and a product kept of a site's week.


def write_products(site_id: int, changes: Sequence[ProductChange]) -> None:
    """Add changes, after those of the words were written in the same transaction, whose lock of the site's windows lets
    writers take turns. Searches that were not kept, and pairs beyond MOST_PRODUCTS of a week, are left out."""
    followed = _followed(site_id, {(change.week, change.word) for change in changes})
    stored = _stored(site_id, [change.key for change in changes])
    room = _room(site_id, {change.week for change in changes})
    rows = []
    for change in changes:
        is_new = change.key not in stored
        known = stored.get(change.key) or replace(change, opens=0, weight=0, bought=0)
        after = _after(known, change, followed.get((change.week, change.word), 0))
        if after is not None and (not is_new or room[change.week] > 0):
            room[change.week] -= is_new
            rows.append({"site_id": site_id} | {name: getattr(after, name) for name in ProductChange.__slots__})
    if rows:
        _write(rows)


def _after(known: ProductChange, change: ProductChange, followed: int) -> ProductChange | None:
    """Return the counts after a change, the opens capped at the followed searches of the week and the purchases at the
    opens; None where nothing changes, or too few visits share the opens. Too few purchases are left out."""
    added = max(0, min(change.opens, followed - known.opens))
    opens = known.opens + added
    weight = known.weight + (round(change.weight * added / change.opens) if added else 0)
    bought = min(known.bought + change.bought, max(opens, known.bought))
    after = replace(known, opens=opens, weight=weight, bought=bought if bought >= FEWEST_VISITS else known.bought)
    return after if opens >= FEWEST_VISITS and after != known else None


def _followed(site_id: int, wanted: Iterable[DayWord]) -> dict[DayWord, int]:
    """Return the followed searches of words in whole weeks, by Monday and word."""
    words: dict[date, list[str]] = defaultdict(list)
    for week, word in sorted(wanted):
        words[week].append(word)
    followed = func.sum(SearchWordDay.followed)
    found: dict[DayWord, int] = {}
    for week, of_week in words.items():
        days = SearchWordDay.day.between(week, week + timedelta(days=WEEK - 1))
        of_site = select(SearchWordDay.word, followed).where(SearchWordDay.site_id == site_id, days)
        for some in portions(of_week):
            rows = db.session.execute(of_site.where(SearchWordDay.word.in_(some)).group_by(SearchWordDay.word))
            found |= {(week, word): int(number) for word, number in rows}
    return found


def _stored(site_id: int, keys: Sequence[Key]) -> Mapping[Key, ProductChange]:
    model = SearchProductWeek
    columns = [getattr(model, name) for name in ProductChange.__slots__]
    key = tuple_(model.week, model.word, model.product_id)
    found = (
        ProductChange(*row)
        for some in portions(keys, 250)
        for row in db.session.execute(select(*columns).where(model.site_id == site_id, key.in_(some)))
    )
    return {change.key: change for change in found}


def _room(site_id: int, weeks: Iterable[date]) -> dict[date, int]:
    """Return how many more pairs each week may keep."""
    room: dict[date, int] = defaultdict(lambda: MOST_PRODUCTS)
    kept = select(SearchProductWeek.week, func.count()).where(
        SearchProductWeek.site_id == site_id, SearchProductWeek.week.in_(list(weeks))
    )
    for week, number in db.session.execute(kept.group_by(SearchProductWeek.week)):
        room[week] -= number
    return room


def _write(rows: list[dict[str, Any]]) -> None:
    statement = upsert(SearchProductWeek)
    counts = {name: statement.excluded[name] for name in COLUMNS}
    key = ["site_id", "week", "word", "product_id"]
    db.session.connection().execute(statement.on_conflict_do_update(index_elements=key, set_=counts), rows)


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
    columns = [getattr(model, name) for name in ProductChange.__slots__]
    for some in portions(words):
        query = select(*columns).where(model.site_id == site_id, model.word.in_(some), model.week >= first)
        for row in db.session.execute(query.order_by(model.word)):
            yield ProductChange(*row)
