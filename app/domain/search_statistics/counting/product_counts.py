"""Count, for each search and day, which products were opened and bought, from which search learns what to show first.

A row names a product by its id, a search by its words and a day, and no shopper. A product counts at most as often on a
day as its search was made and followed, so that sending an old journey again adds nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Any

from sqlalchemy import delete, func, select, tuple_

from app.domain.search_statistics.counting.aggregation import DayWord
from app.domain.search_statistics.counting.models import SearchProductDay, SearchWordDay
from app.domain.search_statistics.counting.product_changes import COLUMNS, Key, ProductChange
from app.domain.shared.portions import portions
from app.domain.shared.upserting import upsert
from app.extensions import db

MOST_PRODUCTS = 10_000  # Pairs of a search and a product kept of a site's day: twice as many as searches.


def write_products(site_id: int, changes: Sequence[ProductChange]) -> None:
    """Add changes, after those of the words were written in the same transaction. Searches that were not kept, and
    pairs beyond MOST_PRODUCTS of a day, are left out."""
    followed = _followed(site_id, {(change.day, change.word) for change in changes})
    stored = _stored(site_id, [change.key for change in changes])
    room = _room(site_id, {change.day for change in changes})
    rows = []
    for change in changes:
        is_new = change.key not in stored
        fits = _capped(change, stored.get(change.key), followed.get((change.day, change.word), 0))
        if fits is not None and (not is_new or room[change.day] > 0):
            room[change.day] -= is_new
            rows.append({"site_id": site_id} | {name: getattr(fits, name) for name in ProductChange.__slots__})
    if rows:
        _add(rows)


def _capped(change: ProductChange, before: ProductChange | None, followed: int) -> ProductChange | None:
    """Return a change with opens capped at the followed searches of the day, and purchases at the opens; None where
    nothing is left of it."""
    opened, bought = (before.opens, before.bought) if before else (0, 0)
    opens = max(0, min(change.opens, followed - opened))
    weight = round(change.weight * opens / change.opens) if change.opens else 0
    sales = max(0, min(change.bought, opened + opens - bought))
    fits = replace(change, opens=opens, weight=weight, bought=sales, networks=min(change.networks, opens))
    return fits if opens or sales else None


def _followed(site_id: int, wanted: Iterable[DayWord]) -> dict[DayWord, int]:
    of_site = select(SearchWordDay.day, SearchWordDay.word, SearchWordDay.followed).where(
        SearchWordDay.site_id == site_id
    )
    key = tuple_(SearchWordDay.day, SearchWordDay.word)
    return {
        (day, word): followed
        for some in portions(sorted(wanted))
        for day, word, followed in db.session.execute(of_site.where(key.in_(some)))
    }


def _stored(site_id: int, keys: Sequence[Key]) -> Mapping[Key, ProductChange]:
    model = SearchProductDay
    columns = [getattr(model, name) for name in ProductChange.__slots__]
    key = tuple_(model.day, model.word, model.product_id)
    found = (
        ProductChange(*row)
        for some in portions(keys, 250)
        for row in db.session.execute(select(*columns).where(model.site_id == site_id, key.in_(some)))
    )
    return {change.key: change for change in found}


def _room(site_id: int, days: Iterable[date]) -> dict[date, int]:
    """Return how many more pairs each day may keep."""
    room: dict[date, int] = defaultdict(lambda: MOST_PRODUCTS)
    kept = select(SearchProductDay.day, func.count()).where(
        SearchProductDay.site_id == site_id, SearchProductDay.day.in_(list(days))
    )
    for day, number in db.session.execute(kept.group_by(SearchProductDay.day)):
        room[day] -= number
    return room


def _add(rows: list[dict[str, Any]]) -> None:
    model = SearchProductDay
    statement = upsert(model)
    sums = {name: getattr(model, name) + statement.excluded[name] for name in COLUMNS}
    key = ["site_id", "day", "word", "product_id"]
    db.session.connection().execute(statement.on_conflict_do_update(index_elements=key, set_=sums), rows)


def forget_product(site_id: int, product_id: int) -> None:
    """Drop the counts of a product that is gone, since SQLite may give its number to another."""
    of_product = (SearchProductDay.site_id == site_id) & (SearchProductDay.product_id == product_id)
    db.session.execute(delete(SearchProductDay).where(of_product))


def product_days(site_id: int, words: Sequence[str], first: date, last: date) -> Iterator[ProductChange]:
    """Yield the daily counts of the products opened from the given searches in a period, grouped by search."""
    model = SearchProductDay
    columns = [getattr(model, name) for name in ProductChange.__slots__]
    for some in portions(words):
        query = select(*columns).where(model.site_id == site_id, model.word.in_(some), model.day.between(first, last))
        for row in db.session.execute(query.order_by(model.word)):
            yield ProductChange(*row)
