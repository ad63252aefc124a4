"""The 90 days before the demo shop was made: searches, orders, and since when its synonyms and rules apply.

The files of `past/` count days back from the day on which the shop is made. The people in them are made up: their
addresses are of example.com, their phone numbers of the range that Ofcom keeps for drama."""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from itertools import cycle
from pathlib import Path
from typing import Any
from uuid import uuid4
from zoneinfo import ZoneInfo

from sqlalchemy import select

from app.demo.past_clock import PastClock
from app.domain.delivery.deliveries import delivery_of
from app.domain.delivery.rates import Parcel, price_of
from app.domain.orders.checkout import SHOPPER
from app.domain.orders.lifecycle import THE_SHOP, next_number
from app.domain.orders.models import CANCELLED, COLLECTED, SUBMITTED, Order, OrderLine
from app.domain.orders.offers import Offer, describe_line, offers_by_sku, set_total, subtotal_of
from app.domain.orders.sales import count_sales
from app.domain.relevance.learning import learn_site
from app.domain.relevance.models import SearchRule, Synonym
from app.domain.relevance.publishing import publish
from app.domain.search_statistics.counting.attribution import weight_at
from app.domain.search_statistics.counting.daily_counts import aggregate_by_site, write_counts
from app.domain.search_statistics.counting.days import today
from app.domain.search_statistics.counting.events import Event, EventBatch, EventKind
from app.domain.shared.author import Author
from app.domain.shared.clock import Clock
from app.domain.shared.money import format_money
from app.domain.sites import activity
from app.domain.sites.models import Site
from app.extensions import db

PAST = Path(__file__).parent / "past"
STAFF = "Adam Admin"  # As in the bundle's users.json.
SETTLED = {COLLECTED: ("order.collect", "was collected and paid"), CANCELLED: ("order.cancel", "was cancelled")}


def write_history(clock: Clock, site: Site) -> None:
    """Write the history, after the products. Call it within a transaction."""
    site_today, zone = today(clock, site.time_zone), ZoneInfo(site.time_zone)
    sales = tuple(place_orders(site, read_orders(PAST / "orders.jsonl", site_today, zone)))
    rephrased = _read_rephrased(site.id, site_today)
    searches = tuple(_read_searches(site.id, site_today))
    events = (*searches, *_open_products(searches, sales), *_order_events(site.id, sales), *rephrased)
    batch = EventBatch(f"history of site {site.id}", events)
    write_counts(clock, batch.id, aggregate_by_site(batch))
    count_sales(clock, site.id)
    learn_site(clock, site.id)
    _publish_words(clock, site.id)


def _read_searches(site_id: int, site_today: date) -> Iterator[Event]:
    """Yield every search of the table, each of another network, and the clicks and baskets that followed from it."""
    with (PAST / "searches.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            day = site_today - timedelta(days=int(row["days_ago"]))
            word = row["search"]
            found, ruled = int(row["found"]) if row["found"] else None, row["ruled"] == "1"
            followed = found is not None
            searched = Event(EventKind.SEARCHED, site_id, word, day, found, followed, ruled, of_new_network=True)
            yield from [searched] * int(row["searches"])
            yield from [Event(EventKind.CLICKED, site_id, word, day)] * int(row["clicked"])
            yield from [Event(EventKind.ADDED, site_id, word, day)] * int(row["added_to_basket"])


def _open_products(searches: Iterable[Event], sales: Iterable[Sale]) -> Iterator[Event]:
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


def _read_rephrased(site_id: int, site_today: date) -> Iterator[Event]:
    """Yield the visits whose first search had no results and whose next one led to a product."""
    with (PAST / "rephrasings.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            day = site_today - timedelta(days=int(row["days_ago"]))
            event = Event(EventKind.REPHRASED, site_id, row["search"], day, next_word=row["next_search"])
            yield from [event] * int(row["visits"])


def _order_events(site_id: int, sales: Iterable[Sale]) -> Iterator[Event]:
    for sale in sales:
        order = sale.order
        ordered = Event(EventKind.ORDERED, site_id, sale.search, order.day, revenue=sale.revenue)
        yield ordered
        for product_id in sale.product_ids:
            yield replace(ordered, kind=EventKind.BOUGHT, product_id=product_id, revenue=0)


def _publish_words(clock: Clock, site_id: int) -> None:
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


@dataclass(frozen=True, slots=True)
class PastLine:
    """A line of a past order. `search` led to the product; None where no search did."""

    sku: str
    quantity: int
    search: str | None = None


@dataclass(frozen=True, slots=True)
class PastDelivery:
    """The delivery of a past order by a method of the shop, paid by bank transfer and sent at a time, if it was."""

    method: str
    line1: str
    city: str
    postcode: str
    paid_at: datetime | None
    sent_at: datetime | None


@dataclass(frozen=True, slots=True)
class PastOrder:
    """An order that was placed on `day` at `placed_at`. `settled_at` is when it was collected, delivered or cancelled;
    None while it waits. `delivery` is None for one to be collected."""

    day: date
    placed_at: datetime
    contact: Mapping[str, str]
    note: str
    status: str
    settled_at: datetime | None
    lines: tuple[PastLine, ...]
    delivery: PastDelivery | None = None


@dataclass(frozen=True, slots=True)
class Sale:
    """The lines of one order that a search led to: their `revenue` in minor units, and their products."""

    search: str
    order: PastOrder
    revenue: int
    product_ids: tuple[int, ...] = ()


def read_orders(file: Path, site_today: date, zone: ZoneInfo) -> list[PastOrder]:
    """Return the orders of a file, which is ordered by time, as they were before today."""
    with file.open(encoding="utf-8") as lines:
        return [_parse_order(json.loads(line), site_today, zone) for line in lines]


def place_orders(site: Site, orders: list[PastOrder]) -> Iterator[Sale]:
    """Place the orders, and yield the sales that searches led to. Stock is left alone: the bundle's is what the orders
    left."""
    offers = offers_by_sku(site.id, {line.sku for order in orders for line in order.lines})
    for past in orders:
        order = _store_order(site, past, offers)
        _log_order(order, past)
        led_to: dict[str, list[OrderLine]] = {}
        for line, stored in zip(past.lines, order.lines, strict=True):
            if line.search:
                led_to.setdefault(line.search, []).append(stored)
        for search, lines in led_to.items():
            revenue = sum(line.unit_price * line.quantity for line in lines)
            yield Sale(search, past, revenue, tuple(line.product_id for line in lines if line.product_id))


def _parse_order(fields: Mapping[str, Any], site_today: date, zone: ZoneInfo) -> PastOrder:
    day = site_today - timedelta(days=fields["daysAgo"])
    on_the_wall = datetime.fromisoformat(f"{day}T{fields['time']}").replace(tzinfo=zone)

    def after(days: int | None) -> datetime | None:
        return (on_the_wall + timedelta(days=days)).astimezone(UTC) if days else None

    return PastOrder(
        day=day,
        placed_at=on_the_wall.astimezone(UTC),
        contact={f"contact_{name}": fields[name] for name in ("name", "email", "phone")},
        note=fields["note"],
        status=fields["status"],
        settled_at=after(fields.get("settledAfterDays")),
        lines=tuple(PastLine(**line) for line in fields["lines"]),
        delivery=_parse_delivery(fields["delivery"], after) if "delivery" in fields else None,
    )


def _parse_delivery(fields: Mapping[str, Any], after: Callable[[int | None], datetime | None]) -> PastDelivery:
    return PastDelivery(
        **{name: fields[name] for name in ("method", "line1", "city", "postcode")},
        paid_at=after(fields.get("paidAfterDays")),
        sent_at=after(fields.get("sentAfterDays")),
    )


def _store_order(site: Site, past: PastOrder, offers: Mapping[str, Offer]) -> Order:
    order = Order(
        id=str(uuid4()),
        site_id=site.id,
        number=next_number(site.id),
        status=past.status,
        note=past.note,
        revision=2 if past.status == SUBMITTED else 3,
        created_at=past.placed_at,
        submitted_at=past.placed_at,
        fulfilled_at=past.placed_at,
        settled_at=past.settled_at,
        updated_at=past.settled_at or past.placed_at,
        lines=[_make_line(site.id, position, line, offers[line.sku]) for position, line in enumerate(past.lines)],
        **past.contact,
    )
    order.discount = order.tax = 0
    for line in order.lines:
        line.stock_taken = 0 if past.status == CANCELLED or offers[line.sku].stock is None else line.quantity
    if past.delivery is not None:
        _set_delivery(order, past.delivery)
    set_total(order)
    if past.delivery is not None and past.delivery.paid_at is not None:
        order.paid_at, order.paid_by_transfer = past.delivery.paid_at, True
        order.paid_amount = order.transferred_amount = order.total
    db.session.add(order)
    return order


def _set_delivery(order: Order, past: PastDelivery) -> None:
    """Set the delivery of an order, as the checkout would have, in a parcel of the shop's usual weight."""
    delivery = delivery_of(order.site_id)
    method = delivery.method(past.method)
    if method is None:
        raise ValueError(f"The demo shop delivers by no method “{past.method}”.")
    parcel = Parcel(delivery.default_weight * sum(line.quantity for line in order.lines), subtotal_of(order))
    order.delivery_method, order.delivery_days = method.name, method.days
    order.delivery_payment, order.payment_instructions = method.payment.value, delivery.payment_instructions
    order.delivery_price, order.delivery_weight = price_of(method, parcel) or 0, parcel.weight
    order.delivery_recipient, order.delivery_line1 = order.contact_name, past.line1
    order.delivery_city, order.delivery_postcode, order.delivery_country = past.city, past.postcode, "GB"
    order.ready_at = past.sent_at if order.status == SUBMITTED else None


def _make_line(site_id: int, position: int, line: PastLine, offer: Offer) -> OrderLine:
    product_id, variant_id = offer.key
    stored = OrderLine(
        site_id=site_id, position=position, product_id=product_id, variant_id=variant_id, quantity=line.quantity
    )
    describe_line(stored, offer)
    return stored


def _log_order(order: Order, past: PastOrder) -> None:
    """Write the lines of the activity log that placing and settling the order would have written."""
    number, subject = order.number, ("order", order.id)
    placed = PastClock(past.placed_at)
    activity.record(Author(order.site_id, SHOPPER, placed), "order.submit", subject, f"Order {number} was placed")
    handed = f"Order {number} is {order.handover.waiting}"
    activity.record(Author(order.site_id, THE_SHOP, placed), "order.fulfil", subject, handed)
    if past.delivery is not None:
        _log_delivery(order, past.delivery)
    if past.settled_at is not None:
        action, done = SETTLED[past.status]
        if order.is_delivered and past.status == COLLECTED:
            done = f"was {order.handover.done}"
        author = Author(order.site_id, STAFF, PastClock(past.settled_at))
        states = {"status": SUBMITTED}, {"status": past.status}
        activity.record(author, action, subject, f"Order {number} {done}", *states)


def _log_delivery(order: Order, past: PastDelivery) -> None:
    paid = f"was paid by bank transfer: {format_money(order.total, order.currency)}"
    for at, action, done in ((past.paid_at, "order.pay", paid), (past.sent_at, "order.ready", "is on its way")):
        if at is not None:
            author = Author(order.site_id, STAFF, PastClock(at))
            activity.record(author, action, ("order", order.id), f"Order {order.number} {done}")
