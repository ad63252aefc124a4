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

from app.domain.orders.sales import customers_of
from app.domain.search_statistics.counting.aggregation import DayWord
from app.domain.search_statistics.counting.gathering import FEWEST_VISITS
from app.domain.search_statistics.counting.models import SearchProductWeek, SearchWordDay
from app.domain.search_statistics.counting.product_changes import COLUMNS, Key, ProductChange
from app.domain.shared.counting_memory import WEEK
from app.domain.shared.portions import portions
from app.domain.shared.upserting import upsert
from app.extensions import db

STORED = ("week", "word", "product_id", *COLUMNS)
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
        known = stored.get(change.key) or ProductChange(*change.key)
        after = _after(known, change, followed.get((change.week, change.word), 0))
        after = replace(after, bought=_bought(site_id, known, change, after.opens))
        if after.opens >= FEWEST_VISITS and after != known and (not is_new or room[change.week] > 0):
            room[change.week] -= is_new
            rows.append({"site_id": site_id} | {name: getattr(after, name) for name in STORED})
    if rows:
        _write(rows)


def _after(known: ProductChange, change: ProductChange, followed: int) -> ProductChange:
    """Return the opens after a change, capped at the followed searches of the week. Where the week has had more of them
    than are stored, since a batch was lost or capped, they are added now."""
    wanted, weight = known.opens + change.opens, known.weight + change.weight
    if change.all_opens > wanted:
        wanted, weight = change.all_opens, change.all_weight
    opens = min(wanted, max(followed, known.opens))
    return replace(known, opens=opens, weight=max(known.weight, round(weight * opens / wanted) if wanted else 0))


def _bought(site_id: int, known: ProductChange, change: ProductChange, opens: int) -> int:
    """Return the purchases after a change, capped at the opens: in steps of FEWEST_VISITS, so that no single order
    shows between two looks, and only where as many other customers again bought the product in the week, so that nobody
    is named as one who bought it from the search."""
    wanted = min(max(known.bought + change.bought, change.all_bought), opens)
    steps = wanted - wanted % FEWEST_VISITS
    if steps <= known.bought:
        return known.bought
    last = change.week + timedelta(days=WEEK - 1)
    return steps if customers_of(site_id, change.product_id, change.week, last) >= 2 * steps else known.bought


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
    columns = [getattr(model, name) for name in STORED]
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
    columns = [getattr(model, name) for name in STORED]
    for some in portions(words):
        query = select(*columns).where(model.site_id == site_id, model.word.in_(some), model.week >= first)
        for row in db.session.execute(query.order_by(model.word)):
            yield ProductChange(*row)
