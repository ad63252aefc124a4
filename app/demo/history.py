"""The 90 days before the demo shop was made: searches, orders, and since when its synonyms and rules apply.

The files of `past/` count days back from the day on which the shop is made. The people in them are made up: their
addresses are of example.com, their phone numbers of the range that Ofcom keeps for drama.
"""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import date, timedelta
from itertools import cycle
from pathlib import Path
from zoneinfo import ZoneInfo

from sqlalchemy import select

from app.demo.past_orders import Sale, place_orders, read_orders
from app.domain.orders.sales import count_sales
from app.domain.relevance.learning import learn_site
from app.domain.relevance.models import SearchRule, Synonym
from app.domain.relevance.publishing import publish
from app.domain.search_statistics.counting.attribution import weight_at
from app.domain.search_statistics.counting.daily_counts import aggregate_by_site, write_counts
from app.domain.search_statistics.counting.days import today
from app.domain.search_statistics.counting.events import Event, EventBatch, EventKind
from app.domain.shared.clock import Clock
from app.domain.sites.models import Site
from app.extensions import db

PAST = Path(__file__).parent / "past"


def write_history(clock: Clock, site: Site) -> None:
    """Write the history, after the products. Call it within a transaction."""
    site_today, zone = today(clock, site.time_zone), ZoneInfo(site.time_zone)
    sales = tuple(place_orders(site, read_orders(PAST / "orders.jsonl", site_today, zone)))
    rephrased = _rephrased(site.id, site_today)
    searches = tuple(_searches(site.id, site_today))
    events = (*searches, *_opened(searches, sales), *_orders(site.id, sales), *rephrased)
    batch = EventBatch(f"history of site {site.id}", events)
    write_counts(clock, batch.id, aggregate_by_site(batch))
    count_sales(clock, site.id)
    learn_site(clock, site.id)
    _publish(clock, site.id)


def _searches(site_id: int, site_today: date) -> Iterator[Event]:
    """Yield every search of the table, each of another network, and the clicks and baskets that followed from it."""
    with (PAST / "searches.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            day = site_today - timedelta(days=int(row["days_ago"]))
            word = row["search"]
            found, ruled = int(row["found"]) if row["found"] else None, row["ruled"] == "1"
            searched = Event(EventKind.SEARCHED, site_id, word, day, found, True, ruled, of_new_network=True)
            yield from [searched] * int(row["searches"])
            yield from [Event(EventKind.CLICKED, site_id, word, day)] * int(row["clicked"])
            yield from [Event(EventKind.ADDED, site_id, word, day)] * int(row["added_to_basket"])


def _opened(searches: Iterable[Event], sales: Iterable[Sale]) -> Iterator[Event]:
    """Yield an opened product for each click: in turn what was bought from the search on that day, then the first of
    these again; on a day without a purchase, one of the products ever bought from the search, the next for each such
    day. Each click is one at the top of the results."""
    on_day: dict[tuple[str, date], list[int]] = defaultdict(list)
    ever: dict[str, list[int]] = defaultdict(list)
    for sale in sales:
        on_day[sale.search, sale.order.day] += sale.product_ids
        ever[sale.search] += sale.product_ids
    turns = {word: cycle(products) for word, products in ever.items() if products}
    liked: dict[tuple[str, date], int] = {}
    for event in searches:
        if event.kind is EventKind.CLICKED and event.word in turns:
            key = event.word, event.day
            if key not in liked:
                liked[key] = on_day[key][0] if on_day[key] else next(turns[event.word])
            product_id = on_day[key].pop(0) if on_day[key] else liked[key]
            yield replace(event, kind=EventKind.OPENED, product_id=product_id, weight=weight_at(1))


def _rephrased(site_id: int, site_today: date) -> Iterator[Event]:
    """Yield the visits whose first search had no results and whose next one led to a product."""
    with (PAST / "rephrasings.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            day = site_today - timedelta(days=int(row["days_ago"]))
            event = Event(EventKind.REPHRASED, site_id, row["search"], day, next_word=row["next_search"])
            yield from [event] * int(row["visits"])


def _orders(site_id: int, sales: Iterable[Sale]) -> Iterator[Event]:
    for sale in sales:
        order = sale.order
        ordered = Event(EventKind.ORDERED, site_id, sale.search, order.day, revenue=sale.revenue)
        yield ordered
        for product_id in sale.product_ids:
            yield replace(ordered, kind=EventKind.BOUGHT, product_id=product_id, revenue=0)


def _publish(clock: Clock, site_id: int) -> None:
    """Serve the synonyms and rules, as if each had been served for as many days as the file says."""
    days = json.loads((PAST / "live_since.json").read_text(encoding="utf-8"))
    for synonym in db.session.scalars(select(Synonym).where(Synonym.site_id == site_id)):
        _date_back(clock, synonym, days["synonyms"].get(str(synonym.group), 0))
    for rule in db.session.scalars(select(SearchRule).where(SearchRule.site_id == site_id)):
        _date_back(clock, rule, days["rules"].get(rule.term, 0))
    db.session.flush()
    publish(clock, site_id)


def _date_back(clock: Clock, record: Synonym | SearchRule, days: int) -> None:
    record.live_since = record.created_at = record.updated_at = clock.now() - timedelta(days=days)
